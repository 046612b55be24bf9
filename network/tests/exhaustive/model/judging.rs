//! The properties of the protocols, judged in each state by what nodes have made public in it.

use super::actor::ProtocolActor;
use super::bounds::{BoundedProtocol, ModelBounds};
use stateright::actor::{ActorModel, ActorModelState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zooquake_checkers::consensus::{ConsensusJudge, ConsensusStep, NodeSets, ViolationKind};
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::ConsensusGoal;

/// What a model is explored for.
#[derive(Debug)]
pub struct ModelScope {
    pub bounds: ModelBounds,
    /// What the protocol is to bring about.
    pub goal: ConsensusGoal,
    /// Its nodes by what they are for.
    pub sets: NodeSets,
    /// What the application asks: which node, for which value.
    pub requests: Vec<(u8, u32)>,
    /// How many states were judged in which something was decided: a value learned, or a leader elected.
    pub decided: AtomicUsize,
}

pub type ProtocolModel<P> = ActorModel<ProtocolActor<P>, Arc<ModelScope>>;

/// A state of the model of a protocol.
pub type ProtocolState<P> = ActorModelState<ProtocolActor<P>>;

type Announcements<'a> = Vec<&'a [Announcement]>;

/// Whether a state is within the bounds.
pub fn within<P: BoundedProtocol>(scope: &Arc<ModelScope>, state: &ProtocolState<P>) -> bool {
    let processes = || state.actor_states.iter().map(|node| node.value());
    let timers: u32 = processes().map(|process| process.durable.timers).sum();
    let restarts: u32 = processes().map(|process| process.durable.starts - 1).sum();
    let ModelBounds {
        timers: most,
        restarts: often,
        ..
    } = scope.bounds;
    timers <= most && restarts <= often && processes().all(|process| !process.beyond)
}

/// Whether nothing is violated in a state.
pub fn holds<P: BoundedProtocol>(model: &ProtocolModel<P>, state: &ProtocolState<P>) -> bool {
    let announced = announcements(state);
    let decisive = |announcement: &Announcement| {
        matches!(
            announcement,
            Announcement::Learned { .. } | Announcement::Answered { .. } | Announcement::Elected { .. }
        )
    };
    if !announced.iter().copied().flatten().any(decisive) {
        return true;
    }
    model.cfg.decided.fetch_add(1, Ordering::Relaxed);
    violation(&model.cfg, &announced).is_none()
}

/// What is violated in a state.
pub fn violation_in<P: BoundedProtocol>(scope: &ModelScope, state: &ProtocolState<P>) -> Option<ViolationKind> {
    violation(scope, &announcements(state))
}

fn announcements<P: BoundedProtocol>(state: &ProtocolState<P>) -> Announcements<'_> {
    let nodes = state.actor_states.iter();
    nodes.map(|node| node.value().durable.announced.as_slice()).collect()
}

/// What is violated by what nodes have made public. A state has no order among announcements of several nodes. That an
/// elected server has the greatest vote depends on it, by what its voters had announced before: in the state that
/// follows its election these are all announcements of other nodes. So each elected server comes last once.
fn violation(scope: &ModelScope, announced: &Announcements<'_>) -> Option<ViolationKind> {
    let elected = |&node: &usize| {
        let mut own = announced[node].iter();
        own.any(|announcement| matches!(announcement, Announcement::Elected { .. }))
    };
    let mut last: Vec<usize> = (0..announced.len()).filter(elected).collect();
    if last.is_empty() {
        last.push(0);
    }
    last.into_iter()
        .find_map(|last| violation_with_last(scope, announced, last))
}

fn violation_with_last(scope: &ModelScope, announced: &Announcements<'_>, last: usize) -> Option<ViolationKind> {
    let mut judge = ConsensusJudge::new(scope.goal, scope.sets);
    for &(node, value) in &scope.requests {
        judge.take(0, ConsensusStep::Request { node, value });
    }
    let others = (0..announced.len()).filter(|&node| node != last);
    let mut steps = others
        .chain([last])
        .flat_map(|node| announced[node].iter().map(move |step| (node as u8, *step)));
    steps.find_map(|(node, announcement)| {
        let step = ConsensusStep::Announcement { node, announcement };
        judge.take(0, step).map(|violation| violation.kind)
    })
}
