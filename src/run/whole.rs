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
use anyhow::{Context, Result, bail};
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
    stage::enter("clearing away what was started, then checking what was recorded");
    folder.write_json("plan.json", &order.plan)?;
    let run = format!("{:08x}", fastrand::u32(..));
    folder.write_json(CONTAINERS, &json!({ "label": sweep::RUN_LABEL, "run": run }))?;
    let watcher = Watcher::start(&run)?;
    let docker = order.docker.clone();
    let lease = Lease::take(&docker, &run, &order.images.tools).await?;
    let through = attempt(order, &folder, &run).await;
    let through = through.with_context(|| format!("the run {} did not come to its end", folder.path.display()));
    let ended = tokio::spawn(lease.end());
    let swept = match &through {
        Ok(Left::Nothing) => Ok(()),
        _ => sweep::dead_run(&docker, &run).await,
    };
    let outcome = match through {
        Ok(_) => {
            swept.unwrap_or_else(|error| eprintln!("zooquake: {error:#}"));
            judge::judge(&folder)
        }
        // The first error is what the user needs; one of the sweep is added to it.
        Err(error) => Err(match swept {
            Ok(()) => error,
            Err(also) => error.context(format!("besides, clearing away failed: {also:#}")),
        }),
    };
    if let Err(error) = ended.await.unwrap_or_else(|failed| Err(failed.into())) {
        eprintln!("zooquake: {error:#}; `zooquake clean --run {run}` removes it");
    }
    drop(watcher);
    stage::enter("");
    let results = outcome?;
    Ok(Finished { folder, results })
}

/// What a run has left on the engine when its history is complete.
enum Left {
    /// Nothing but its lease.
    Nothing,
    /// What had been started when the user broke the bring-up off; requests to the engine may still be under way.
    HalfACluster,
}

/// Runs up to the last piece of evidence, and clears the cluster away.
async fn attempt(order: Order, folder: &Folder, run: &str) -> Result<Left> {
    if !order.plan.scenes.is_empty() {
        return scenes::play(order, folder, run).await.map(|()| Left::Nothing);
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
    let up = tokio::select! {
        up = bring_up => Some(up?),
        _ = interrupt.wait_for(|stop| *stop) => None,
    };
    let mut recorder = Recorder::create(&folder.file("history.jsonl"))?;
    recorder.read_clock()?;
    let Some((cluster, confined)) = up else {
        recorder.record(Entry::lane("run", "phase", json!("interrupted")))?;
        return Ok(Left::HalfACluster);
    };
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
    Ok(Left::Nothing)
}

/// Operations and faults; tells whether all is healed.
async fn work(run: &mut Interpreter, begun: Instant) -> Result<bool> {
    for number in 0..run.slots.len() {
        run.start_client(number);
    }
    let greeted = |run: &Interpreter| run.interrupted() || run.slots.iter().all(Slot::runs);
    if !run.until(Instant::now() + Duration::from_secs(30), greeted).await? {
        let silent = run.slots.iter().filter(|slot| !slot.greeted);
        let silent: Vec<&str> = silent.map(|slot| slot.name.as_str()).collect();
        let log = run.cluster.log_tail(silent[0]);
        bail!("clients {silent:?} have not said hello in 30 s.\n{log}");
    }
    if run.interrupted() {
        run.recorder.record(Entry::lane("run", "phase", json!("interrupted")))?;
        return Ok(false);
    }
    let took = begun.elapsed().as_secs_f64();
    run.progress.say(&format!("everything is up after {took:.1} s"));
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
