//! The suite tried on bugs that are known: each planted bug is explored on simulated ensembles, or networks, until the
//! anomaly shows that it stands for, and the recipe or protocol without it is played under the same faults and seeds,
//! which must show none.

mod planted_bug;
mod protocols;
#[cfg(test)]
mod tests;

use crate::campaign::shard::Shard;
use crate::explore::drive::{self, Exploration, ExploringTime, Limits};
use crate::explore::space::{ResolvedSpace, Search, Space};
use crate::planning::case::Case;
use crate::planning::spec;
use crate::run::simulation;
use crate::shrink::strategy::SimulatedEnsembles;
use crate::shrink::{PlayedCase, Shrinker, Size, WantedAnomaly};
use anyhow::{Error, Result};
pub use planted_bug::PlantedBug;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zooquake_history::operation;
use zooquake_workloads::recipes::planted::PlantedVariant;

/// After so many schedules the exploration looks whether the anomaly was among them.
const CHUNK: u64 = 16;

/// Operations of each client in a schedule, of a family that grants: they wait for each other, and a grant is held for
/// long.
const GRANT_OPS: u64 = 4;

/// The same of others, so that there is something to do when a window strikes.
const OPS: u64 = 8;

/// Windows of faults in a schedule of a bug that shows under faults.
const WINDOWS: usize = 2;

/// How bugs are tried.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// How long one bug is explored at most, and its recipe without it.
    pub budget: Duration,
    /// How long a schedule that shows it is shrunk at most.
    pub shrinking: Duration,
    /// The recipe without the bug is played as often as the one with it, but at least so often.
    pub twin: u64,
    /// The seed of the first schedule.
    pub seed: u64,
    /// Threads that explore.
    pub threads: usize,
    /// Ends all when it becomes true.
    pub stop: &'a AtomicBool,
}

/// What became of a planted bug.
#[derive(Debug)]
pub struct BugOutcome {
    /// The bug.
    pub planted: PlantedBug,
    /// Schedules of it that were played.
    pub schedules: u64,
    /// How long they took, without shrinking.
    pub took: Duration,
    /// All anomalies that they showed, but advisory ones that are not expected.
    pub found: BTreeSet<String>,
    /// The first schedule that shows the expected one; `None` if none did.
    pub shown: Option<ShownBug>,
    /// Schedules of the recipe without the bug that were played.
    pub twin_schedules: u64,
    /// Their anomalies, but advisory ones that the bug does not show and those that the recipe declares as known.
    pub noise: BTreeSet<String>,
}

/// A schedule that shows the expected anomaly.
#[derive(Debug)]
pub struct ShownBug {
    /// How many schedules there are up to it, in the order of their seeds.
    pub tried: u64,
    /// The anomaly, and the property that it violates.
    pub wanted: WantedAnomaly,
    /// The smallest case that shows it too.
    pub case: Case,
    /// How large that is.
    pub size: Size,
}

impl BugOutcome {
    /// Whether the expected anomaly was found, and nothing in the recipe without the bug, which was played.
    pub fn passed(&self) -> bool {
        self.shown.is_some() && self.twin_schedules > 0 && self.noise.is_empty()
    }

    /// `silent` or `noisy`: what the recipe without the bug was.
    pub fn twin(&self) -> &'static str {
        if self.noise.is_empty() { "silent" } else { "noisy" }
    }
}

/// The schedules of a planted bug, or of its recipe without it.
///
/// # Errors
/// If the variant cannot be simulated.
pub fn space(variant: String, planted: &PlantedVariant, seed: u64) -> Result<ResolvedSpace> {
    let space = Space {
        variant,
        servers: spec::SERVERS,
        clients: spec::CLIENTS,
        ops: if grants(planted) { GRANT_OPS } else { OPS },
        windows: if planted.faults.is_empty() { 0 } else { WINDOWS },
        faults: planted.faults.iter().map(|fault| fault.to_string()).collect(),
        seed,
        search: Search::Walk,
    };
    space.resolve().map_err(Error::msg)
}

fn grants(planted: &PlantedVariant) -> bool {
    operation::family(planted.twin.0).is_some_and(|family| family.grants)
}

/// Tries one bug.
///
/// # Errors
/// If a schedule cannot be simulated.
pub fn run(planted: PlantedBug, settings: Settings<'_>) -> Result<BugOutcome> {
    match planted {
        PlantedBug::Recipe(planted) => run_recipe(planted, settings),
        PlantedBug::Protocol(planted) => protocols::run(planted, settings),
    }
}

fn run_recipe(planted: &'static PlantedVariant, settings: Settings<'_>) -> Result<BugOutcome> {
    let space = space(planted.name(), planted, settings.seed)?;
    let begun = Instant::now();
    let (mut schedules, mut found, mut first) = (0, BTreeSet::new(), None);
    while first.is_none() && begun.elapsed() < settings.budget && !settings.stop.load(Ordering::SeqCst) {
        let next = space.clone().beginning_at(settings.seed.wrapping_add(schedules));
        let left = settings.budget.saturating_sub(begun.elapsed());
        let explored = explore(&next, (CHUNK, left), (planted, settings))?;
        schedules += explored.schedules;
        let shows = explored.failures.iter();
        let shows = shows.filter(|(signature, _)| signature.anomaly == planted.expected);
        first = shows
            .map(|(signature, found)| (found.seed, signature.property.clone()))
            .min();
        found.extend(explored.failures.into_keys().map(|signature| signature.anomaly));
    }
    let took = begun.elapsed();
    let shown = first.map(|(seed, property)| {
        let anomaly = planted.expected.to_string();
        let wanted = WantedAnomaly {
            property,
            anomaly,
            advisory: planted.advisory(),
        };
        let (case, size) = shrink(wanted.clone(), space.case(seed), settings)?;
        anyhow::Ok(ShownBug {
            tried: seed.wrapping_sub(settings.seed) + 1,
            wanted,
            case,
            size,
        })
    });
    let shown = shown.transpose()?;
    let (twin_schedules, noise) = twin(planted, schedules, settings)?;
    Ok(BugOutcome {
        planted: PlantedBug::Recipe(planted),
        schedules,
        took,
        found,
        shown,
        twin_schedules,
        noise,
    })
}

fn explore(
    space: &ResolvedSpace,
    (schedules, budget): (u64, Duration),
    (planted, settings): (&PlantedVariant, Settings<'_>),
) -> Result<Exploration> {
    let limits = Limits {
        time: ExploringTime::whole(budget),
        schedules: Some(schedules),
        plans: None,
        threads: settings.threads,
        also: planted.advisory().then_some(planted.expected),
    };
    drive::explore((space, Shard::default()), None, limits, settings.stop, |_| {})
}

/// The smallest case that shows the anomaly, with its size; the given one if nothing can be taken away in time.
fn shrink(wanted: WantedAnomaly, case: Case, settings: Settings<'_>) -> Result<(Case, Size)> {
    let mut shrinker = Shrinker::new(
        wanted,
        SimulatedEnsembles,
        Instant::now() + settings.shrinking,
        settings.stop,
    );
    shrinker.find(&case, 0)?;
    let (case, record) = match shrinker.shrink()? {
        (Some(PlayedCase { case, record, .. }), _) => (case, record),
        (None, _) => (case.clone(), simulation::record(&case)?),
    };
    Ok((case, Size::new(&record)))
}

/// Plays the recipe without the bug; with the number of schedules, and their anomalies.
fn twin(planted: &PlantedVariant, schedules: u64, settings: Settings<'_>) -> Result<(u64, BTreeSet<String>)> {
    let space = space(planted.twin(), planted, settings.seed)?;
    let most = schedules.max(settings.twin);
    let explored = explore(&space, (most, settings.budget), (planted, settings))?;
    let noise = explored.failures.into_keys().filter(|signature| !signature.known);
    Ok((explored.schedules, noise.map(|signature| signature.anomaly).collect()))
}
