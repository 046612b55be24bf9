//! From the wall clock of the servers' logs to the time of the run.
//!
//! All containers of a run share the clock of their host, and so does the orchestrator; the history counts on another,
//! the monotonic one. Events `clock` of the process `run` contain what the wall clock showed when they were recorded.

use zooquake_history::Event;

/// What the wall clock showed at some moments of the run; empty if it was not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WallClock {
    /// Microseconds since 1970, and nanoseconds since the run began: in order, and of one microsecond the first
    /// reading.
    readings: Vec<(i64, i64)>,
}

impl WallClock {
    /// The readings in a history.
    pub fn from_events(events: &[Event]) -> Self {
        let reading = |event: &Event| {
            let reads = event.f == "clock" && event.is_of("run");
            Some((event.unix_us().filter(|_| reads)?, i64::try_from(event.time).ok()?))
        };
        let mut readings: Vec<(i64, i64)> = events.iter().filter_map(reading).collect();
        readings.sort_unstable();
        readings.dedup_by_key(|&mut (unix_us, _)| unix_us);
        Self { readings }
    }

    /// The time in the run, in milliseconds, of milliseconds since 1970; below zero before it began. It goes by the
    /// nearest reading, because a wall clock may be set. `None` without a reading.
    pub fn run_ms(&self, unix_ms: i64) -> Option<i64> {
        let unix_us = unix_ms.checked_mul(1000)?;
        let next = self.readings.partition_point(|&(at, _)| at < unix_us);
        let around = &self.readings[next.saturating_sub(1)..self.readings.len().min(next + 1)];
        let nearest = around.iter().min_by_key(|&&(at, ns)| (at.abs_diff(unix_us), ns))?;
        let since_us = unix_us.checked_sub(nearest.0)?;
        Some(nearest.1.checked_div(1000)?.checked_add(since_us)?.div_euclid(1000))
    }

    /// The same in nanoseconds; what came before the run is its beginning.
    pub fn run_ns(&self, unix_ms: i64) -> Option<u64> {
        u64::try_from(self.run_ms(unix_ms)?.max(0)).ok()?.checked_mul(1_000_000)
    }

    /// A moment for a text: seconds of the run, or of the day as the logs have it.
    pub fn at(&self, unix_ms: i64) -> String {
        match self.run_ms(unix_ms) {
            Some(ms) => {
                let sign = if ms < 0 { "-" } else { "" };
                format!("{sign}{}.{:03} s", ms.abs() / 1000, ms.abs() % 1000)
            }
            None => {
                let day = unix_ms.rem_euclid(86_400_000);
                let (hour, minute, ms) = (day / 3_600_000, day / 60_000 % 60, day % 60_000);
                format!("{hour:02}:{minute:02}:{:02}.{:03}", ms / 1000, ms % 1000)
            }
        }
    }
}
