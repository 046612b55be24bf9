//! Ensembles for the runs of a campaign: backends, recipes, folder of runs and Ctrl-C.

use super::attempt::{self, CampaignAttempt};
use super::orphans;
use super::run_outcome::{self, RunOutcome};
use crate::backends::{self, Capacity, Connection, Fleet};
use crate::calendar;
use crate::planning::case::Case;
use crate::planning::spec::RunSpec;
use crate::planning::{names, reproduction};
use crate::run::folder::Folder;
use crate::run::interruption::unless_interrupted;
use crate::run::slot::Slot;
use crate::run::{FinishedRun, RunOrder, execute};
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::sync::watch;
use zooquake_checkers::sample::{self, Sample};

/// Runs cases, and measures what came of them.
pub trait Runner {
    /// Runs a case in this slot. Several may go on at once.
    ///
    /// # Errors
    /// If the folder of runs cannot be read; a run at which the harness failed is a [`RunOutcome`].
    fn run(&self, case: &Case, slot: Slot) -> impl Future<Output = Result<RunOutcome>>;

    /// The measures of a run, by the name of its folder.
    ///
    /// # Errors
    /// If what it recorded cannot be read.
    fn measure(&self, run: &str) -> Result<Sample>;

    /// Whether the user wants it to stop.
    fn stopped(&self) -> bool;
}

/// Attempts a place of a campaign by this case; `None` if it was stopped before it proved anything.
///
/// # Errors
/// If [`Runner::run`] fails.
pub async fn attempt<P: attempt::CampaignPlace>(
    runner: &impl Runner,
    place: P,
    (case, slot): (&Case, Slot),
) -> Result<Option<CampaignAttempt<P>>> {
    let line = reproduction::drawn(case);
    let (begun, clock) = (calendar::now(), Instant::now());
    let ran = runner.run(case, slot).await?;
    Ok(CampaignAttempt::new(
        place,
        case.plan().seed,
        (begun, clock.elapsed()),
        ran,
        line.unwrap_or_default(),
    ))
}

/// Removes the runs in a folder that are none of the claimed ones, with what they left running: what a campaign left
/// that was killed. `again` is what follows of it.
///
/// # Errors
/// If one of them still goes on, or something cannot be removed.
pub async fn clear(place: &dyn Connection, runs: &Path, claimed: &BTreeSet<&str>, again: &str) -> Result<()> {
    std::fs::create_dir_all(runs).with_context(|| format!("making the folder {}", runs.display()))?;
    let left = orphans::unclaimed(runs, claimed)?;
    orphans::clear(&*place.cleaner(), runs, &left).await?;
    for name in left {
        eprintln!("removed the run {name}, which did not come to its end: {again}");
    }
    Ok(())
}

/// Backends that are ready, and what their runs have in common.
pub struct Ensembles {
    fleet: Box<dyn Fleet>,
    /// The folder that recipes are read from, if not from the one that their plan names.
    recipe: Option<PathBuf>,
    /// The folder of runs.
    out: PathBuf,
    /// Is sent the folder of each run when that is made.
    begun: Option<watch::Sender<Option<Folder>>>,
    /// Whether no progress of single runs is printed.
    quiet: bool,
    interrupt: watch::Receiver<bool>,
}

impl Ensembles {
    /// Prepares the backends of each ZooKeeper asked for; `None` is the project's choice.
    ///
    /// # Errors
    /// If an image cannot be prepared.
    pub async fn prepare<'a>(
        place: Box<dyn Connection>,
        asked: impl IntoIterator<Item = Option<&'a str>>,
        out: PathBuf,
        interrupt: watch::Receiver<bool>,
    ) -> Result<Self> {
        let zookeepers = asked.into_iter().map(|name| name.map(String::from)).collect();
        Ok(Self {
            fleet: unless_interrupted(&interrupt, place.prepare(zookeepers)).await?,
            recipe: None,
            out,
            begun: None,
            quiet: false,
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

    /// The same, with no progress of single runs where several are to go on at once.
    pub fn for_jobs(self, jobs: usize) -> Self {
        Self {
            quiet: jobs > 1,
            ..self
        }
    }

    /// How much of them the machine that they are on has room for.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub async fn capacity(&self) -> Result<Capacity> {
        self.fleet.capacity().await
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
            let mut workload = names::workload(name).map_err(|why| anyhow!(why))?;
            self.fleet.pin(self.recipe.as_deref(), &mut workload).await?;
        }
        Ok(())
    }

    /// Executes a case by itself.
    ///
    /// # Errors
    /// If the harness fails.
    pub async fn execute(&self, case: &Case, keep: bool) -> Result<FinishedRun> {
        execute(self.order(case, (keep, Slot::default())).await?).await
    }

    /// Executes a case as one of many.
    ///
    /// # Errors
    /// If the folder of runs cannot be read or written; a run at which the harness failed is a [`RunOutcome`].
    pub async fn attempt(&self, case: &Case) -> Result<RunOutcome> {
        run_outcome::attempt(self.order(case, (false, Slot::default())).await?).await
    }

    async fn order(&self, case: &Case, (keep, slot): (bool, Slot)) -> Result<RunOrder> {
        let mut plan = case.plan().clone();
        let pinning = self.fleet.pin(self.recipe.as_deref(), &mut plan.workload);
        let recipe = unless_interrupted(&self.interrupt, pinning).await?;
        Ok(RunOrder {
            backend: backends::backend(&*self.fleet, case.backend(), &plan)?,
            case: case.replanned(plan),
            recipe,
            out: self.out.clone(),
            keep,
            quiet: self.quiet,
            slot,
            begun: self.begun.clone(),
            interrupt: self.interrupt.clone(),
        })
    }
}

impl Runner for Ensembles {
    async fn run(&self, case: &Case, slot: Slot) -> Result<RunOutcome> {
        let order = self.order(case, (false, slot)).await?;
        // A task of its own: what keeps one run's loop busy delays no other run's.
        let run = tokio::spawn(run_outcome::attempt(order)).await;
        run.context("the run's task did not come to its end")?
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
    use std::cell::RefCell;
    use zooquake_checkers::{Results, Verdict};

    /// Answers from a script, and keeps what it was asked. Runs that go on at once are over in turn.
    pub struct Script {
        /// What was run.
        pub ran: RefCell<Vec<Case>>,
        /// What comes of the run of this number, from 1.
        pub answer: fn(usize) -> RunOutcome,
        /// It is stopped once so many runs are over.
        pub stop_after: usize,
    }

    impl Script {
        /// A script from its beginning.
        pub fn new(answer: fn(usize) -> RunOutcome, stop_after: usize) -> Self {
            Self {
                ran: RefCell::default(),
                answer,
                stop_after,
            }
        }
    }

    impl Runner for Script {
        async fn run(&self, case: &Case, _slot: Slot) -> Result<RunOutcome> {
            self.ran.borrow_mut().push(case.clone());
            let number = self.ran.borrow().len();
            // As many as may go on at once are begun before one of them is over.
            tokio::task::yield_now().await;
            Ok((self.answer)(number))
        }

        fn measure(&self, _run: &str) -> Result<Sample> {
            Ok(Sample {
                units: 1,
                ..Sample::default()
            })
        }

        fn stopped(&self) -> bool {
            self.ran.borrow().len() >= self.stop_after
        }
    }

    /// A run with this verdict.
    pub fn judged(verdict: Verdict) -> RunOutcome {
        RunOutcome::Judged {
            run: "run".into(),
            results: Box::new(Results {
                verdict,
                ..Results::default()
            }),
        }
    }
}
