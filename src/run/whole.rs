//! A whole run: bring up, work and break, heal and recover, gather evidence, check, report, clear away.

use super::folder::{CONTAINERS, Folder};
use super::interpreter::Interpreter;
use super::progress::Progress;
use super::recorder::{Entry, Recorder};
use super::scenes;
use super::script::Mode;
use super::slot::Slot;
use super::stage;
use crate::cluster::lease::Lease;
use crate::cluster::{BringUp, Cluster, DockerCluster, confinement, sweep};
use crate::faults::nemesis::Nemesis;
use crate::images::Images;
use crate::judge;
use crate::watcher::Watcher;
use anyhow::{Result, bail};
use futures_util::future::join_all;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use tokio::sync::watch;
use zooquake_checkers::Results;
use zooquake_checkers::evidence::ServerSample;
use zooquake_checkers::plan::Plan;

/// How often the servers are asked for their state.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);

/// What to run.
#[derive(Debug)]
pub struct Order {
    /// The plan.
    pub plan: Plan,
    /// The engine.
    pub docker: Docker,
    /// The images.
    pub images: Images,
    /// The folder of runs.
    pub out: PathBuf,
    /// Whether the cluster is left standing at the end.
    pub keep: bool,
    /// Becomes true when the user wants it to stop.
    pub interrupt: watch::Receiver<bool>,
}

/// A run that is over.
#[derive(Debug)]
pub struct Finished {
    /// Its folder.
    pub folder: Folder,
    /// Its results.
    pub results: Results,
}

/// Executes a plan.
///
/// # Errors
/// If the harness fails: the engine, an image, a container, a client that breaks the protocol, the disk. What was
/// recorded by then is in the folder; everything that was started is removed. Containers that cannot be removed after the
/// run do not fail it: a warning names them.
pub async fn execute(order: Order) -> Result<Finished> {
    let folder = Folder::create(&order.out, &order.plan)?;
    stage::enter(match order.plan.scenes.is_empty() {
        true => "clearing away what was started",
        false => "clearing the ensemble away, then checking what was recorded",
    });
    folder.write_json("plan.json", &order.plan)?;
    let run = format!("{:08x}", fastrand::u32(..));
    folder.write_json(CONTAINERS, &json!({ "label": sweep::RUN_LABEL, "run": run }))?;
    let watcher = Watcher::start(&run)?;
    let docker = order.docker.clone();
    let lease = Lease::take(&docker, &run, &order.images.tools).await?;
    let through = attempt(order, &folder, &run).await;
    let ended = tokio::spawn(lease.end());
    let outcome = match through {
        Ok(()) => judge::judge(&folder),
        Err(error) => {
            // The first error is what the user needs; one of the sweep is added to it.
            let mut swept = sweep::dead(&docker, [run.clone()]).await.into_values();
            let error = match swept.try_for_each(sweep::Swept::complete) {
                Ok(()) => error,
                Err(also) => error.context(format!("besides, clearing away failed: {also:#}")),
            };
            Err(error.context(format!("the run {} did not come to its end", folder.path.display())))
        }
    };
    if let Err(error) = ended.await.unwrap_or_else(|failed| Err(failed.into())) {
        eprintln!("zooquake: {error:#}; `zooquake clean --run {run}` removes it");
    }
    drop(watcher);
    stage::enter("");
    Ok(Finished {
        results: outcome?,
        folder,
    })
}

/// Runs up to the last piece of evidence, and clears the cluster away.
async fn attempt(order: Order, folder: &Folder, run: &str) -> Result<()> {
    if !order.plan.scenes.is_empty() {
        return scenes::play(order, folder, run).await;
    }
    let begun = Instant::now();
    let mut progress = Progress::new();
    let mut interrupt = order.interrupt.clone();
    let what = BringUp {
        run,
        images: &order.images,
        plan: &order.plan,
        logs: folder.file("logs"),
    };
    progress.say(&format!("{} in {}", order.plan.workload.name(), folder.path.display()));
    let bring_up = async {
        let bring_up = DockerCluster::bring_up(&order.docker, what);
        let (cluster, confined) = tokio::try_join!(bring_up, confinement::describe(&order.docker))?;
        cluster.ready().await?;
        cluster.set_up("n1").await?;
        anyhow::Ok((Arc::new(cluster), confined))
    };
    let (cluster, confined) = tokio::select! {
        up = bring_up => up?,
        _ = interrupt.wait_for(|stop| *stop) => bail!("interrupted while the cluster was being brought up"),
    };
    let mut recorder = Recorder::create(&folder.file("history.jsonl"))?;
    recorder.read_clock()?;
    recorder.record(Entry::lane("run", "confinement", confined))?;
    let samples = Samples::start(Arc::clone(&cluster), recorder.begun());
    let mut interpreter = Interpreter::new(
        Arc::clone(&cluster),
        order.plan.clone(),
        recorder,
        progress,
        order.interrupt,
    )?;
    let healed = work(&mut interpreter, begun).await?;
    interpreter.recorder.read_clock()?;
    let tree = after(&mut interpreter, healed).await?;
    match tree {
        Ok(Some(tree)) => folder.write_json("tree.json", &tree)?,
        Ok(None) => {}
        Err(why) => eprintln!("zooquake: the tree was not read: {why}"),
    }
    let (transactions, problems) = cluster.transactions().await;
    problems.iter().for_each(|problem| eprintln!("zooquake: {problem}"));
    folder.write_jsonl("txnlog.jsonl", &transactions)?;
    folder.write_jsonl("servers.jsonl", &samples.stop().await)?;
    drop(interpreter);
    clear(cluster, order.keep).await;
    Ok(())
}

/// Operations and faults; tells whether all is healed.
async fn work(run: &mut Interpreter, begun: Instant) -> Result<bool> {
    stage::enter(stage::of_phase("ops"));
    for number in 0..run.slots.len() {
        run.start_client(number);
    }
    let greeted = |run: &Interpreter| run.slots.iter().all(Slot::runs);
    if !run.until(Instant::now() + Duration::from_secs(30), greeted).await? {
        let silent: Vec<&str> = run
            .slots
            .iter()
            .filter(|s| !s.greeted)
            .map(|s| s.name.as_str())
            .collect();
        bail!(
            "clients {silent:?} have not said hello in 30 s.\n{}",
            run.cluster.log_tail(silent[0])
        );
    }
    run.progress.say(&format!(
        "everything is up after {:.1} s",
        begun.elapsed().as_secs_f64()
    ));
    run.ops_began = Instant::now();
    run.enter("ops", Mode::Load)?;
    let (over, is_over) = watch::channel(false);
    run.nemesis_done = false;
    let nemesis = Nemesis {
        cluster: Arc::clone(&run.cluster),
        ask: run.nemesis_sender(),
        over: is_over,
    };
    tokio::spawn(nemesis.run(run.plan.windows.clone()));
    let end = run.ops_began + Duration::from_millis(run.plan.time_ms);
    run.until(end, Interpreter::interrupted).await?;
    if run.interrupted() {
        run.recorder.record(Entry::lane("run", "phase", json!("interrupted")))?;
    }
    over.send_replace(true);
    run.heal().await
}

/// Recovery with the last operations, and the audit; without them if the user is in a hurry.
async fn after(run: &mut Interpreter, healed: bool) -> Result<Result<Option<zooquake_checkers::Tree>, String>> {
    if run.interrupted() {
        return Ok(Ok(None));
    }
    if healed {
        run.recover().await?;
        if run.interrupted() {
            run.recorder.record(Entry::lane("run", "phase", json!("interrupted")))?;
            return Ok(Ok(None));
        }
    }
    Ok(run.audit().await?.map(Some))
}

/// Removes the cluster, or leaves it standing and says how to reach it. A failure is a warning on stderr.
pub(super) async fn clear(cluster: Arc<DockerCluster>, keep: bool) {
    // Tasks that still hold the cluster end with their last answer.
    let mut cluster = cluster;
    let cluster = loop {
        match Arc::try_unwrap(cluster) {
            Ok(cluster) => break cluster,
            Err(shared) => {
                cluster = shared;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    let done = match keep {
        true => cluster.how_to_reach().map(|how| {
            eprintln!("{how}");
            cluster.leave();
        }),
        false => cluster.remove().await,
    };
    if let Err(error) = done {
        eprintln!("zooquake: {error:#}");
    }
}

/// Samples of the servers' states through a run.
pub(super) struct Samples {
    taken: Arc<Mutex<Vec<ServerSample>>>,
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Samples {
    pub(super) fn start(cluster: Arc<DockerCluster>, begun: Instant) -> Self {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let (stop, mut stopped) = watch::channel(false);
        let into = Arc::clone(&taken);
        let task = tokio::spawn(async move {
            let servers = cluster.servers();
            while !*stopped.borrow() {
                let states = join_all(servers.iter().map(|server| async {
                    let state = cluster.server_state(server).await;
                    (server.clone(), begun.elapsed().as_nanos() as u64, state)
                }))
                .await;
                let samples = states.into_iter().map(|(server, time, state)| match state {
                    Ok(state) => ServerSample {
                        time,
                        server,
                        epoch: state.epoch(),
                        zxid: state.zxid,
                        mode: state.mode,
                        version: state.version,
                    },
                    Err(_) => ServerSample {
                        time,
                        server,
                        mode: "silent".into(),
                        ..ServerSample::default()
                    },
                });
                into.lock().expect("no holder of this lock panics").extend(samples);
                // A closed channel means that the run has failed.
                if tokio::time::timeout(SAMPLE_EVERY, stopped.wait_for(|stop| *stop))
                    .await
                    .is_ok()
                {
                    break;
                }
            }
        });
        Self { taken, stop, task }
    }

    pub(super) async fn stop(self) -> Vec<ServerSample> {
        self.stop.send_replace(true);
        // A panic of the task would have been printed; what was taken until then counts.
        let _ = self.task.await;
        std::mem::take(&mut *self.taken.lock().expect("no holder of this lock panics"))
    }
}
