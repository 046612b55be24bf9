//! Searches the schedules of a consensus protocol on all cores.

use super::schedules::{SchedulePlayer, ScheduleSpace};
use crate::campaign::shard::Shard;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval of progress.
const PROGRESS: Duration = Duration::from_secs(2);

/// Interval at which the end of the threads is polled.
const POLL: Duration = Duration::from_millis(5);

/// A thread takes so many schedules at a time.
const CHUNK: u64 = 256;

/// When a search ends.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimits {
    /// After this time, on the user's clock.
    pub budget: Duration,
    /// After so many schedules; `None` for no limit but time.
    pub schedules: Option<u64>,
    /// How many threads search.
    pub threads: usize,
    /// Whether it ends with the first violation of this anomaly.
    pub first: Option<&'static str>,
}

/// The schedules that show an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnomalySchedules {
    /// How many there are.
    pub count: u64,
    /// The lowest seed of these.
    pub seed: u64,
}

/// What was searched.
#[derive(Debug, Clone, Default)]
pub struct NetworkSearch {
    /// Schedules that were played.
    pub schedules: u64,
    /// How long it took.
    pub took: Duration,
    /// By anomaly the schedules that show it; of one schedule its first violation.
    pub failures: BTreeMap<&'static str, AnomalySchedules>,
}

/// Searches the part of a space from a seed on until a limit is reached, or `stop` becomes true. `progress` is called
/// every two seconds with what was searched so far.
pub fn search(
    (space, seed, shard): (&ScheduleSpace, u64, Shard),
    limits: SearchLimits,
    stop: &AtomicBool,
    mut progress: impl FnMut(&NetworkSearch),
) -> NetworkSearch {
    let (begun, next, ended) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
    let tally = Mutex::new(NetworkSearch::default());
    let so_far = || {
        let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        NetworkSearch {
            took: begun.elapsed(),
            ..tally.clone()
        }
    };
    let over = || ended.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) || begun.elapsed() >= limits.budget;
    let work = || {
        let mut player = SchedulePlayer::new(space);
        while !over() {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            let until = limits.schedules.map_or(from + CHUNK, |most| most.min(from + CHUNK));
            if from >= until {
                return;
            }
            let played = play(&mut player, (from..until, seed, shard), &over);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.add(&played);
            if limits.first.is_some_and(|first| tally.failures.contains_key(first)) {
                ended.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..limits.threads).map(|_| scope.spawn(work)).collect();
        let mut shown = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(POLL);
            if shown.elapsed() >= PROGRESS {
                shown = Instant::now();
                progress(&so_far());
            }
        }
    });
    so_far()
}

/// Plays the schedules at these positions of a shard, until it is over.
fn play(
    player: &mut SchedulePlayer<'_>,
    (positions, seed, shard): (std::ops::Range<u64>, u64, Shard),
    over: &impl Fn() -> bool,
) -> NetworkSearch {
    let mut played = NetworkSearch::default();
    for number in positions.map_while(|position| shard.number(position)) {
        // An election takes a thousand times as long as a look at the clock.
        if number % 16 == 0 && over() {
            break;
        }
        let seed = seed.wrapping_add(number);
        played.schedules += 1;
        if let Some(violation) = player.play(seed) {
            played.add_failure(violation.kind.anomaly(), AnomalySchedules { count: 1, seed });
        }
    }
    played
}

impl NetworkSearch {
    /// Schedules a second.
    pub fn rate(&self) -> f64 {
        self.schedules as f64 / self.took.as_secs_f64().max(1e-9)
    }

    fn add(&mut self, other: &Self) {
        self.schedules += other.schedules;
        other
            .failures
            .iter()
            .for_each(|(anomaly, found)| self.add_failure(anomaly, *found));
    }

    fn add_failure(&mut self, anomaly: &'static str, found: AnomalySchedules) {
        let before = self
            .failures
            .entry(anomaly)
            .or_insert(AnomalySchedules { count: 0, ..found });
        before.count += found.count;
        before.seed = before.seed.min(found.seed);
    }
}
