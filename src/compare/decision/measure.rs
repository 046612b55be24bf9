//! Plays a decision in a situation, and counts what it takes.

use super::claims::DecisionClaim;
use super::observer::DecisionObserver;
use super::situation::{DecisionNodes, DecisionSituation, UNIT, UNTIL};
use fastrand::Rng;
use zooquake_history::plan::ClusterPlan;
use zooquake_network::scenario::{Pace, Scenario};
use zooquake_network::world::World;
use zooquake_reports::decision::{DecisionCost, MessageShare};
use zooquake_workloads::consensus::protocol::{NodeRole, Protocol};
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
