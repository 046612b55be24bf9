//! Free time: how long after recovery an acquire could have been granted, for all that holds and waits.

use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{self, Analysis};
use zooquake_history::operation::{Holders, Mode};

/// The time that is free for requests, by their modes.
pub struct GrantableTime {
    exclusive: GrantableSpans,
    shared: GrantableSpans,
    /// For a request of either mode.
    either: GrantableSpans,
}

/// Some begin to hold or to wait, or cease to.
struct HoldOrWait {
    at: usize,
    begins: bool,
    holds: bool,
    /// `None` if it is not known.
    mode: Option<Mode>,
}

impl GrantableTime {
    /// Reads it out of a run, from recovery on.
    pub fn new(run: &Analysis<'_>, RecoverySpan { recovered, end, .. }: RecoverySpan) -> Self {
        let mut all = [
            GrantableSpans::default(),
            GrantableSpans::default(),
            GrantableSpans::default(),
        ];
        let (mut held, mut waiting) = (Holders::default(), Holders::default());
        let mut since = recovered;
        let mut pass = |since: usize, until: usize, held: Holders, waiting: Holders| {
            let free = Mode::ALL.map(|mode| held.free_for(mode, waiting, run.capacity));
            for (of, free) in all.iter_mut().zip([free[0], free[1], free[0] && free[1]]) {
                if free {
                    of.push(run.time(since), run.time(until));
                }
            }
        };
        for change in changes(run).into_iter().take_while(|change| change.at < end) {
            if change.at > recovered {
                pass(since, change.at, held, waiting);
            }
            let counted = if change.holds { &mut held } else { &mut waiting };
            // One of an unknown mode counts as one of each.
            for mode in Mode::ALL
                .into_iter()
                .filter(|one| change.mode.is_none_or(|mode| mode == *one))
            {
                let count = counted.count_mut(mode);
                *count = if change.begins { *count + 1 } else { *count - 1 };
            }
            since = change.at.max(recovered);
        }
        pass(since, end, held, waiting);
        let [exclusive, shared, either] = all;
        Self {
            exclusive,
            shared,
            either,
        }
    }

    /// The time that is free for all of these requests, given by their events.
    pub fn for_requests(&self, run: &Analysis<'_>, requests: impl IntoIterator<Item = usize>) -> &GrantableSpans {
        let mut modes = requests.into_iter().map(|at| analysis::mode(&run.events[at]));
        let first = modes.next().flatten();
        match first.filter(|first| modes.all(|mode| mode == Some(*first))) {
            Some(Mode::Exclusive) => &self.exclusive,
            Some(Mode::Shared) => &self.shared,
            None => &self.either,
        }
    }
}

/// All changes of who holds and who waits, in their order.
fn changes(run: &Analysis<'_>) -> Vec<HoldOrWait> {
    let mut changes = Vec::new();
    let mut span = |from: usize, until: Option<usize>, holds: bool, mode: Option<Mode>| {
        let change = |(at, begins)| HoldOrWait {
            at,
            begins,
            holds,
            mode,
        };
        if until.is_none_or(|until| until > from) {
            let both = [(from, true)].into_iter().chain(until.map(|until| (until, false)));
            changes.extend(both.map(change));
        }
    };
    for grant in &run.grants.all {
        if let Some(read) = grant.read {
            span(read, grant.end, true, grant.mode);
        }
    }
    for op in run.ops.work.iter().filter(|op| op.f == run.names.ops.takes) {
        if let Some(asked) = op.invoke {
            span(asked, op.end, false, analysis::mode(&run.events[asked]));
        }
    }
    changes.sort_unstable_by_key(|change| (change.at, change.begins));
    changes
}

#[derive(Default)]
pub struct GrantableSpans {
    /// Begin and end in nanoseconds since the run began, in order, and how much was free before each.
    spans: Vec<(u64, u64, u64)>,
}

impl GrantableSpans {
    fn push(&mut self, from: u64, to: u64) {
        let before = self.spans.last().map_or(0, |&(from, to, before)| before + (to - from));
        if from < to {
            self.spans.push((from, to, before));
        }
    }

    /// Nanoseconds of it between two moments.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        self.until(to).saturating_sub(self.until(from))
    }

    fn until(&self, moment: u64) -> u64 {
        let span = self.spans.partition_point(|&(from, _, _)| from < moment).checked_sub(1);
        span.map_or(0, |span| {
            let (from, to, before) = self.spans[span];
            before + moment.min(to).saturating_sub(from)
        })
    }
}
