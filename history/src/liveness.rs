//! The bound of liveness: how long after recovery an operation may stay unfinished before that convicts the recipe. The
//! engine keeps the last operations going for that long, and the checkers convict by it.

use crate::operation::{barrier, commit, counter, grant, membership, queue, register};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// Lower limit of every [`AnsweredDurations::bound`].
pub const LEAST_BOUND: Duration = Duration::from_secs(10);

/// The bound in medians.
const MEDIANS: u32 = 10;

/// The operations that convict a recipe if they stay unfinished, each with the operation whose durations make its
/// bound. A coordinator's `decide` and a site's `decided` end with the same decision.
const CONVICTING: [(&str, &str); 21] = [
    (grant::f::ACQUIRE, grant::f::ACQUIRE),
    (grant::f::ELECT, grant::f::ELECT),
    (barrier::f::ENTER, barrier::f::ENTER),
    (barrier::f::LEAVE, barrier::f::LEAVE),
    (barrier::f::WAIT, barrier::f::WAIT),
    (barrier::f::RAISE, barrier::f::RAISE),
    (barrier::f::LIFT, barrier::f::LIFT),
    (queue::f::DEQUEUE, queue::f::DEQUEUE),
    (queue::f::ACKNOWLEDGE, queue::f::ACKNOWLEDGE),
    (commit::f::DECIDED, commit::f::DECIDED),
    (commit::f::DECIDE, commit::f::DECIDED),
    (membership::f::REGISTER, membership::f::REGISTER),
    (membership::f::UPDATE, membership::f::UPDATE),
    (membership::f::DEREGISTER, membership::f::DEREGISTER),
    (queue::f::ENQUEUE, queue::f::ENQUEUE),
    (commit::f::BEGIN, commit::f::BEGIN),
    (counter::f::INCREMENT, counter::f::INCREMENT),
    (counter::f::GET, counter::f::GET),
    (register::f::READ, register::f::READ),
    (register::f::WRITE, register::f::WRITE),
    (register::f::CAS, register::f::CAS),
];

/// The durations of a run's operations that were answered `ok`, of those that bounds of liveness are made of.
#[derive(Debug, Clone, Default)]
pub struct AnsweredDurations {
    by_name: BTreeMap<&'static str, RunningMedian>,
}

impl AnsweredDurations {
    /// Adds an operation that was answered `ok`: its name, and the time from its invocation to its completion. What a
    /// client does under a grant takes as long as it is asked to, and is not to be added.
    pub fn add(&mut self, f: &str, duration: Duration) {
        if let Some((_, measured)) = CONVICTING.iter().find(|(_, measured)| *measured == f) {
            self.by_name.entry(measured).or_default().add(duration);
        }
    }

    /// The bound of an unfinished operation of this name: ten times the median of the durations that make it, at least
    /// [`LEAST_BOUND`], which is also that of an operation that never convicts.
    pub fn bound(&self, f: &str) -> Duration {
        let convicting = CONVICTING.iter().find(|(convicting, _)| *convicting == f);
        let durations = convicting.and_then(|(_, measured)| self.by_name.get(measured));
        durations.map_or(LEAST_BOUND, RunningMedian::bound)
    }

    /// The greatest bound of an operation of any name.
    pub fn greatest_bound(&self) -> Duration {
        let bounds = self.by_name.values().map(RunningMedian::bound);
        bounds.max().unwrap_or(LEAST_BOUND)
    }
}

/// The median of durations that are added one after the other.
#[derive(Debug, Clone, Default)]
struct RunningMedian {
    /// The shorter half.
    below: BinaryHeap<Duration>,
    /// The longer half, which begins with the median and has one duration more if their number is odd.
    above: BinaryHeap<Reverse<Duration>>,
}

impl RunningMedian {
    fn add(&mut self, duration: Duration) {
        self.below.push(duration);
        self.above.extend(self.below.pop().map(Reverse));
        if self.above.len() > self.below.len() + 1 {
            self.below.extend(self.above.pop().map(|Reverse(least)| least));
        }
    }

    /// The median, of an even number the upper one of the two in the middle; 0 if there is none.
    fn median(&self) -> Duration {
        self.above.peek().map_or(Duration::ZERO, |&Reverse(median)| median)
    }

    fn bound(&self) -> Duration {
        self.median().saturating_mul(MEDIANS).max(LEAST_BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn answered(f: &str, durations: &[u64]) -> AnsweredDurations {
        let mut answered = AnsweredDurations::default();
        durations.iter().for_each(|duration| answered.add(f, ms(*duration)));
        answered
    }

    #[test]
    fn the_bound_is_ten_medians_and_at_least_ten_seconds() {
        let bound = |durations| answered("enter", durations).bound("enter");
        assert_eq!(bound(&[]), LEAST_BOUND);
        assert_eq!(bound(&[900, 20, 8_000]), LEAST_BOUND);
        assert_eq!(bound(&[9_000, 20, 2_000]), ms(20_000));
        assert_eq!(bound(&[3_000, 1_000]), ms(30_000));
        assert_eq!(answered("enter", &[]).greatest_bound(), LEAST_BOUND);
    }

    #[test]
    fn each_operation_is_measured_by_its_own_answers_and_both_questions_for_a_decision_by_one() {
        for (f, measured) in CONVICTING {
            let answered = answered(measured, &[2_000]);
            assert_eq!(
                (answered.bound(f), answered.greatest_bound()),
                (ms(20_000), ms(20_000)),
                "{f}"
            );
            let others = CONVICTING.iter().filter(|(_, other)| *other != measured);
            for (other, _) in others {
                assert_eq!(answered.bound(other), LEAST_BOUND, "{other} by {measured}");
            }
        }
        for f in ["decide", "release", "vote"] {
            let answered = answered(f, &[2_000]);
            assert_eq!(
                (answered.bound(f), answered.greatest_bound()),
                (LEAST_BOUND, LEAST_BOUND),
                "{f}"
            );
        }
    }

    #[test]
    fn the_median_is_that_of_the_sorted_durations_whatever_their_order() {
        let mut dice = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let mut durations: Vec<u64> = (0..dice.usize(1..30)).map(|_| dice.u64(0..20) * 500).collect();
            let bound = answered("leave", &durations).bound("leave");
            durations.sort_unstable();
            let median = durations[durations.len() / 2];
            assert_eq!(bound, ms(median * 10).max(LEAST_BOUND), "{durations:?}");
        }
    }
}
