//! A whole run: bring up, work and break, heal and recover, gather evidence, check, report, clear away.

use super::cluster::{RunCluster, RunPlace, bring_up, clear};
use super::folder::{CONTAINERS, Folder, RECIPE};
use super::interruption::within_grace;
use super::network;
use super::progress::{Progress, intent};
use super::provenance::ProvenanceNotes;
use super::recorder::Recorder;
use super::server_evidence::{Samples, transactions};
use super::shell::Shell;
use super::slot::Slot;
use super::stage::Stage;
use super::store::Store;
use crate::faults::nemesis::NemesisSchedule;
use crate::judge;
use crate::planning::case::Case;
use anyhow::{Context, Result};
use fnv::FnvHasher;
use futures_util::FutureExt;
use serde_json::json;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};
use zooquake_backend::images::Source;
use zooquake_backend::{Backend, BackendFuture, Clock};
use zooquake_checkers::Results;
use zooquake_engine::{Conclusion, HistoryEntry};
use zooquake_history::plan::Plan;

/// What to run.
pub struct RunOrder {
    pub case: Case,
    /// The files of its recipe, if that is not built in; the run's folder keeps them.
    pub recipe: Option<Source>,
    /// Where it runs.
    pub backend: Arc<dyn Backend>,
    /// The folder of runs.
    pub out: PathBuf,
    /// Whether the cluster is left standing at the end.
    pub keep: bool,
    /// Whether no progress is printed.
    pub quiet: bool,
    /// Its room among the runs that go on at once.
    pub slot: Slot,
    /// Is sent the folder when that is made.
    pub begun: Option<watch::Sender<Option<Folder>>>,
    /// Becomes true when the user wants it to stop.
    pub interrupt: watch::Receiver<bool>,
}

/// A run that is over.
#[derive(Debug)]
pub struct FinishedRun {
    pub folder: Folder,
    pub results: Results,
}

/// Executes a plan.
///
/// # Errors
/// If the harness fails: the backend, a client that breaks the protocol, the disk. What was recorded by then is in the
/// folder; everything that was started is removed. What cannot be removed after the run does not fail it: a warning
/// names it.
pub async fn execute(order: RunOrder) -> Result<FinishedRun> {
    execute_in(Folder::create(&order.out, order.case.plan())?, order).await
}

/// Executes a plan in a folder that was made for its run.
///
/// # Errors
/// As [`execute`].
pub async fn execute_in(folder: Folder, order: RunOrder) -> Result<FinishedRun> {
    let (backend, interrupt) = (Arc::clone(&order.backend), order.interrupt.clone());
    let (done, outcome) = oneshot::channel();
    // Nobody waits for the outcome of a run that is dropped.
    let work = record(folder.clone(), order).map(|recorded| drop(done.send(recorded)));
    backend.drive(work.boxed()).await?;
    let recorded = outcome.await.context("the run ended without an outcome")??;
    // A check takes seconds, in which a thread of the runtime would keep other runs waiting.
    let judged = tokio::task::spawn_blocking(move || judge::judge(&folder).map(|results| (folder, results))).await;
    released(recorded.ended, &interrupt, &*backend.clock()).await;
    let (folder, results) = judged.context("the check did not come to its end")??;
    Ok(FinishedRun { folder, results })
}

/// A run whose history is complete and whose ensemble is gone.
pub(super) struct RecordedRun {
    /// What an interrupt does to it.
    _stage: Stage,
    /// Its room, until it is judged.
    _slot: Slot,
    /// Is ready when the claim on the run is gone.
    pub(super) ended: BackendFuture<'static, ()>,
}

/// Waits until the claim on a run is gone; that it cannot be given up is a warning.
pub(super) async fn released(ended: BackendFuture<'static, ()>, interrupt: &watch::Receiver<bool>, clock: &dyn Clock) {
    if let Err(error) = within_grace(interrupt, clock, ended).await {
        eprintln!("zooquake: {error:#}");
    }
}

/// Records a run in its folder, up to the removal of its ensemble.
pub(super) async fn record(folder: Folder, mut order: RunOrder) -> Result<RecordedRun> {
    order.case = order.case.changed(Plan::of_new_run);
    let stage = match order.quiet {
        true => Stage::default(),
        false => Stage::begin("clearing away what was started, then checking what was recorded"),
    };
    let slot = order.slot.clone();
    folder.write_json("plan.json", order.case.plan())?;
    if let Some(recipe) = &order.recipe {
        recipe.write(&folder.file(RECIPE))?;
    }
    if let Some(begun) = &order.begun {
        begun.send_replace(Some(folder.clone()));
    }
    let run = id(&folder, order.case.plan().seed);
    let backend = Arc::clone(&order.backend);
    folder.write_json(CONTAINERS, &backend.finds(&run))?;
    let (interrupt, clock) = (order.interrupt.clone(), backend.clock());
    let history = folder.file("history.jsonl");
    let remove_dead = || within_grace(&interrupt, &*clock, backend.remove_dead(&run));
    let claim = match within_grace(&interrupt, &*clock, backend.claim(&run, Some(&history))).await {
        Ok(claim) => claim,
        Err(error) => {
            return Err(also(error, remove_dead().await));
        }
    };
    let through = attempt(order, &Store::Folder(folder.clone()), &run, &stage).await;
    let through = through.with_context(|| format!("the run {} did not come to its end", folder.path.display()));
    let ended = claim.end();
    let removed = match &through {
        Ok(Remainder::Nothing) => Ok(()),
        _ => remove_dead().await,
    };
    match through {
        Ok(_) => {
            removed.unwrap_or_else(|error| eprintln!("zooquake: {error:#}"));
            Ok(RecordedRun {
                _stage: stage,
                _slot: slot,
                ended,
            })
        }
        Err(error) => {
            released(ended, &interrupt, &*clock).await;
            Err(also(error, removed))
        }
    }
}

/// The first error is what the user needs; one of the removal is added to it.
fn also(error: anyhow::Error, removed: Result<()>) -> anyhow::Error {
    match removed {
        Ok(()) => error,
        Err(also) => error.context(format!("besides, clearing away failed: {also:#}")),
    }
}

/// What a run has left on its backend when its history is complete.
pub(super) enum Remainder {
    /// Nothing but its claim.
    Nothing,
    /// What had been started when the user broke the bring-up off, or could not be removed at once; requests to the
    /// backend may still be under way.
    PartialCluster,
}

/// The id of a run, in the names and labels of what it starts: from its seed, its folder, and the process that runs it,
/// so that two runs of one plan have two.
fn id(folder: &Folder, seed: u64) -> String {
    let mut hasher = FnvHasher::default();
    let path = folder.path.canonicalize().unwrap_or_else(|_| folder.path.clone());
    (seed, path, std::process::id()).hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

/// Runs up to the last piece of evidence, and clears the cluster away: once, or once for each scene. The order's slot
/// is given back before the last cluster of containers is cleared away.
pub(super) async fn attempt(order: RunOrder, store: &Store, run: &str, stage: &Stage) -> Result<Remainder> {
    let (plan, capabilities) = (order.case.plan(), order.case.backend().capabilities);
    if !capabilities.zookeeper {
        network::attempt(&order.case, store, order.quiet)?;
        return Ok(Remainder::Nothing);
    }
    let clock = order.backend.clock();
    let mut progress = Progress::new(order.case.backend(), order.quiet);
    progress.say(&format!(
        "{} in {}: {}",
        plan.workload.name(),
        store.shown(),
        intent(&order.case)
    ));
    let (mut history, mut sampled, mut left) = (None, Vec::new(), Remainder::Nothing);
    let schedules = NemesisSchedule::from_plan(plan, order.case.faults());
    let mut provenance = ProvenanceNotes::begin(plan, store)?;
    let all = schedules.len();
    for (number, schedule) in (1..).zip(schedules) {
        if let NemesisSchedule::Scene(scene) = &schedule {
            progress.say(&format!("scene {number} of {all}: {}", scene.name));
        }
        let begun = clock.now();
        let up = bring_up_uninterrupted(&order, &schedule, store, run).await?;
        let recorder = match &mut history {
            Some(recorder) => recorder,
            // The history counts from when the first ensemble is up.
            none => none.insert(Recorder::begin(store.history()?, clock.clone())?),
        };
        let Some(up) = up else {
            recorder.record(HistoryEntry::named("run", "phase", json!("interrupted")))?;
            return Ok(Remainder::PartialCluster);
        };
        if number == 1 {
            up.record(recorder)?;
            provenance.engine(up.engine)?;
        }
        let place = up.cluster;
        let samples = Samples::start(&place, recorder.begun());
        let said = (recorder, &mut progress, stage);
        let mut shell = Shell::new(place.clone(), (plan, schedule), said, order.interrupt.clone(), begun)?;
        let conclusion = shell.run().await?;
        keep_evidence(&order, store, &place, &conclusion).await?;
        sampled.extend(samples.stop().await);
        store.samples(&sampled)?;
        provenance.servers(&sampled)?;
        drop(shell);
        let interrupted = matches!(conclusion, Conclusion::Interrupted);
        let last = interrupted || number == all;
        let keep = order.keep && last;
        if last {
            progress.end();
            // What is left to do is the engine's work, and a check. Of a simulated run the check is half of the work.
            if capabilities.containers {
                order.slot.give_back();
            }
        }
        if let Err(error) = within_grace(&order.interrupt, &*clock, clear(&*place.cluster, keep)).await {
            eprintln!("zooquake: {error:#}");
            left = Remainder::PartialCluster;
        }
        if interrupted {
            return Ok(left);
        }
    }
    // Where there are clients the engine has recorded this phase, after its audit.
    if let (false, Some(recorder)) = (plan.scenes.is_empty(), &mut history) {
        recorder.record(HistoryEntry::named("run", "phase", json!("done")))?;
    }
    Ok(left)
}

/// Brings a cluster up for a schedule; `None` if the user wants the run to stop before it is up.
async fn bring_up_uninterrupted(
    order: &RunOrder,
    schedule: &NemesisSchedule,
    store: &Store,
    run: &str,
) -> Result<Option<RunPlace>> {
    let mut interrupt = order.interrupt.clone();
    tokio::select! {
        biased;
        up = bring_up(order, schedule, store, run) => up.map(Some),
        _ = interrupt.wait_for(|stop| *stop) => Ok(None),
    }
}

/// Keeps what a cluster shows when its schedule is over: the tree, and its servers' transactions.
async fn keep_evidence(order: &RunOrder, store: &Store, place: &RunCluster, conclusion: &Conclusion) -> Result<()> {
    match conclusion {
        Conclusion::Audited(Ok(tree)) => store.tree(tree)?,
        Conclusion::Audited(Err(why)) => eprintln!("zooquake: the tree was not read: {why}"),
        Conclusion::Played | Conclusion::Interrupted => {}
    }
    // The transactions of a run have one order, which those of several ensembles do not have.
    if order.case.plan().scenes.is_empty() {
        store.transactions(transactions(place, order.interrupt.clone()).await)?;
    }
    Ok(())
}
