//! The watchdog: notices that the harness itself stood still, because its process was stopped, its machine slept, or
//! its own loop was blocked.
//!
//! It is asked before anything is recorded, so a stall stands in the history before every line that was read after it.

use std::time::Duration;

/// Both clocks, read at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// The run's clock, which stands still while the machine sleeps.
    pub monotonic: Duration,
    /// The clock that runs on meanwhile, as a remote engine does.
    pub boottime: Duration,
}

impl Clocks {
    /// How far each has come since `earlier`; zero for one that has not come there yet.
    fn since(self, earlier: Self) -> Self {
        Self {
            monotonic: self.monotonic.saturating_sub(earlier.monotonic),
            boottime: self.boottime.saturating_sub(earlier.boottime),
        }
    }
}

/// A time in which the loop should have turned and did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// How long, by the clock that shows more.
    pub lasted: Duration,
    /// How much of it a deadline on the monotonic clock has lost.
    pub monotonic: Duration,
}

/// Compares each turn of a loop with the moment at which it was due.
#[derive(Debug)]
pub struct Watchdog {
    least: Duration,
    due: Clocks,
}

impl Watchdog {
    /// Watches a loop that turns `now`; a stall is one of `least` or more.
    pub fn new(least: Duration, now: Clocks) -> Self {
        Self { least, due: now }
    }

    /// The loop rests now, for `rest` at most.
    pub fn rests(&mut self, now: Clocks, rest: Duration) {
        self.due = Clocks {
            monotonic: now.monotonic + rest,
            boottime: now.boottime + rest,
        };
    }

    /// The loop turns; returns the stall that ends with this, each one once.
    pub fn turns(&mut self, now: Clocks) -> Option<Stall> {
        let late = now.since(self.due);
        self.due = now;
        let lasted = late.monotonic.max(late.boottime);
        (lasted >= self.least).then_some(Stall {
            lasted,
            monotonic: late.monotonic,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_millis(1_000);

    fn at(monotonic: u64, boottime: u64) -> Clocks {
        Clocks {
            monotonic: Duration::from_millis(monotonic),
            boottime: Duration::from_millis(boottime),
        }
    }

    fn stalled(lasted: u64, monotonic: u64) -> Option<Stall> {
        Some(Stall {
            lasted: Duration::from_millis(lasted),
            monotonic: Duration::from_millis(monotonic),
        })
    }

    #[test]
    fn a_process_that_was_stopped_turns_late() {
        let mut watchdog = Watchdog::new(LEAST, at(0, 500));
        watchdog.rests(at(0, 500), Duration::from_millis(50));
        assert_eq!(watchdog.turns(at(22_050, 22_550)), stalled(22_000, 22_000));
        assert_eq!(watchdog.turns(at(22_060, 22_560)), None, "it is told once");
    }

    #[test]
    fn a_machine_that_slept_is_seen_by_the_clock_that_ran_on() {
        let mut watchdog = Watchdog::new(LEAST, at(0, 0));
        watchdog.rests(at(0, 0), Duration::from_millis(50));
        assert_eq!(watchdog.turns(at(60, 3_600_060)), stalled(3_600_010, 10));
    }

    #[test]
    fn a_loop_that_was_blocked_at_its_work_is_seen_too() {
        let mut watchdog = Watchdog::new(LEAST, at(0, 0));
        assert_eq!(watchdog.turns(at(10, 10)), None);
        assert_eq!(watchdog.turns(at(1_010, 1_010)), stalled(1_000, 1_000));
    }

    #[test]
    fn resting_as_long_as_planned_and_waking_early_are_no_stalls() {
        let mut watchdog = Watchdog::new(LEAST, at(0, 0));
        watchdog.rests(at(0, 0), Duration::from_secs(5));
        assert_eq!(
            watchdog.turns(at(5_999, 5_999)),
            None,
            "late by less than the least stall"
        );
        watchdog.rests(at(6_000, 6_000), Duration::from_secs(5));
        assert_eq!(watchdog.turns(at(6_500, 6_500)), None, "woken by an input");
        assert_eq!(watchdog.turns(at(7_400, 7_400)), None);
    }
}
