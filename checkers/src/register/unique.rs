//! Accesses to any register judged by their values, for histories that are not of the family.
//!
//! Values that are written once decide in time O(n log n), by the zones of [`super::real_time_order`]. What more than one access can have
//! written is left out, so that what is found always convicts, and nothing found acquits only if nothing was left out.

use super::accesses::{self, Access, BEGINNING, NEVER};
use super::clusters::Clusters;
use super::contradictions::{Cause, judge};
use super::real_time_order::{Block, Pair};
use std::collections::HashSet;

pub use super::accesses::Action;

/// An access that happened or may have.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    /// What it did; [`Action::Begin`] is not among them.
    pub action: Action,
    /// The event that sent it.
    pub sent: usize,
    /// The event that answered it; `None` if its outcome is unknown.
    pub answered: Option<usize>,
}

/// What is known of some accesses.
#[derive(Debug)]
pub struct Judged {
    /// For each contradiction the answered accesses that make it, by their places in what was judged, ascending. Without them
    /// there is none, and they need no others but the writes of what they found, and of what those found.
    pub contradictions: Vec<Vec<usize>>,
    /// Whether all was judged: no value may have been written twice.
    pub whole: bool,
}

/// Judges accesses to a register that began with nil, by their values; some of these are known to be `ambiguous`.
pub fn contradictions(timed: &[Timed], ambiguous: &HashSet<i64>) -> Judged {
    let access = |(place, timed): (usize, &Timed)| Access {
        invoke: Some(place),
        ..Access::nobody(
            timed.action,
            accesses::at(timed.sent),
            timed.answered.map_or(NEVER, accesses::at),
        )
    };
    let mut all = vec![Access::nobody(Action::Begin, BEGINNING, BEGINNING)];
    all.extend(timed.iter().enumerate().map(access));
    let (all, left_out) = super::ambiguous_values::left_out(all, ambiguous);
    let (judged, causes) = judge(all, true);
    let mut contradictions = Vec::new();
    if !causes.is_empty() {
        let clusters = Clusters::new(&judged);
        contradictions.extend(causes.iter().map(|cause| involved(&clusters, cause)));
    }
    Judged {
        contradictions,
        whole: left_out.is_empty(),
    }
}

/// The answered accesses of a contradiction.
fn involved(clusters: &Clusters<'_, '_>, cause: &Cause) -> Vec<usize> {
    let accesses: Vec<usize> = match cause {
        Cause::Phantom { finder, .. } => vec![*finder],
        Cause::Forked(sets) => sets.to_vec(),
        Cause::Circular(circle) => circle
            .iter()
            .filter_map(|&cluster| clusters.all[cluster].writer)
            .collect(),
        Cause::Disordered(block, pair) => between(clusters, block, *pair),
        Cause::Crossed(pairs) => {
            let of = |(block, pair): &(Block, Pair)| between(clusters, block, *pair);
            pairs.iter().flat_map(of).collect()
        }
    };
    let certain = |access: usize| match clusters.accesses[access].certain() {
        true => Some(access),
        false => clusters.proof(&[clusters.left_by(access)]).pop(),
    };
    let answered = accesses.into_iter().filter_map(certain);
    let mut places: Vec<usize> = answered.filter_map(|access| clusters.accesses[access].invoke).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Two accesses of a block, with the links that lead from one to the other.
fn between(clusters: &Clusters<'_, '_>, block: &Block, Pair { over, sent }: Pair) -> Vec<usize> {
    let (low, high) = (over.0.min(sent.0) / 2, over.0.max(sent.0) / 2);
    let linked = block.clusters[low..=high].iter().skip(1);
    let links = linked.filter_map(|&cluster| clusters.all[cluster].writer);
    [over.1, sent.1].into_iter().chain(links).collect()
}
