//! How fast the control channel to a client is.

use super::ensemble::{HOST, MeasuredEnsemble, on_ensemble};
use super::ping::{next_reply, ping};
use anyhow::{Context, Result};
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use zooquake_backend::Cluster;
use zooquake_backend::docker::DockerCluster;
use zooquake_history::plan::Workload;

/// Sends requests that do nothing to one client of a workload in its container, one after the other.
///
/// # Errors
/// If the cluster does not come up, the client does not answer, or somebody interrupts it.
pub async fn measure(workload: Workload, requests: u64, interrupt: watch::Receiver<bool>) -> Result<ChannelCost> {
    let measured = on_ensemble(
        MeasuredEnsemble::with_servers(1),
        workload,
        interrupt,
        async |cluster| round_trips(cluster, requests).await,
    );
    Ok(measured.await?.value)
}

/// How fast the channel is.
#[derive(Debug)]
pub struct ChannelCost {
    /// Round trips a second.
    pub rate: f64,
    /// The longest, in milliseconds.
    pub worst_ms: f64,
    /// From asking for the process to its first answer, in milliseconds.
    pub start_ms: f64,
}

async fn round_trips(cluster: &DockerCluster, requests: u64) -> Result<ChannelCost> {
    let (sender, mut outputs) = mpsc::unbounded_channel();
    let on_output = move |output| {
        // The receiver is gone once all is measured.
        let _ = sender.send((0, output));
    };
    let asked = Instant::now();
    let stdin = cluster.start_client(&HOST, 1, Box::new(on_output)).await?;
    let (mut worst_ms, mut start_ms, mut begun) = (0.0_f64, 0.0, None);
    for id in 0..=requests {
        let sent = Instant::now();
        // The first round trip waits for the process to start, and is not counted.
        let from = if id == 1 { *begun.insert(sent) } else { sent };
        stdin.request(ping(id))?;
        while next_reply(&mut outputs).await?.1 != id {}
        match id {
            0 => start_ms = asked.elapsed().as_secs_f64() * 1e3,
            _ => worst_ms = worst_ms.max(from.elapsed().as_secs_f64() * 1e3),
        }
    }
    let whole = begun.context("nothing was measured")?.elapsed().as_secs_f64();
    Ok(ChannelCost {
        rate: requests as f64 / whole,
        worst_ms,
        start_ms,
    })
}
