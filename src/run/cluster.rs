//! The cluster of a run: brought up so that a schedule can begin, and cleared away.

use super::RunOrder;
use super::recorder::Recorder;
use super::store::Store;
use crate::faults::nemesis::NemesisSchedule;
use anyhow::{Context, Result};
use futures_util::future::{try_join_all, try_join3};
use serde_json::Value;
use std::fs;
use std::sync::Arc;
use zooquake_backend::{BringUp, Clock, Cluster};
use zooquake_engine::HistoryEntry;
use zooquake_history::Node;

/// A cluster, and the clock of what happens there.
#[derive(Clone)]
pub struct RunCluster {
    pub cluster: Arc<dyn Cluster>,
    pub clock: Arc<dyn Clock>,
}

/// A cluster on which a schedule can begin.
pub struct RunPlace {
    pub cluster: RunCluster,
    /// What its processes may do.
    confinement: Value,
    /// What it is on.
    pub engine: Option<String>,
    /// What was measured of its hosts, if it stands on several.
    hosts: Option<Value>,
}

impl RunPlace {
    /// Records what its processes may do, and what was measured of its hosts.
    ///
    /// # Errors
    /// If the history cannot be written.
    pub fn record(&self, recorder: &mut Recorder) -> Result<()> {
        recorder.record(HistoryEntry::named("run", "confinement", self.confinement.clone()))?;
        if let Some(hosts) = &self.hosts {
            recorder.record(HistoryEntry::named("run", "hosts", hosts.clone()))?;
        }
        Ok(())
    }
}

/// Brings a cluster up for a schedule.
///
/// # Errors
/// If the backend does not, or a server is not ready.
pub async fn bring_up(order: &RunOrder, schedule: &NemesisSchedule, store: &Store, run: &str) -> Result<RunPlace> {
    let RunOrder {
        case, backend, keep, ..
    } = order;
    let mut logs = store.logs();
    if let NemesisSchedule::Scene(scene) = schedule {
        logs.push(&scene.name);
        fs::create_dir(&logs).with_context(|| format!("making the folder {}", logs.display()))?;
    }
    let up = async {
        let cluster = backend
            .bring_up(BringUp {
                run,
                plan: case.plan(),
                logs,
                keep: *keep,
            })
            .await?;
        // A scene starts the servers itself, each at its step.
        if let NemesisSchedule::Windows(_) = schedule {
            try_join_all(cluster.servers().iter().map(|server| cluster.start_server(server))).await?;
            cluster.ready().await?;
            cluster.set_up(&Node::server(1)).await?;
        }
        let hosts = cluster.hosts().await?;
        anyhow::Ok((cluster, hosts))
    };
    let ((cluster, hosts), confinement, engine) = try_join3(up, backend.confinement(), backend.engine()).await?;
    let clock = backend.clock();
    Ok(RunPlace {
        cluster: RunCluster { cluster, clock },
        confinement,
        engine,
        hosts,
    })
}

/// Removes the cluster, or leaves it standing and prints how to reach it, or why that cannot be determined.
///
/// # Errors
/// If something of it is left that was to be removed.
pub async fn clear(cluster: &dyn Cluster, keep: bool) -> Result<()> {
    if !keep {
        return cluster.remove().await;
    }
    let how = cluster
        .how_to_reach()
        .unwrap_or_else(|error| format!("zooquake: {error:#}"));
    how.lines().for_each(|line| eprintln!("{line}"));
    Ok(())
}
