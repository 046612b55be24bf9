//! What a fault gets when it strikes and when it heals, and what it reports afterwards.

use super::nemesis::EngineLink;
use anyhow::{Context, Result};
use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;
use std::fmt;
use tokio::sync::watch;
use zooquake_backend::{Clock, Cluster, Passage};
use zooquake_engine::TriggerFiring;
use zooquake_history::Node;
use zooquake_history::plan::{Target, Window};

/// The window that is on, and what a fault acts with.
pub struct Strike<'a> {
    pub cluster: &'a dyn Cluster,
    pub clock: &'a dyn Clock,
    /// The way to the engine.
    pub link: &'a EngineLink,
    /// Becomes true when the operations are over.
    pub over: &'a watch::Receiver<bool>,
    pub window: &'a Window,
    /// All whom it hits.
    pub victims: &'a [Node],
}

/// A strike, or a healing, of one victim.
pub type Action = for<'a> fn(&'a Strike<'a>, &'a Node) -> BoxFuture<'a, Result<StrikeEffect>>;

/// What was seen on the spot.
#[derive(Debug, Clone, PartialEq)]
pub struct StrikeEffect {
    /// A sentence.
    pub detail: String,
    /// The same as JSON, where there is more than the sentence.
    pub evidence: Option<Value>,
}

impl From<String> for StrikeEffect {
    fn from(detail: String) -> Self {
        Self { detail, evidence: None }
    }
}

impl From<Passage> for StrikeEffect {
    fn from(Passage { detail, evidence }: Passage) -> Self {
        Self { detail, evidence }
    }
}

impl StrikeEffect {
    /// The effect on a victim that the report of another victim covers.
    pub const NOTHING: Self = Self {
        detail: String::new(),
        evidence: None,
    };

    /// All in one.
    pub fn sentence(all: &[Self]) -> String {
        let details = all.iter().map(|seen| seen.detail.as_str());
        let details: Vec<&str> = details.filter(|detail| !detail.is_empty()).collect();
        details.join("; ")
    }
}

/// Nothing came that the fault could have struck: there is nothing to heal either.
#[derive(Debug)]
pub struct MissedStrike(pub String);

impl fmt::Display for MissedStrike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MissedStrike {}

/// The nodes that a window hits.
///
/// # Errors
/// If there is none at the moment: nobody leads, nobody holds, or the holder is not connected.
pub async fn victims(cluster: &dyn Cluster, window: &Window, fired: &TriggerFiring) -> Result<Vec<Node>> {
    Ok(match &window.target {
        Target::Node(node) => vec![node.clone()],
        Target::Servers(servers) => servers.clone(),
        Target::Host(host) => cluster
            .nodes_on(host)
            .with_context(|| format!("the run has no host {host}"))?,
        Target::Client => vec![fired.client.clone().context("the trigger names no client")?],
        Target::Leader => vec![leader(cluster).await.context("no server led")?],
        Target::Follower => vec![super::lag::follower(cluster).await?],
        Target::HolderServer => {
            let holder = fired.holder.as_ref().or(fired.client.as_ref());
            let holder = holder.context("nobody held")?;
            let server = cluster.server_of(holder).await?;
            vec![server.with_context(|| format!("{holder} was not connected to a server"))?]
        }
    })
}

/// The server that leads: of those that report it, the one with the highest epoch, because a deposed leader goes on
/// reporting it for a while. `None` if no server does.
pub async fn leader(cluster: &dyn Cluster) -> Option<Node> {
    let servers = cluster.servers();
    let states = join_all(servers.iter().map(|server| cluster.server_state(server))).await;
    servers
        .into_iter()
        .zip(states)
        .filter_map(|(server, state)| Some((server, state.ok()?)))
        .filter(|(_, state)| state.leads())
        .max_by_key(|(_, state)| state.epoch())
        .map(|(server, _)| server)
}
