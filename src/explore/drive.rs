//! Explores a space on all cores: each thread plays schedules in memory, one after the other, and counts what they
//! show.

use super::corpus::Corpus;
use super::coverage::Coverage;
use super::failure::{self, Signature};
use super::schedule_queue::{QueueStep, Schedule, ScheduleQueue, steps};
use super::space::{ResolvedSpace, Search};
use crate::campaign::shard::Shard;
use crate::run::simulation;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use zooquake_history::plan::{Plan, Scheduler};

/// Interval at which progress is reported, and the corpus records how far it has come.
const TELL: Duration = Duration::from_secs(2);

/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// How long is explored, on the user's clock.
#[derive(Debug, Clone, Copy)]
pub struct ExploringTime {
    /// The longest.
    budget: Duration,
    /// The longest where a failure was found by then.
    once_found: Duration,
}

impl ExploringTime {
    /// All of a budget, whatever is found.
    pub fn whole(budget: Duration) -> Self {
        Self {
            budget,
            once_found: budget,
        }
    }

    /// A budget whose last quarter is kept for shrinking, if there is anything to shrink.
    pub fn before_shrinking(budget: Duration) -> Self {
        Self {
            budget,
            once_found: budget * 3 / 4,
        }
    }

    /// Whether it is over after so long; `found` is asked only where the answer rests on it.
    pub fn is_over(self, elapsed: Duration, found: impl FnOnce() -> bool) -> bool {
        elapsed >= self.budget || (elapsed >= self.once_found && found())
    }
}

/// When an exploration ends.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub time: ExploringTime,
    /// After so many schedules; `None` for no limit but time.
    pub schedules: Option<u64>,
    /// After so many plans of which all schedules were played; `None` for no limit but time.
    pub plans: Option<u64>,
    /// How many threads explore.
    pub threads: usize,
    /// An advisory anomaly that counts as a failure too.
    pub also: Option<&'static str>,
}

/// A failure, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFailure {
    /// How many schedules show it.
    pub count: u64,
    /// The lowest seed of these.
    pub seed: u64,
    pub scheduler: Scheduler,
    /// Why it is one in that schedule, in words.
    pub why: String,
}

/// What was explored.
#[derive(Debug, Clone, Default)]
pub struct Exploration {
    /// Schedules that were played to their end.
    pub schedules: u64,
    /// How long it took.
    pub took: Duration,
    /// Plans of which every schedule up to the bound was played; `None` where schedules are drawn.
    pub exhausted: Option<u64>,
    /// What they exercised.
    pub coverage: Coverage,
    /// What they show.
    pub failures: BTreeMap<Signature, FoundFailure>,
    /// Why it ended before its time, if the harness failed.
    error: Option<String>,
}

impl Exploration {
    /// Schedules a second.
    pub fn rate(&self) -> f64 {
        self.schedules as f64 / self.took.as_secs_f64().max(1e-9)
    }
}

/// The probability that a failure of this frequency, from 0 to 1, shows in none of so many schedules, if each is drawn
/// independently: (1 - p)^n.
pub fn missed(frequency: f64, schedules: u64) -> f64 {
    (1.0 - frequency).powf(schedules as f64)
}

/// How long a thread waits that has nothing to play while others have.
const MOMENT: Duration = Duration::from_micros(200);

/// An exploration that goes on.
struct RunningExploration<'a> {
    space: &'a ResolvedSpace,
    limits: Limits,
    begun: Instant,
    stop: &'a AtomicBool,
    turns: ScheduleQueue<'a>,
    tally: Mutex<Exploration>,
}

/// Explores until a limit is reached, or `stop` becomes true. `tell` is called every [`TELL`] with what was explored so
/// far.
///
/// # Errors
/// If a schedule cannot be simulated, which names its seed, or the corpus cannot be written.
pub fn explore(
    (space, shard): (&ResolvedSpace, Shard),
    mut corpus: Option<&mut Corpus>,
    limits: Limits,
    stop: &AtomicBool,
    mut tell: impl FnMut(&Exploration),
) -> Result<Exploration> {
    let begun = Instant::now();
    let steps = match space.space.search {
        Search::Pct { .. } => steps(space)?,
        Search::Walk | Search::Exhaustive { .. } => 0,
    };
    let exploration = RunningExploration {
        space,
        limits,
        begun,
        stop,
        turns: ScheduleQueue::new(
            (
                &space.space,
                shard,
                corpus.as_deref().map(Corpus::done).unwrap_or_default(),
            ),
            (limits.schedules, limits.plans),
            (limits.threads, steps),
        ),
        tally: Mutex::new(Exploration {
            coverage: Coverage::new(),
            ..Exploration::default()
        }),
    };
    thread::scope(|scope| -> Result<()> {
        let all = &exploration;
        let threads: Vec<_> = (0..limits.threads)
            .map(|number| scope.spawn(move || all.work(number)))
            .collect();
        let mut told = Instant::now();
        while threads.iter().any(|thread| !thread.is_finished()) {
            thread::sleep(LOOK);
            if told.elapsed() < TELL {
                continue;
            }
            told = Instant::now();
            tell(&all.so_far());
            if let Some(corpus) = &mut corpus {
                corpus.reached(shard, all.turns.until())?;
            }
        }
        Ok(())
    })?;
    if let Some(corpus) = corpus {
        corpus.reached(shard, exploration.turns.until())?;
    }
    let explored = exploration.so_far();
    match explored.error {
        Some(error) => bail!(error),
        None => Ok(explored),
    }
}

impl RunningExploration<'_> {
    fn tally(&self) -> MutexGuard<'_, Exploration> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn so_far(&self) -> Exploration {
        Exploration {
            took: self.begun.elapsed(),
            exhausted: self.turns.exhausted(),
            ..self.tally().clone()
        }
    }

    fn over(&self) -> bool {
        let found = || !self.tally().failures.is_empty();
        self.stop.load(Ordering::SeqCst) || self.limits.time.is_over(self.begun.elapsed(), found)
    }

    fn work(&self, thread: usize) {
        while !self.over() {
            let turn = match self.turns.next(thread) {
                QueueStep::Play(turn) => turn,
                QueueStep::Wait => {
                    thread::sleep(MOMENT);
                    continue;
                }
                QueueStep::Over => return,
            };
            match self.play(&turn) {
                Ok(steps) => self.turns.played(thread, &turn, steps),
                Err(error) => {
                    let Schedule { seed, scheduler } = turn;
                    self.tally().error = Some(format!(
                        "the schedule with seed {seed} ({scheduler:?}) could not be simulated: {error:#}"
                    ));
                    self.stop.store(true, Ordering::SeqCst);
                    return;
                }
            }
        }
    }

    /// Plays a schedule and counts what it shows; how many steps were chosen in it.
    fn play(&self, turn: &Schedule) -> Result<u32> {
        let scheduler = turn.scheduler.clone();
        let case = self.space.case(turn.seed).changed(|plan| Plan { scheduler, ..plan });
        // The panic's own message is printed already; the error adds which schedule it was.
        let record = catch_unwind(AssertUnwindSafe(|| simulation::record_steps(&case)));
        let (record, steps) = record.unwrap_or_else(|_| bail!("it panicked"))?;
        let results = zooquake_checkers::check(&record);
        let mut coverage = Coverage::new();
        coverage.count(&record, &results);
        let failures = failure::signatures(&record, &results.anomalies, self.limits.also);
        let mut tally = self.tally();
        tally.schedules += 1;
        tally.coverage.add(&coverage);
        for (signature, why) in failures {
            let found = tally.failures.entry(signature).or_insert_with(|| FoundFailure {
                count: 0,
                seed: turn.seed,
                scheduler: turn.scheduler.clone(),
                why: why.clone(),
            });
            found.count += 1;
            if (turn.seed, &turn.scheduler) < (found.seed, &found.scheduler) {
                (found.seed, found.scheduler, found.why) = (turn.seed, turn.scheduler.clone(), why);
            }
        }
        Ok(steps)
    }
}

#[cfg(test)]
mod tests;
