//! How many hold, by mode, after each event.

use super::Grants;
use zooquake_history::operation::Holders;

/// The counts of holders in the course of a history.
#[derive(Debug)]
pub struct HoldCounts {
    /// Events that changed them, in order, each with the counts after it.
    changes: Vec<(usize, Holders)>,
}

impl HoldCounts {
    /// Counts the grants that were read and have not ended; those of an unknown mode are left out.
    pub fn new(grants: &Grants<'_>) -> Self {
        let held = grants.all.iter().filter_map(|grant| {
            let span = (grant.read?, grant.end.unwrap_or(usize::MAX));
            (span.0 < span.1).then_some((span, grant.mode?))
        });
        let both = held.flat_map(|((read, end), mode)| [(read, true, mode), (end, false, mode)]);
        let mut changes: Vec<_> = both.collect();
        changes.sort_unstable_by_key(|&(at, begins, _)| (at, begins));
        let mut now = Holders::default();
        let after = |(at, begins, mode)| {
            let count = now.count_mut(mode);
            *count = if begins { *count + 1 } else { *count - 1 };
            (at, now)
        };
        Self {
            changes: changes.into_iter().map(after).collect(),
        }
    }

    /// The counts just after an event.
    pub fn after(&self, event: usize) -> Holders {
        let last = self.changes.partition_point(|&(at, _)| at <= event).checked_sub(1);
        last.map(|last| self.changes[last].1).unwrap_or_default()
    }
}
