//! The network between the nodes: cutting it, healing it, and who is connected to whom.

use super::{DockerCluster, LOCAL};
use crate::sidecar::PeerRule;
use crate::{Cluster, Directions};
use anyhow::{Result, bail, ensure};
use futures_util::future::{join_all, try_join_all};
use serde_json::json;

impl DockerCluster {
    /// Connects from beside `from` to the client port, or to the quorum port, of a server.
    async fn reaches(&self, from: &str, to: &str) -> Result<bool> {
        // A client has no port of its own that could be probed: it is probed from its own side.
        let (from, to) = if to.starts_with('c') { (to, from) } else { (from, to) };
        let value = json!({ "address": format!("{}:2181", self.address(to)?), "timeout_ms": 300 });
        let answer = self.ask(from, "probe", value, LOCAL).await?;
        Ok(answer["connected"].as_bool().unwrap_or(false))
    }

    /// The first peer that can be probed from or to `node`.
    async fn probes(&self, node: &str, peers: &[String]) -> Result<Vec<(String, bool)>> {
        let probeable = peers
            .iter()
            .filter(|peer| node.starts_with('n') || peer.starts_with('n'));
        try_join_all(probeable.map(|peer| async move { Ok((peer.clone(), self.reaches(node, peer).await?)) })).await
    }

    pub(super) async fn cut_off(&self, node: &str, peers: &[String], directions: Directions) -> Result<String> {
        ensure!(!peers.is_empty(), "{node} has no peers to be cut off from");
        let Directions { inbound, outbound } = directions;
        let rule = |peer: &String| {
            Ok(PeerRule {
                peer: self.address(peer)?,
                inbound,
                outbound,
            })
        };
        let rules: Result<Vec<PeerRule>> = peers.iter().map(rule).collect();
        self.ask(node, "cut", json!({ "rules": rules? }), LOCAL).await?;
        let probes = self.probes(node, peers).await?;
        if let Some((peer, _)) = probes.iter().find(|(_, connected)| *connected) {
            bail!("{node} still reaches {peer} after the cut");
        }
        Ok(format!(
            "{} of {} connections tried across the cut failed",
            probes.len(),
            probes.len()
        ))
    }

    pub(super) async fn join_again(&self, node: &str, peers: &[String]) -> Result<String> {
        let dropped = self.ask(node, "dropped", json!({}), LOCAL).await?["packets"].clone();
        self.ask(node, "heal", json!({}), LOCAL).await?;
        let probes = self.probes(node, peers).await?;
        let reached = probes.iter().filter(|(_, connected)| *connected).count();
        if reached < probes.len() {
            let alive = join_all(probes.iter().filter(|p| !p.1).map(|(peer, _)| self.server_state(peer))).await;
            ensure!(
                alive.iter().all(Result::is_err),
                "{node} reaches only {reached} of {} peers after healing",
                probes.len()
            );
        }
        Ok(format!(
            "{dropped} packets had been dropped; {reached} of {} connections made again",
            probes.len()
        ))
    }

    pub(super) async fn connected_server(&self, client: &str) -> Result<Option<String>> {
        let answer = self.ask(client, "server-of-client", json!({}), LOCAL).await?;
        let Some(address) = answer["address"].as_str() else {
            return Ok(None);
        };
        Ok(self
            .servers()
            .into_iter()
            .find(|s| self.address(s).is_ok_and(|a| a.to_string() == address)))
    }
}
