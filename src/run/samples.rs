//! Samples of the servers' states through a run.

use super::cluster::RunCluster;
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use zooquake_backend::{Cluster, within};
use zooquake_history::evidence::ServerSample;

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
    let one = |server: String| async move {
        let state = cluster.server_state(&server).await;
        let time = (place.clock.now() - begun).as_nanos() as u64;
        match state {
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
        }
    };
    join_all(cluster.servers().into_iter().map(one)).await
}
