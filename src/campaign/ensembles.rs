//! Ensembles for the runs of a campaign: backends, recipes, folder of runs and Ctrl-C.

use super::again;
use super::attempt::{self, Attempt};
use super::backends::{Backends, Place};
use super::leftover;
use super::ran::{self, Ran};
use super::spec::RunSpec;
use crate::calendar;
use crate::naming;
use crate::run::folder::Folder;
use crate::run::patience::unless_interrupted;
use crate::run::{Finished, Order, execute};
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::sync::watch;
use zooquake_backend::docker::DockerBackend;
use zooquake_backend::images::Source;
use zooquake_checkers::plan::{Plan, Workload};
use zooquake_checkers::sample::{self, Sample};

/// Runs specs, and measures what came of them.
pub trait Runner {
    /// Runs a spec.
    ///
    /// # Errors
    /// If the folder of runs cannot be read; a run at which the harness failed is a [`Ran`].
    fn run(&mut self, spec: &RunSpec) -> impl Future<Output = Result<Ran>>;

    /// The measures of a run, by the name of its folder.
    ///
    /// # Errors
    /// If what it recorded cannot be read.
    fn measure(&self, run: &str) -> Result<Sample>;

    /// Whether the user wants it to stop.
    fn stopped(&self) -> bool;
}

/// Attempts a place of a campaign by this spec, which has a seed; `None` if it was stopped before it proved anything.
///
/// # Errors
/// If [`Runner::run`] fails.
pub async fn attempt<P: attempt::Place>(
    runner: &mut impl Runner,
    place: P,
    spec: &RunSpec,
) -> Result<Option<Attempt<P>>> {
    let seed = spec.seed.unwrap_or_else(|| place.seed());
    let line = spec.plan().ok().and_then(|plan| again::drawn(&plan));
    let (begun, clock) = (calendar::now(), Instant::now());
    let ran = runner.run(spec).await?;
    let took = clock.elapsed();
    Ok(Attempt::new(place, seed, (begun, took), ran, line.unwrap_or_default()))
}

/// Removes the runs in a folder that are none of the claimed ones, with what they left running: what a campaign left that was
/// killed. `again` is what follows of it.
///
/// # Errors
/// If one of them still goes on, or something cannot be removed.
pub async fn clear(place: &Place, runs: &Path, claimed: &BTreeSet<&str>, again: &str) -> Result<()> {
    std::fs::create_dir_all(runs).with_context(|| format!("making the folder {}", runs.display()))?;
    let left = leftover::unclaimed(runs, claimed)?;
    leftover::clear(&*place.cleaner(), runs, &left).await?;
    for name in left {
        eprintln!("removed the run {name}, which did not come to its end: {again}");
    }
    Ok(())
}

/// Has the recipe of a workload, if that is not built in, run in the image of its present files, which are returned. They are read
/// from this folder, or else from the one that the workload names.
///
/// # Errors
/// If they are not those that the workload names, or the image cannot be made.
pub async fn pin(engine: &DockerBackend, folder: Option<&Path>, workload: &mut Workload) -> Result<Option<Source>> {
    let Some(recipe) = &mut workload.recipe else {
        return Ok(None);
    };
    let folder = folder.map_or_else(|| PathBuf::from(&recipe.folder), Path::to_path_buf);
    let source = Source::of(&folder, recipe)?;
    let changed = source.differences(&recipe.files);
    ensure!(
        changed.is_empty(),
        "{} is not what was planned: {}",
        folder.display(),
        changed.join(", ")
    );
    let ran = recipe.digest.take();
    let digest = engine.recipe(&workload.variant, recipe, &source).await?;
    if let Some(ran) = ran.filter(|ran| *ran != digest) {
        eprintln!("not the image that ran: {ran} then, {digest} now");
    }
    recipe.digest = Some(digest);
    Ok(Some(source))
}

/// Backends that are ready, and what their runs have in common.
pub struct Ensembles {
    backends: Backends,
    /// The folder that recipes are read from, if not from the one that their plan names.
    recipe: Option<PathBuf>,
    /// The folder of runs.
    out: PathBuf,
    /// Is sent the folder of each run when that is made.
    begun: Option<watch::Sender<Option<Folder>>>,
    interrupt: watch::Receiver<bool>,
}

impl Ensembles {
    /// Prepares the backends of each ZooKeeper asked for; `None` is the project's choice.
    ///
    /// # Errors
    /// If an image cannot be prepared.
    pub async fn prepare<'a>(
        place: Place,
        asked: impl IntoIterator<Item = Option<&'a str>>,
        out: PathBuf,
        interrupt: watch::Receiver<bool>,
    ) -> Result<Self> {
        Ok(Self {
            backends: unless_interrupted(&interrupt, place.prepare(asked)).await?,
            recipe: None,
            out,
            begun: None,
            interrupt,
        })
    }

    /// The same, with recipes read from this folder, such as what a run has kept of one.
    pub fn with_recipe(self, recipe: Option<PathBuf>) -> Self {
        Self { recipe, ..self }
    }

    /// The same; the folder of each run is sent there when it is made.
    pub fn with_news(self, begun: Option<watch::Sender<Option<Folder>>>) -> Self {
        Self { begun, ..self }
    }

    /// Prepares the images of these specs' recipes, so that what is wrong with one is known before the first run.
    ///
    /// # Errors
    /// If one cannot be.
    pub async fn prepare_recipes<'a>(&self, specs: impl IntoIterator<Item = &'a RunSpec>) -> Result<()> {
        for name in specs
            .into_iter()
            .map(|spec| spec.workload.as_str())
            .collect::<BTreeSet<_>>()
        {
            let mut workload = naming::workload(name).map_err(|why| anyhow!(why))?;
            self.pin(&mut workload).await?;
        }
        Ok(())
    }

    async fn pin(&self, workload: &mut Workload) -> Result<Option<Source>> {
        match (&self.backends, &workload.recipe) {
            (Backends::Docker { engine, .. }, _) => pin(engine, self.recipe.as_deref(), workload).await,
            (Backends::Sim, None) => Ok(None),
            (Backends::Sim, Some(_)) => bail!("a simulated ensemble cannot run {}", workload.name()),
        }
    }

    /// Executes a plan by itself.
    ///
    /// # Errors
    /// If the harness fails.
    pub async fn execute(&self, plan: &Plan, keep: bool) -> Result<Finished> {
        execute(self.order(plan.clone(), keep).await?).await
    }

    /// Executes a plan as one of many.
    ///
    /// # Errors
    /// If the folder of runs cannot be read or written; a run at which the harness failed is a [`Ran`].
    pub async fn attempt(&self, plan: &Plan) -> Result<Ran> {
        ran::attempt(self.order(plan.clone(), false).await?).await
    }

    async fn order(&self, mut plan: Plan, keep: bool) -> Result<Order> {
        let recipe = unless_interrupted(&self.interrupt, self.pin(&mut plan.workload)).await?;
        Ok(Order {
            backend: self.backends.of(&plan)?,
            plan,
            recipe,
            out: self.out.clone(),
            keep,
            quiet: false,
            begun: self.begun.clone(),
            interrupt: self.interrupt.clone(),
        })
    }
}

impl Runner for Ensembles {
    async fn run(&mut self, spec: &RunSpec) -> Result<Ran> {
        let plan = spec.plan().map_err(|why| anyhow!(why))?;
        ran::attempt(self.order(plan, spec.keep).await?).await
    }

    fn measure(&self, run: &str) -> Result<Sample> {
        let folder = Folder {
            path: self.out.join(run),
        };
        Ok(sample::sample(&folder.load()?))
    }

    fn stopped(&self) -> bool {
        *self.interrupt.borrow()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use zooquake_checkers::{Results, Verdict};

    /// Answers from a script, and keeps what it was asked.
    pub struct Script {
        /// What was run.
        pub ran: Vec<RunSpec>,
        /// What comes of the run of this number, from 1.
        pub answer: fn(usize) -> Ran,
        /// It is stopped once so many runs are over.
        pub stop_after: usize,
    }

    impl Script {
        /// A script from its beginning.
        pub fn new(answer: fn(usize) -> Ran, stop_after: usize) -> Self {
            Self {
                ran: vec![],
                answer,
                stop_after,
            }
        }
    }

    impl Runner for Script {
        async fn run(&mut self, spec: &RunSpec) -> Result<Ran> {
            self.ran.push(spec.clone());
            Ok((self.answer)(self.ran.len()))
        }

        fn measure(&self, _run: &str) -> Result<Sample> {
            Ok(Sample {
                units: 1,
                ..Sample::default()
            })
        }

        fn stopped(&self) -> bool {
            self.ran.len() >= self.stop_after
        }
    }

    /// A run with this verdict.
    pub fn judged(verdict: Verdict) -> Ran {
        Ran::Judged {
            run: "run".into(),
            results: Box::new(Results {
                verdict,
                ..Results::default()
            }),
        }
    }
}
