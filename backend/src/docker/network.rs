//! The network between the nodes: cutting it, healing it, and who is connected to whom.

use super::cluster::CLIENT_PORT;
use super::{DockerCluster, LOCAL};
use crate::sidecar::{PeerRule, SidecarRequest};
use crate::{Cluster, Directions};
use anyhow::{Result, bail, ensure};
use futures_util::future::{join_all, try_join_all};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use zooquake_history::Node;

/// How long a connection may take that nothing cuts.
const PROBED_WITHIN: Duration = Duration::from_millis(300);

impl DockerCluster {
    /// Connects from beside `from` to the client port, or to the quorum port, of a server.
    async fn reaches(&self, from: &Node, to: &Node) -> Result<bool> {
        // A client has no port of its own that could be probed: it is probed from its own side.
        let (from, to) = if to.is_client() { (to, from) } else { (from, to) };
        let probe = SidecarRequest::Probe {
            address: SocketAddr::new(self.address(to)?, CLIENT_PORT),
            within: PROBED_WITHIN,
        };
        self.ask(from, probe, LOCAL).await
    }

    /// The first peer that can be probed from or to `node`.
    async fn probes(&self, node: &Node, peers: &[Node]) -> Result<Vec<(Node, bool)>> {
        let probeable = peers.iter().filter(|peer| node.is_server() || peer.is_server());
        try_join_all(probeable.map(|peer| async move { Ok((peer.clone(), self.reaches(node, peer).await?)) })).await
    }

    pub(super) async fn cut_off(&self, node: &Node, peers: &[Node], directions: Directions) -> Result<String> {
        ensure!(!peers.is_empty(), "{node} has no peers to be cut off from");
        let Directions { inbound, outbound } = directions;
        let rule = |peer: &Node| {
            Ok(PeerRule {
                peer: self.address(peer)?,
                inbound,
                outbound,
            })
        };
        let rules: Result<Vec<PeerRule>> = peers.iter().map(rule).collect();
        self.ask::<()>(node, SidecarRequest::Cut { rules: rules? }, LOCAL)
            .await?;
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

    pub(super) async fn join_again(&self, node: &Node, peers: &[Node]) -> Result<String> {
        let dropped: u64 = self.ask(node, SidecarRequest::Dropped, LOCAL).await?;
        self.ask::<()>(node, SidecarRequest::Heal, LOCAL).await?;
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

    pub(super) async fn connected_server(&self, client: &Node) -> Result<Option<Node>> {
        let connected: Option<IpAddr> = self.ask(client, SidecarRequest::ServerOfClient, LOCAL).await?;
        let mut servers = self.servers().into_iter();
        Ok(connected.and_then(|address| servers.find(|server| self.address(server).is_ok_and(|its| its == address))))
    }
}
