//! Plays a decision in a situation, and counts what it takes.

use super::claims::DecisionClaim;
use super::situation::{DecisionNodes, DecisionSituation, UNIT, UNTIL};
use fastrand::Rng;
use std::ops::ControlFlow;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::ClusterPlan;
use zooquake_network::observer::{Observer, Transmission};
use zooquake_network::scenario::{Pace, Scenario};
use zooquake_network::world::World;
use zooquake_reports::decision::{DecisionCost, MessageShare};
use zooquake_workloads::consensus::protocol::{Input, InputOf, Node, NodeRole, Protocol};
use zooquake_workloads::consensus::setting::{ProtocolSetting, ProtocolVisitor};
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// Number of proposers: as many as collide.
pub const PROPOSERS: usize = 2;

/// The cluster of a group with so many acceptors.
pub fn cluster(acceptors: usize) -> ClusterPlan {
    ClusterPlan {
        servers: acceptors,
        clients: PROPOSERS,
        ..ClusterPlan::default()
    }
}

/// A group of a variant with so many acceptors, and its nodes.
///
/// # Errors
/// If its nodes have other roles than those of Paxos.
pub fn group(variant: &ConsensusVariant, acceptors: usize) -> Result<(ProtocolSetting, DecisionNodes), String> {
    let setting = variant.setting(0, &cluster(acceptors));
    let nodes = DecisionNodes::new(&setting.roles())
        .ok_or_else(|| format!("consensus/{} has no acceptors, leaders and proposers", variant.name))?;
    Ok((setting, nodes))
}

/// What a decision of a variant with so many acceptors takes in a situation, beside what is claimed of it. The seed
/// decides how long timers run.
///
/// # Errors
/// If it does not come to one decision, or its nodes have other roles than those of Paxos.
pub fn cost(
    variant: &ConsensusVariant,
    (situation, claim): (DecisionSituation, &DecisionClaim),
    acceptors: usize,
    seed: u64,
) -> Result<DecisionCost, String> {
    let (setting, nodes) = group(variant, acceptors)?;
    let played = setting.visit(DecisionVisitor {
        situation,
        nodes: &nodes,
        seed,
    });
    let failed = |why| {
        let (name, situation) = (variant.name, situation.text().name);
        format!("consensus/{name} with {acceptors} acceptors, {situation}: {why}")
    };
    let mut cost = count(&played, &setting.roles(), nodes.learners).map_err(failed)?;
    cost.acceptors = nodes.acceptors;
    cost.claimed_delays = claim.delays(nodes.acceptors);
    cost.claimed_messages = claim.messages(nodes.acceptors, nodes.learners as u8);
    Ok(cost)
}

/// Plays a situation.
struct DecisionVisitor<'a> {
    situation: DecisionSituation,
    nodes: &'a DecisionNodes,
    seed: u64,
}

impl ProtocolVisitor for DecisionVisitor<'_> {
    type Outcome = DecisionObserver;

    fn visit<P: Protocol>(self, config: &P::Config) -> DecisionObserver {
        let Self { situation, nodes, seed } = self;
        let (disturbances, requests) = (situation.disturbances(nodes), situation.requests(nodes));
        let scenario = Scenario {
            config,
            disturbances: &disturbances,
            requests: &requests,
            until: UNTIL,
        };
        let pace = Pace::Drawn(situation.transit(nodes));
        let observer = DecisionObserver::new(nodes.learners);
        let mut world = World::<P, _>::new(scenario, pace, Rng::with_seed(seed), observer);
        world.run();
        world.observer
    }
}

/// Counts what was played up to the moment at which the last learner learned. `Err` if there is none, or learners
/// disagree.
fn count(played: &DecisionObserver, roles: &[NodeRole], learners: usize) -> Result<DecisionCost, String> {
    let requested = played.requested.ok_or("no value was proposed")?;
    let last = played.learned.last().filter(|_| played.learned.len() == learners);
    let last = last.ok_or_else(|| format!("{} of {learners} learners have learned a value", played.learned.len()))?;
    if played.learned.iter().any(|learned| learned.value != last.value) {
        return Err("two values were learned".to_owned());
    }
    let since = last.since_timer.unwrap_or(requested);
    if !(last.at - since).is_multiple_of(UNIT) {
        return Err(format!("{} µs are no whole number of message delays", last.at - since));
    }
    let mut cost = DecisionCost {
        delays: (last.at - since) / UNIT,
        waited_ms: f64::from(since - requested) / 1_000.0,
        round: last.round,
        ..DecisionCost::default()
    };
    for message in played.messages.iter().filter(|message| message.at >= requested) {
        if message.at >= last.at {
            cost.after += 1;
            continue;
        }
        cost.messages += 1;
        let to = roles[usize::from(message.to)].name;
        let same = |share: &&mut MessageShare| share.kind == message.kind && share.to == to;
        match cost.parts.iter_mut().find(same) {
            Some(share) => share.count += 1,
            None => cost.parts.push(MessageShare {
                kind: message.kind.to_owned(),
                to: to.to_owned(),
                count: 1,
            }),
        }
    }
    let between = played
        .timeouts
        .iter()
        .filter(|(at, _)| (requested..last.at).contains(at));
    let owner = |&(_, node): &(u32, u8)| roles[usize::from(node)].name.to_owned();
    cost.timeouts = between.map(owner).collect();
    Ok(cost)
}

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
