//! The round trips to the machines of a run over several, measured where its requests pass.

use super::machines::{ClockDifference, DockerMachine, RoundTrips};
use super::sidecar::Sidecar;
use super::{DockerCluster, LOCAL};
use crate::sidecar::SidecarRequest;
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Where the nodes of a machine have no sidecar, the engine itself is asked.
async fn trips(machine: &DockerMachine, beside: Option<&Sidecar>) -> Result<(RoundTrips, &'static str)> {
    match beside {
        Some(sidecar) => {
            let trips = RoundTrips::measure(|| sidecar.call::<()>(SidecarRequest::Ping, LOCAL)).await?;
            Ok((trips, "a sidecar's stream"))
        }
        None => {
            let asked = || async { machine.docker.ping().await.context("asking for a sign of life") };
            Ok((RoundTrips::measure(asked).await?, "the engine"))
        }
    }
}

impl DockerCluster {
    /// What was measured of each machine, and what stands there; `None` where there is one alone.
    ///
    /// # Errors
    /// If one does not answer.
    pub(super) async fn measured_hosts(&self) -> Result<Option<Value>> {
        let mut all = Vec::new();
        for (machine, planned) in self.machines.all.iter().zip(&self.plan.cluster.hosts) {
            let Some(named) = &machine.named else { continue };
            let nodes = planned.nodes.iter().filter_map(|node| self.nodes.get(node));
            let beside = nodes.filter_map(|node| node.sidecar.as_ref()).next();
            let (trips, over) = machine.explain(trips(machine, beside).await)?;
            all.push(json!({
                "host": named.host,
                "address": named.address,
                "nodes": planned.nodes,
                "round_trips": trips,
                "over": over,
                "clock": ClockDifference::ask(machine).await?,
            }));
        }
        Ok((!all.is_empty()).then(|| json!(all)))
    }
}
