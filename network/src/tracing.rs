//! What happened in a run, as a script that makes it happen again.

use crate::judging::JudgingObserver;
use crate::observer::{Observer, Transmission};
use crate::script::NodeStep;
use std::collections::HashMap;
use std::ops::ControlFlow;
use zooquake_history::Node as NodeName;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::{ScriptStep, Target, Trigger, Window};
use zooquake_workloads::consensus::protocol::{Input, InputOf, Node, Protocol};

/// Something that happened to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceItem {
    /// It took an input.
    Step(NodeStep),
    /// Its process died.
    Kill(Node),
    /// Its process started again.
    Start(Node),
}

/// A script that makes what was traced happen, one thing a millisecond, and nothing else.
#[derive(Debug)]
pub struct TraceScript {
    /// What the nodes take.
    pub steps: Vec<ScriptStep>,
    /// When they are dead.
    pub windows: Vec<Window>,
    /// When it is over, in milliseconds.
    pub end_ms: u64,
}

impl TraceScript {
    /// The script of these, of nodes with these names.
    pub fn new(items: &[TraceItem], names: &[NodeName]) -> Self {
        let (mut steps, mut windows): (Vec<ScriptStep>, Vec<Window>) = (Vec::new(), Vec::new());
        let end_ms = items.len() as u64 + 1;
        let target = |node: Node| Target::Node(names[usize::from(node)].clone());
        for (at_ms, item) in (1..).zip(items) {
            match item {
                TraceItem::Step(step) => steps.push(ScriptStep {
                    at_ms,
                    act: step.act(names),
                }),
                TraceItem::Kill(node) => windows.push(Window {
                    id: windows.len() + 1,
                    fault: "kill".to_owned(),
                    target: target(*node),
                    payload: None,
                    trigger: Trigger::At { at_ms },
                    duration_ms: end_ms - at_ms,
                    beside: false,
                }),
                // All nodes start at the beginning.
                TraceItem::Start(node) => {
                    let target = target(*node);
                    let begun = |window: &Window| match window.trigger {
                        Trigger::At { at_ms } => at_ms,
                        _ => 0,
                    };
                    let open =
                        |window: &&mut Window| window.target == target && begun(window) + window.duration_ms == end_ms;
                    if let Some(window) = windows.iter_mut().rev().find(open) {
                        window.duration_ms = at_ms - begun(window);
                    }
                }
            }
        }
        Self { steps, windows, end_ms }
    }
}

/// Traces a run up to its first violation.
#[derive(Debug)]
pub struct TracingObserver {
    judge: JudgingObserver,
    /// What has happened, in order.
    pub items: Vec<TraceItem>,
    /// By message its place on its link: sender, receiver, number from 1.
    places: HashMap<u32, (Node, Node, u32)>,
    /// By link how many messages were sent that were not lost at once; copies do not count.
    counts: HashMap<(Node, Node), u32>,
}

impl TracingObserver {
    /// Before the first moment.
    pub fn new(judge: JudgingObserver) -> Self {
        Self {
            judge,
            items: Vec::new(),
            places: HashMap::new(),
            counts: HashMap::new(),
        }
    }
}

impl<P: Protocol> Observer<P> for TracingObserver {
    fn announced(&mut self, at: u32, node: Node, announcement: Announcement) -> ControlFlow<()> {
        Observer::<P>::announced(&mut self.judge, at, node, announcement)
    }

    fn requested(&mut self, at: u32, node: Node, value: u32) {
        Observer::<P>::requested(&mut self.judge, at, node, value);
    }

    fn died(&mut self, at: u32, node: Node) {
        Observer::<P>::died(&mut self.judge, at, node);
        self.items.push(TraceItem::Kill(node));
    }

    fn sent(&mut self, _: u32, message: &Transmission<P::Message>, _: bool) {
        let Transmission { from, to, .. } = *message;
        let place = match message.copy_of.and_then(|first| self.places.get(&first)) {
            Some(first) => *first,
            None => {
                let count = self.counts.entry((from, to)).or_default();
                *count += 1;
                (from, to, *count)
            }
        };
        self.places.insert(message.number, place);
    }

    fn takes(&mut self, _: u32, node: Node, input: &InputOf<P>, message: Option<u32>) {
        let item = match input {
            Input::Start => TraceItem::Start(node),
            Input::Receive { .. } => {
                let Some(&(from, to, nth)) = message.and_then(|number| self.places.get(&number)) else {
                    return;
                };
                TraceItem::Step(NodeStep::Deliver { from, to, nth })
            }
            Input::Timer(timer) => {
                let timer = format!("{timer:?}");
                TraceItem::Step(NodeStep::Timer { node, timer })
            }
            Input::Request(value) => TraceItem::Step(NodeStep::Request { node, value: *value }),
        };
        self.items.push(item);
    }

    fn is_over(&mut self, at: u32, in_flight: u32) -> bool {
        Observer::<P>::is_over(&mut self.judge, at, in_flight)
    }
}
