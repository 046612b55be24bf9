//! A follower that falls behind: the quorum proxies of the servers, and what is seen of them.

use super::{DockerCluster, LOCAL};
use crate::sidecar::{Lateness, Links, Relief, SidecarRequest};
use crate::{Cluster, LeaderDelay, ServerState};
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::{join_all, try_join_all};
use std::net::SocketAddr;
use std::time::Duration;
use zooquake_history::{FaultKind, Node};

/// The port on which a leader's followers come to it.
const QUORUM_PORT: u16 = 2888;

/// How often a write is looked for at most until it is seen late enough: each time it is late by less than the delay,
/// by what it took to ask for it.
const TRIES: usize = 3;

/// How long a server may take to show a write that is not delayed.
const SHOWS_WITHIN: Duration = Duration::from_secs(2);

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl DockerCluster {
    /// Has the connections of all servers to their leaders go through proxies, if the plan has something happen there.
    /// No server runs yet.
    ///
    /// # Errors
    /// If the kernel does not redirect connections.
    pub(super) async fn carry_quorum(&self) -> Result<()> {
        let windows = &self.plan.windows;
        if !windows
            .iter()
            .any(|window| FaultKind::by_name(&window.fault).between_servers)
        {
            return Ok(());
        }
        let servers = &self.servers();
        let carried = servers.iter().map(|server| async move {
            let others = servers.iter().filter(|other| *other != server);
            let peers: Result<Vec<SocketAddr>> = others
                .map(|other| Ok(SocketAddr::new(self.address(other)?, QUORUM_PORT)))
                .collect();
            self.ask::<()>(server, SidecarRequest::QuorumProxy { peers: peers? }, LOCAL)
                .await
        });
        try_join_all(carried).await.map(drop)
    }

    /// A server that serves, other than this one; the leader if it is another.
    async fn other_than(&self, server: &Node) -> Result<Node> {
        let others: Vec<Node> = self.servers().into_iter().filter(|other| other != server).collect();
        let states = join_all(others.iter().map(|other| self.server_state(other))).await;
        let serving = others
            .into_iter()
            .zip(states)
            .filter_map(|(other, state)| Some((other, state.ok()?)));
        let other = serving.max_by_key(|(_, state)| (state.leads(), state.epoch()));
        Ok(other.with_context(|| format!("no server but {server} serves"))?.0)
    }

    /// Writes through another server, and looks when this one shows it.
    async fn lateness(&self, server: &Node, limit: Duration) -> Result<(Node, Lateness)> {
        let writer = self.other_than(server).await?;
        let zxid = self.ask(&writer, SidecarRequest::ProbeWrite, LOCAL).await?;
        let late = SidecarRequest::Late { zxid, within: limit };
        Ok((writer, self.ask(server, late, limit + LOCAL).await?))
    }

    pub(super) async fn fall_behind(&self, server: &Node, behind: LeaderDelay) -> Result<String> {
        let delay = self.plan.cluster.timing.lag(behind.delay_percent);
        let before = self.server_state(server).await?;
        ensure!(!before.leads(), "{server} leads, and follows nobody");
        self.ask::<()>(server, SidecarRequest::ReadAlong, LOCAL).await?;
        let lag = SidecarRequest::Lag {
            delay,
            at_most: behind.at_most,
        };
        let links: Links = self.ask(server, lag, LOCAL).await?;
        let least = ms(delay) * 3 / 4;
        let mut late = None;
        for _ in 0..TRIES {
            let (writer, lateness) = self.lateness(server, delay * 2 + SHOWS_WITHIN).await?;
            let missed = lateness.missed_ms.filter(|missed| *missed >= least);
            late = missed.map(|missed| (writer, missed, lateness.seen_ms));
            if late.is_some() {
                break;
            }
        }
        let Some((writer, missed, seen)) = late else {
            bail!(
                "{server} was seen to miss none of {TRIES} writes {least} ms after another server had acknowledged them"
            );
        };
        let after = self.server_state(server).await?;
        let links_after: Links = self.ask(server, SidecarRequest::Links, LOCAL).await?;
        let kept = links_after.made == links.made && after.mode == before.mode;
        ensure!(
            kept,
            "{server} lost its leader: {} connections, as {}",
            links.made,
            after.mode
        );
        Ok(format!(
            "what the leader sends to {server} is {} ms late: a write acknowledged by {writer} was not yet read on {server}, as a \
             client there reads, {missed} ms later, and was after {seen} ms; {server} serves as {}, on the same connection",
            ms(delay),
            after.mode
        ))
    }

    pub(super) async fn catch_up_again(&self, server: &Node, behind: LeaderDelay) -> Result<String> {
        let relief: Relief = self.ask(server, SidecarRequest::CatchUp, LOCAL).await?;
        let ServerState { mode, .. } = self.server_state(server).await?;
        self.ask::<()>(server, SidecarRequest::ReadAlong, LOCAL).await?;
        let (writer, lateness) = self.lateness(server, SHOWS_WITHIN).await?;
        let prompt = ms(self.plan.cluster.timing.lag(behind.delay_percent)) / 2;
        ensure!(
            lateness.seen_ms < prompt,
            "{server} still shows a write of {writer} {} ms late",
            lateness.seen_ms
        );
        let mut sentence = format!(
            "a write acknowledged by {writer} was read on {server} within {} ms; {server} serves as {mode}",
            lateness.seen_ms
        );
        if relief.made > 0 {
            sentence += &format!(
                "; connections that it made to a leader while it was behind: {}",
                relief.made
            );
        }
        Ok(sentence)
    }
}
