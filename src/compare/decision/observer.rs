//! What a decision takes, counted while a network plays it.

use std::ops::ControlFlow;
use zooquake_history::operation::consensus::Announcement;
use zooquake_network::observer::{Observer, Transmission};
use zooquake_workloads::consensus::protocol::{Input, InputOf, Node, Protocol};

/// What made a node take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepCause {
    /// The message of this number.
    Message(u32),
    /// A timer that ran out at this moment.
    Timer(u32),
    /// The start of its process, or a request of its application.
    Outset,
}

/// A message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedMessage {
    /// When it was sent, in microseconds.
    pub at: u32,
    /// Its kind as the papers name it.
    pub kind: &'static str,
    /// The node that it is for.
    pub to: Node,
}

/// What a learner has learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LearnedValue {
    /// When, in microseconds.
    pub at: u32,
    pub value: u32,
    /// The round or ballot whose votes chose it.
    pub round: u32,
    /// When the timer ran out from which an unbroken chain of messages led to it; `None` if no timer had to.
    pub since_timer: Option<u32>,
}

/// Follows a run until every learner has learned a value and nothing is on its way.
#[derive(Debug)]
pub struct DecisionObserver {
    learners: usize,
    /// The cause of the step under way.
    cause: StepCause,
    /// By message the cause of the step in which it was sent.
    causes: Vec<StepCause>,
    /// The messages in the order in which they were sent.
    pub messages: Vec<CountedMessage>,
    /// When the first request was made, in microseconds; `None` before.
    pub requested: Option<u32>,
    /// The timers that ran out, each with its moment and its node.
    pub timeouts: Vec<(u32, Node)>,
    /// What learners have learned, in order.
    pub learned: Vec<LearnedValue>,
}

impl DecisionObserver {
    /// Before the first moment of a network with so many learners.
    pub fn new(learners: usize) -> Self {
        Self {
            learners,
            cause: StepCause::Outset,
            causes: Vec::new(),
            messages: Vec::new(),
            requested: None,
            timeouts: Vec::new(),
            learned: Vec::new(),
        }
    }

    /// When the timer ran out that the step under way goes back to.
    fn since_timer(&self) -> Option<u32> {
        let mut cause = self.cause;
        while let StepCause::Message(number) = cause {
            cause = self.causes[number as usize];
        }
        match cause {
            StepCause::Timer(at) => Some(at),
            _ => None,
        }
    }
}

impl<P: Protocol> Observer<P> for DecisionObserver {
    fn announced(&mut self, at: u32, _: Node, announcement: Announcement) -> ControlFlow<()> {
        if let Announcement::Learned { value, round } = announcement {
            self.learned.push(LearnedValue {
                at,
                value,
                round,
                since_timer: self.since_timer(),
            });
        }
        ControlFlow::Continue(())
    }

    fn requested(&mut self, at: u32, _: Node, _: u32) {
        self.requested.get_or_insert(at);
    }

    fn died(&mut self, _: u32, _: Node) {}

    fn sent(&mut self, at: u32, message: &Transmission<P::Message>, _: bool) {
        // Messages are numbered in the order in which they are sent.
        self.causes.push(self.cause);
        self.messages.push(CountedMessage {
            at,
            kind: P::figure(&message.message).kind,
            to: message.to,
        });
    }

    fn takes(&mut self, at: u32, node: Node, input: &InputOf<P>, message: Option<u32>) {
        self.cause = match (input, message) {
            (_, Some(number)) => StepCause::Message(number),
            (Input::Timer(_), None) => {
                self.timeouts.push((at, node));
                StepCause::Timer(at)
            }
            _ => StepCause::Outset,
        };
    }

    fn is_over(&mut self, _: u32, in_flight: u32) -> bool {
        self.learned.len() >= self.learners && in_flight == 0
    }
}
