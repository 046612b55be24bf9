//! Whether there is time for one more run.

use super::attempt::Attempt;
use super::cell::Cell;
use std::time::{Duration, Instant};

/// What a run takes beside its operations and faults while nothing is known of this machine: images are there, an
/// ensemble comes up, recovers, is audited and cleared away.
const BESIDE: Duration = Duration::from_secs(45);

/// A limit of time, counted from the start of the program.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// How long; `None` for no limit.
    pub limit: Option<Duration>,
    /// Since when.
    pub begun: Instant,
}

impl Budget {
    /// Whether a run of this expected length ends in time.
    pub fn fits(&self, expected: Duration) -> bool {
        self.limit
            .is_none_or(|limit| self.begun.elapsed().saturating_add(expected) <= limit)
    }
}

/// How long a run of the cell is expected to take: as long as the longest of its variant and faults so far, else as the
/// longest of its variant, else as the longest of all, else its time and [`BESIDE`].
pub fn expected<'a>(cell: &Cell, time: Duration, attempts: impl Iterator<Item = &'a Attempt> + Clone) -> Duration {
    let longest = |alike: &dyn Fn(&Cell) -> bool| {
        let seconds = attempts
            .clone()
            .filter(|attempt| attempt.verdict.is_some() && alike(&attempt.cell))
            .map(|attempt| attempt.seconds);
        seconds.max_by(f64::total_cmp)
    };
    longest(&|other| other.same_place(&cell.variant, &cell.faults))
        .or_else(|| longest(&|other| other.variant == cell.variant))
        .or_else(|| longest(&|_| true))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .unwrap_or(time + BESIDE)
}

#[cfg(test)]
mod tests {
    use super::super::attempt::tests::{attempt, cell};
    use super::*;
    use zooquake_checkers::Verdict;

    #[test]
    fn the_nearest_kin_tells_how_long_it_takes() {
        let time = Duration::from_secs(30);
        let took = |faults: &str, variant: &str, seconds: f64| {
            let mut attempt = attempt(&cell(faults, 1), Some(Verdict::Valid), &[]);
            attempt.cell.variant = variant.into();
            Attempt { seconds, ..attempt }
        };
        let past = [
            took("kill", "lock/predecessor", 61.0),
            took("pause", "lock/predecessor", 52.0),
            took("pause", "lock/predecessor", 55.0),
            took("pause", "commit/atomic", 90.0),
        ];
        let of = |faults: &str, past: &[Attempt]| expected(&cell(faults, 9), time, past.iter()).as_secs();
        assert_eq!(of("pause", &past), 55);
        assert_eq!(of("disconnect", &past), 61);
        assert_eq!(of("disconnect", &past[3..]), 90);
        assert_eq!(of("disconnect", &[]), 75);
        let failed = Attempt {
            verdict: None,
            ..past[3].clone()
        };
        assert_eq!(of("disconnect", &[failed]), 75, "a run that failed early tells nothing");
    }

    #[test]
    fn without_a_limit_everything_fits() {
        let begun = Instant::now();
        let fits = |limit: Option<u64>| {
            let limit = limit.map(Duration::from_secs);
            Budget { limit, begun }.fits(Duration::from_secs(100))
        };
        assert!(fits(None) && fits(Some(200)) && !fits(Some(99)));
    }
}
