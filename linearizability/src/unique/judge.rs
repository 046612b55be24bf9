//! Accesses to a register judged by their values.
//!
//! Values that are written once decide in time O(n log n), by the zones of [`super::order`]. What more than one access
//! can have written is left out, so that what is found always convicts, and nothing found acquits only if nothing was
//! left out.

use super::ambiguous::left_out;
use super::causes::{Cause, judge};
use super::clusters::Clusters;
use super::order::{Block, Pair};
use super::{AccessMoment, Action, BEGINNING, NEVER, RegisterAccess, at};
use std::collections::HashSet;

/// An access that happened or may have.
#[derive(Debug, Clone, Copy)]
pub struct TimedAccess {
    /// What it did; [`Action::Begin`] is not among them.
    pub action: Action,
    /// The event that sent it.
    pub sent: usize,
    /// The event that answered it; `None` if its outcome is unknown.
    pub answered: Option<usize>,
}

/// The same with its place among those that are judged; [`Action::Begin`] has none.
#[derive(Debug, Clone, Copy)]
struct PlacedAccess {
    place: Option<usize>,
    action: Action,
    start: AccessMoment,
    finish: AccessMoment,
}

impl RegisterAccess for PlacedAccess {
    fn action(&self) -> Action {
        self.action
    }

    fn start(&self) -> AccessMoment {
        self.start
    }

    fn finish(&self) -> AccessMoment {
        self.finish
    }

    fn with_action(self, action: Action) -> Self {
        Self { action, ..self }
    }

    fn with_start(self, start: AccessMoment) -> Self {
        Self { start, ..self }
    }
}

/// What is known of some accesses.
#[derive(Debug)]
pub struct UniqueJudgement {
    /// For each contradiction the answered accesses that make it, by their places in what was judged, ascending.
    /// Without them there is none, and they need no others but the writes of what they found, and of what those found.
    pub contradictions: Vec<Vec<usize>>,
    /// Whether all was judged: no value may have been written twice.
    pub whole: bool,
}

/// Judges accesses to a register that began with nil, by their values; some of these are known to be `ambiguous`.
pub fn contradictions(timed: &[TimedAccess], ambiguous: &HashSet<i64>) -> UniqueJudgement {
    let access = |(place, timed): (usize, &TimedAccess)| PlacedAccess {
        place: Some(place),
        action: timed.action,
        start: at(timed.sent),
        finish: timed.answered.map_or(NEVER, at),
    };
    let mut all = vec![PlacedAccess {
        place: None,
        action: Action::Begin,
        start: BEGINNING,
        finish: BEGINNING,
    }];
    all.extend(timed.iter().enumerate().map(access));
    let (all, left_out) = left_out(all, ambiguous);
    let (judged, causes) = judge(all, true);
    let mut contradictions = Vec::new();
    if !causes.is_empty() {
        let clusters = Clusters::new(&judged);
        contradictions.extend(causes.iter().map(|cause| involved(&clusters, cause)));
    }
    UniqueJudgement {
        contradictions,
        whole: left_out.is_empty(),
    }
}

/// The answered accesses of a contradiction.
fn involved(clusters: &Clusters<'_, PlacedAccess>, cause: &Cause) -> Vec<usize> {
    let accesses: Vec<usize> = match cause {
        Cause::Phantom { finder, .. } => vec![*finder],
        Cause::Forked(sets) => sets.to_vec(),
        Cause::Circular(circle) => circle
            .iter()
            .filter_map(|&cluster| clusters.all[cluster].writer)
            .collect(),
        Cause::Disordered(block, pair) => between(clusters, block, *pair),
        Cause::Crossed(pairs) => pairs
            .iter()
            .flat_map(|(block, pair)| between(clusters, block, *pair))
            .collect(),
    };
    let certain = |access: usize| match clusters.accesses[access].certain() {
        true => Some(access),
        false => clusters.proof(&[clusters.left_by(access)]).pop(),
    };
    let answered = accesses.into_iter().filter_map(certain);
    let mut places: Vec<usize> = answered.filter_map(|access| clusters.accesses[access].place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Two accesses of a block, with the links that lead from one to the other.
fn between(clusters: &Clusters<'_, PlacedAccess>, block: &Block, Pair { over, sent }: Pair) -> Vec<usize> {
    let (low, high) = (over.0.min(sent.0) / 2, over.0.max(sent.0) / 2);
    let linked = block.clusters[low..=high].iter().skip(1);
    let links = linked.filter_map(|&cluster| clusters.all[cluster].writer);
    [over.1, sent.1].into_iter().chain(links).collect()
}
