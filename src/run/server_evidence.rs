//! What servers show of themselves: samples of their states through a run, and their transaction logs at its end.

use super::cluster::RunCluster;
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use zooquake_backend::{Cluster, within};
use zooquake_history::Node;
use zooquake_history::evidence::ServerSample;
use zooquake_history::txnlog::{ServerEntries, TxnLogs, union};

/// How often the servers are asked for their state.
const EVERY: Duration = Duration::from_millis(250);

/// Samples of the states that the servers report, taken again and again until it is stopped.
pub struct Samples {
    taken: Arc<Mutex<Vec<ServerSample>>>,
    stop: watch::Sender<bool>,
    /// Closes when the task has ended.
    ended: oneshot::Receiver<()>,
}

impl Samples {
    /// Begins; times count from `begun` of the run's clock.
    pub fn start(place: &RunCluster, begun: Duration) -> Self {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let (stop, mut stopped) = watch::channel(false);
        let (alive, ended) = oneshot::channel::<()>();
        let (place, into) = (place.clone(), Arc::clone(&taken));
        let clock = Arc::clone(&place.clock);
        let task = async move {
            let _alive = alive;
            while !*stopped.borrow() {
                let samples = sample(&place, begun).await;
                into.lock().unwrap_or_else(PoisonError::into_inner).extend(samples);
                // A closed channel means that the run has failed.
                let stop = stopped.wait_for(|stop| *stop).map(|_| ());
                if within(&*place.clock, EVERY, stop).await.is_some() {
                    break;
                }
            }
        };
        clock.spawn(task.boxed());
        Self { taken, stop, ended }
    }

    /// Ends, and gives all samples.
    pub async fn stop(self) -> Vec<ServerSample> {
        self.stop.send_replace(true);
        // A panic of the task would have been printed; what was taken until then counts.
        let _ = self.ended.await;
        std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn sample(place: &RunCluster, begun: Duration) -> Vec<ServerSample> {
    let cluster: &dyn Cluster = &*place.cluster;
    let one = |server: Node| async move {
        let state = cluster.server_state(&server).await;
        let time = (place.clock.now() - begun).as_nanos() as u64;
        match state {
            Ok(state) => ServerSample {
                time,
                server: server.to_string(),
                epoch: state.epoch(),
                zxid: state.zxid,
                mode: state.mode,
                version: state.version,
            },
            Err(_) => ServerSample {
                time,
                server: server.to_string(),
                mode: "silent".into(),
                ..ServerSample::default()
            },
        }
    };
    join_all(cluster.servers().into_iter().map(one)).await
}

/// How long transaction logs are waited for once the user wants the run to stop.
const HURRY: Duration = Duration::from_secs(5);

/// The transaction logs of all servers at the end of a run. What was not read is noted in them, and a warning on stderr
/// names it.
pub(super) async fn transactions(place: &RunCluster, mut interrupt: watch::Receiver<bool>) -> TxnLogs {
    let stopped = async {
        if interrupt.wait_for(|stop| *stop).await.is_err() {
            future::pending::<()>().await;
        }
        place.clock.sleep(HURRY).await;
    };
    let logs = tokio::select! {
        biased;
        logs = place.cluster.transactions() => logs,
        () = stopped => unread(place),
    };
    for log in &logs.servers {
        if let Some(problem) = &log.problem {
            eprintln!(
                "zooquake: the transaction log of {} was not read whole: {problem}",
                log.server
            );
        }
    }
    logs
}

/// What is known of logs that were not waited for.
fn unread(place: &RunCluster) -> TxnLogs {
    let voters = place.cluster.voters();
    let logs = place.cluster.servers().into_iter().map(|server| ServerEntries {
        voter: voters.contains(&server),
        server: server.to_string(),
        entries: Vec::new(),
        problems: vec!["the run was interrupted".to_owned()],
    });
    union(logs.collect())
}
