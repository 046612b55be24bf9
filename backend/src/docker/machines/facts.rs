//! What is measured of the machines of a run: the way to each, and how its clock differs from ours.
//!
//! Nothing of a history rests on the clocks of machines: the recorder alone stamps. Round trips widen the intervals
//! that it records, and clocks are those of the logs of servers.

use super::DockerMachine;
use crate::retry::again;
use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How many round trips are measured.
const SAMPLES: usize = 20;

/// By how many milliseconds a machine's clock may differ from ours: servers write their logs by it, and of several
/// servers these are brought into one order by their times. An election takes 200 ms at least.
const CLOCKS_WITHIN_MS: u64 = 100;

/// Refuses machines whose clocks differ from ours for certain.
///
/// # Errors
/// Which one does, with the way out; or if one does not answer.
pub async fn refuse_other_clocks(machines: &[DockerMachine]) -> Result<()> {
    for machine in machines {
        if let Some(difference) = ClockDifference::ask(machine).await? {
            ensure!(
                difference.certain_ms() <= CLOCKS_WITHIN_MS,
                "the clock{} is {}, by which its servers would write their logs: set it by NTP, as `timedatectl set-ntp true` \
                 does there",
                machine.words(),
                difference.words()
            );
        }
    }
    Ok(())
}

/// Round trips, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RoundTrips {
    /// How many there were.
    pub count: usize,
    /// Half of them took no longer.
    pub median_us: u64,
    /// The longest.
    pub worst_us: u64,
}

impl RoundTrips {
    /// Measures how long this takes, again and again.
    ///
    /// # Errors
    /// If it fails once.
    pub async fn measure<T, F>(trip: impl Fn() -> F) -> Result<Self>
    where
        F: Future<Output = Result<T>>,
    {
        let mut took = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let begun = Instant::now();
            trip().await?;
            took.push(begun.elapsed());
        }
        Ok(Self::summary(took))
    }

    fn summary(mut took: Vec<Duration>) -> Self {
        took.sort_unstable();
        let us = |time: Option<&Duration>| time.map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        Self {
            count: took.len(),
            median_us: us(took.get(took.len().saturating_sub(1) / 2)),
            worst_us: us(took.last()),
        }
    }
}

/// How far a machine's clock is ahead of ours, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockDifference {
    /// Negative if it is behind.
    pub ahead_ms: i64,
    /// By how much that may be wrong: half of what the question took.
    pub within_ms: u64,
}

impl ClockDifference {
    /// Asks an engine for its time; `None` if it does not give one.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn ask(machine: &DockerMachine) -> Result<Option<Self>> {
        let asked = Timestamp::now();
        let begun = Instant::now();
        let info = again(|| machine.docker.info()).await;
        let took = begun.elapsed();
        let info = info.with_context(|| format!("asking the engine{} for its time", machine.words()))?;
        let theirs = info.system_time.and_then(|text| text.parse().ok());
        Ok(theirs.map(|theirs: Timestamp| Self::between(asked, took, theirs)))
    }

    /// By how much it differs at the least.
    fn certain_ms(&self) -> u64 {
        self.ahead_ms.unsigned_abs().saturating_sub(self.within_ms)
    }

    /// `5000 ms ahead of ours`.
    fn words(&self) -> String {
        let way = if self.ahead_ms < 0 { "behind" } else { "ahead of" };
        format!("{} ms {way} ours", self.ahead_ms.unsigned_abs())
    }

    fn between(asked: Timestamp, took: Duration, theirs: Timestamp) -> Self {
        let half = u64::try_from(took.as_millis().div_ceil(2)).unwrap_or(u64::MAX);
        let ours = asked.as_millisecond().saturating_add_unsigned(half);
        Self {
            ahead_ms: theirs.as_millisecond() - ours,
            within_ms: half,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_have_a_median_and_a_worst() {
        let ms = |all: &[u64]| RoundTrips::summary(all.iter().map(|ms| Duration::from_millis(*ms)).collect());
        let trips = ms(&[9, 1, 2]);
        assert_eq!((trips.count, trips.median_us, trips.worst_us), (3, 2_000, 9_000));
        assert_eq!(ms(&[]).worst_us, 0);
    }

    #[test]
    fn the_difference_of_clocks_is_known_to_half_of_what_the_question_took() {
        let asked = Timestamp::from_millisecond(10_000).unwrap();
        let theirs = Timestamp::from_millisecond(9_000).unwrap();
        let difference = ClockDifference::between(asked, Duration::from_millis(40), theirs);
        assert_eq!((difference.ahead_ms, difference.within_ms), (-1_020, 20));
        assert_eq!(difference.certain_ms(), 1_000);
        assert_eq!(difference.words(), "1020 ms behind ours");
    }
}
