//! The failures of an exploration as runs: written, shrunk and confirmed.

use super::drive::{Exploration, FoundFailure};
use super::failure::Signature;
use super::space::ResolvedSpace;
use crate::confirm::{Confirmation, Confirmer};
use crate::run::simulation;
use crate::shrink::strategy::{SimulatedEnsembles, write_run};
use crate::shrink::{PlayedCase, Shrinker, Size};
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use zooquake_history::plan::Plan;

/// Of each anomaly so many shapes are written as runs and shrunk; the others are counted.
const WRITTEN: usize = 3;

/// How long one failure is shrunk at most.
const SHRINKING: Duration = Duration::from_secs(20);

/// What is left of an exploration's time, which its failures share evenly for being shrunk.
pub struct ShrinkingTime {
    until: Instant,
    failures: usize,
}

impl ShrinkingTime {
    pub fn new(until: Instant, failures: usize) -> Self {
        Self { until, failures }
    }

    /// When the shrinking of the next failure ends.
    pub fn next(&mut self) -> Instant {
        let now = Instant::now();
        let left = self.until.saturating_duration_since(now);
        let share = left / u32::try_from(self.failures.max(1)).unwrap_or(u32::MAX);
        self.failures = self.failures.saturating_sub(1);
        now + share.min(SHRINKING)
    }
}

/// A failure, and where it is written.
#[derive(Debug, Serialize)]
pub struct ExploredFailure {
    /// Its identity.
    #[serde(flatten)]
    pub signature: Signature,
    /// How many schedules show it.
    pub schedules: u64,
    /// The lowest seed of these.
    pub seed: u64,
    pub why: String,
    /// The run of that schedule; `None` if enough of its anomaly are written.
    pub run: Option<PathBuf>,
    /// The run of the smallest plan that still fails the same way.
    pub shrunk: Option<ShrunkRun>,
    /// What came of it on real ensembles; `None` if it was not played there, or not to an end.
    pub confirmation: Option<Confirmation>,
}

/// The run of a shrunk plan.
#[derive(Debug, Serialize)]
pub struct ShrunkRun {
    /// Its folder.
    pub run: PathBuf,
    /// How large the plan is.
    #[serde(flatten)]
    pub size: Size,
    /// How many runs were tried.
    pub tried: u64,
}

/// Writes the failures as runs: of each anomaly the first few shapes, shrunk too, as far as that goes until a moment.
///
/// # Errors
/// If a schedule cannot be simulated, or a run cannot be written.
pub fn write(
    space: &ResolvedSpace,
    explored: &Exploration,
    out: &Path,
    (until, stop): (Instant, &AtomicBool),
) -> Result<Vec<ExploredFailure>> {
    let mut shapes: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for signature in explored.failures.keys() {
        *shapes.entry((signature.known, &signature.anomaly)).or_default() += 1;
    }
    let mut time = ShrinkingTime::new(until, shapes.values().map(|shapes| WRITTEN.min(*shapes)).sum());
    let mut written: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    let mut failures = Vec::new();
    // Those that are not known first, and the most frequent shape of each.
    let mut found: Vec<(&Signature, &FoundFailure)> = explored.failures.iter().collect();
    found.sort_by_key(|(signature, found)| (signature.known, std::cmp::Reverse(found.count)));
    for (signature, found) in found {
        let count = written.entry((signature.known, &signature.anomaly)).or_default();
        *count += 1;
        let mut failure = ExploredFailure {
            signature: signature.clone(),
            schedules: found.count,
            seed: found.seed,
            why: found.why.clone(),
            run: None,
            shrunk: None,
            confirmation: None,
        };
        if *count <= WRITTEN {
            let scheduler = found.scheduler.clone();
            let case = space.case(found.seed).changed(|plan| Plan { scheduler, ..plan });
            failure.run = Some(simulation::run(&case, out)?.folder.path);
            progress!("shrinking {} of seed {}", signature.anomaly, found.seed);
            let mut shrinker = Shrinker::new(signature.wanted(), SimulatedEnsembles, time.next(), stop);
            shrinker.find(&case, 0)?;
            let (smallest, tried) = shrinker.shrink()?;
            if let Some(PlayedCase { case, record, .. }) = smallest {
                failure.shrunk = Some(ShrunkRun {
                    run: write_run(case, failure.run.as_deref(), out)?,
                    size: Size::new(&record),
                    tried,
                });
            }
        }
        failures.push(failure);
    }
    Ok(failures)
}

/// Plays the shrunk plans, and those before they were shrunk, on real ensembles, until the user stops it.
///
/// # Errors
/// As [`Confirmer::confirm`].
pub async fn confirm(confirmer: &Confirmer, failures: &mut [ExploredFailure]) -> Result<()> {
    for failure in failures {
        if let Some(shrunk) = &failure.shrunk {
            let (from, wanted) = (failure.run.as_deref(), failure.signature.wanted());
            failure.confirmation = confirmer.confirm(&shrunk.run, from, &wanted).await?;
        }
    }
    Ok(())
}
