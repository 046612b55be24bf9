//! Where a run's plan is shrunk: on simulated ensembles, on real ones, or first there and then here.

use super::{CasePlayer, PlayedCase, Shrinker, WantedAnomaly};
use crate::backends::{BackendKind, docker, sim};
use crate::campaign::ensembles::{Ensembles, Runner};
use crate::campaign::orphans;
use crate::campaign::run_outcome::RunOutcome;
use crate::planning::case::Case;
use crate::run::folder::Folder;
use crate::run::simulation;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use zooquake_history::plan::{On, Plan};

/// How many seeds more the plan of a run on a real ensemble is tried with on simulated ones.
const SEEDS: u64 = 50;

/// How often a plan is played again on a real ensemble before its failure counts as one that does not recur.
const TIMES: u64 = 4;

/// How long smaller plans are looked for on simulated ensembles, if nothing else is asked for.
const SIMULATED_BUDGET: Duration = Duration::from_secs(60);

/// The same on real ones, where each run takes about half a minute.
const REAL_BUDGET: Duration = Duration::from_secs(20 * 60);

/// The folder in which a run has kept its recipe, and the hashes of the files in it.
pub type KeptRecipe = (PathBuf, BTreeMap<String, String>);

/// What is shrunk, and how.
pub struct Strategy {
    /// The anomaly that is kept.
    pub wanted: WantedAnomaly,
    /// The name of the run.
    pub name: String,
    /// The case of that run.
    pub case: Case,
    /// The same, pinned to the witness of the anomaly.
    pub pinned: Case,
    /// How long to look for smaller plans, if not as usual.
    pub budget: Option<Duration>,
    /// The folder of runs.
    pub out: PathBuf,
    /// Becomes true when the user wants it to stop.
    pub stop: Arc<AtomicBool>,
    /// The same, for ensembles.
    pub interrupt: watch::Receiver<bool>,
}

/// The outcome of a shrinking.
pub struct SmallestPlan {
    /// The smallest plan that fails; `None` if none did.
    pub played: Option<PlayedCase>,
    /// How many runs were tried.
    pub tried: u64,
    /// Where the plans were played.
    pub backend: &'static BackendKind,
}

impl Strategy {
    /// Shrinks on simulated ensembles; if the failure of a real run does not show there, then, with `or_real`, on real
    /// ones. `recipe` asks for consent to run the plan there, and gives the recipe that the run has kept.
    ///
    /// # Errors
    /// If no plan can be played, or `recipe` fails.
    pub async fn on_simulated_first(
        &self,
        or_real: bool,
        recipe: impl AsyncFnOnce() -> Result<Option<KeptRecipe>>,
    ) -> Result<SmallestPlan> {
        let virtual_time = self.case.backend().capabilities.virtual_time;
        // A simulated run fails again as it did; a real one maybe with another seed, or pinned to what was going on.
        let seeds = if virtual_time { 0 } else { SEEDS };
        let cases = vec![(self.case.clone(), seeds), (self.pinned.clone(), SEEDS)];
        let budget = self.budget.unwrap_or(SIMULATED_BUDGET);
        let (played, tried) = self.through(SimulatedEnsembles, cases, budget).await?;
        let simulated = SmallestPlan {
            played,
            tried,
            backend: &sim::KIND,
        };
        let real = or_real && !virtual_time && !self.stop.load(Ordering::SeqCst);
        if simulated.played.is_some() || !real {
            return Ok(simulated);
        }
        progress!(
            "{} did not recur in {tried} simulated runs: it is shrunk on real ensembles",
            self.wanted.anomaly
        );
        match self.case.backend().connect_to(&self.case.plan().cluster.hosts).await {
            Ok(_) => self.on_real(recipe).await,
            Err(error) => {
                eprintln!("no real ensemble can be had: {error:#}");
                Ok(simulated)
            }
        }
    }

    /// Shrinks on real ensembles; `recipe` is as in [`Strategy::on_simulated_first`].
    ///
    /// # Errors
    /// If no engine answers, no plan can be played, or `recipe` fails.
    pub async fn on_real(&self, recipe: impl AsyncFnOnce() -> Result<Option<KeptRecipe>>) -> Result<SmallestPlan> {
        let recipe = recipe().await?;
        let replay = |case: &Case| {
            let mut plan = Plan {
                replay_of: Some(self.name.clone()),
                ..case.plan().clone()
            };
            if let (Some(own), Some((_, files))) = (&mut plan.workload.recipe, &recipe) {
                own.files.clone_from(files);
            }
            case.replanned(plan)
        };
        let cases = vec![(replay(&self.pinned), TIMES), (replay(&self.case), TIMES)];
        let cluster = &self.case.plan().cluster;
        let asked = [cluster.image.as_deref()];
        let place = self.case.backend().connect_to(&cluster.hosts).await?;
        let ensembles = Ensembles::prepare(place, asked, self.out.clone(), self.interrupt.clone()).await?;
        let ensembles = ensembles.with_recipe(recipe.as_ref().map(|(folder, _)| folder.clone()));
        let budget = self.budget.unwrap_or(REAL_BUDGET);
        progress!("for up to {} s, half a minute or more each run", budget.as_secs());
        let stage = RealEnsembles::new(ensembles, self.out.clone(), Handle::current());
        let (played, tried) = self.through(stage, cases, budget).await?;
        Ok(SmallestPlan {
            played,
            tried,
            backend: &docker::KIND,
        })
    }

    /// Shrinks the first of these cases that fails when it is played once and so many times more.
    async fn through<S: CasePlayer + Send + 'static>(
        &self,
        stage: S,
        cases: Vec<(Case, u64)>,
        budget: Duration,
    ) -> Result<(Option<PlayedCase>, u64)> {
        let (wanted, stop, until) = (self.wanted.clone(), Arc::clone(&self.stop), Instant::now() + budget);
        let shrinking = tokio::task::spawn_blocking(move || {
            let mut shrinker = Shrinker::new(wanted, stage, until, &stop);
            for (case, again) in cases {
                if shrinker.find(&case, again)? {
                    break;
                }
            }
            shrinker.shrink()
        });
        shrinking.await.context("the shrinking did not come to its end")?
    }
}

/// So many runs in a row that the harness fails are no accident.
const FAILURES: u32 = 3;

/// Real ensembles. Plans are played on a thread that may block, not on one of the runtime's.
pub struct RealEnsembles {
    ensembles: Ensembles,
    /// The folder of the runs of the ensembles.
    out: PathBuf,
    runtime: Handle,
    failed: u32,
}

impl RealEnsembles {
    /// These ensembles, which write to this folder; their futures run on this runtime.
    pub fn new(ensembles: Ensembles, out: PathBuf, runtime: Handle) -> Self {
        Self {
            ensembles,
            out,
            runtime,
            failed: 0,
        }
    }
}

impl CasePlayer for RealEnsembles {
    const AGAIN: u64 = 1;

    fn nth(&self, case: &Case, _: u64) -> Case {
        case.clone().changed(|plan| plan.placed(On::Docker))
    }

    fn play(&mut self, case: &Case) -> Result<Option<PlayedCase>> {
        if self.ensembles.stopped() {
            return Ok(None);
        }
        let run = match self.runtime.block_on(self.ensembles.attempt(case))? {
            RunOutcome::Interrupted => return Ok(None),
            RunOutcome::Failed { run, error } => {
                eprintln!("a plan could not be played: {error}");
                self.failed += 1;
                if self.failed == FAILURES {
                    bail!("the harness failed {FAILURES} times in a row, the last time so: {error}");
                }
                if let Some(run) = run {
                    orphans::remove(&Folder {
                        path: self.out.join(run),
                    })?;
                }
                return Ok(None);
            }
            RunOutcome::Judged { run, .. } => self.out.join(run),
        };
        self.failed = 0;
        Ok(Some(PlayedCase {
            case: case.clone(),
            record: Folder { path: run.clone() }.load()?,
            run: Some(run),
        }))
    }

    fn discard(&mut self, played: &PlayedCase) -> Result<()> {
        match &played.run {
            Some(run) => orphans::remove(&Folder { path: run.clone() }),
            None => Ok(()),
        }
    }
}

pub struct SimulatedEnsembles;

impl CasePlayer for SimulatedEnsembles {
    const AGAIN: u64 = 3;

    /// With a seed of its own: that of a plan draws other moments for what is left of it.
    fn nth(&self, case: &Case, number: u64) -> Case {
        case.clone().changed(|plan| Plan {
            on: On::Sim,
            seed: plan.seed.wrapping_add(number),
            ..plan
        })
    }

    fn play(&mut self, case: &Case) -> Result<Option<PlayedCase>> {
        Ok(Some(PlayedCase {
            case: case.clone(),
            record: simulation::record(case)?,
            run: None,
        }))
    }

    fn discard(&mut self, _: &PlayedCase) -> Result<()> {
        Ok(())
    }
}

/// Runs a shrunk case into a folder of its own, and gives that. `of` is the folder of the run that was shrunk.
///
/// # Errors
/// If the harness fails.
pub fn write_run(case: Case, of: Option<&Path>, out: &Path) -> Result<PathBuf> {
    let replay_of = of
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    let case = case.changed(|plan| Plan { replay_of, ..plan });
    Ok(simulation::run(&case, out)?.folder.path)
}
