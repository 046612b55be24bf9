//! A server in memory that falls behind its leader.

use super::cluster::SimCluster;
use anyhow::{Context, Result, ensure};
use std::time::Duration;
use zooquake_backend::{LeaderDelay, ServerState};
use zooquake_workloads::zk::Host;

/// The znode that is written to see when a server shows it.
const PROBE: &str = "/zooquake/probe";

/// How long a server may take to show a write that is not delayed.
const SHOWS: Duration = Duration::from_secs(2);

impl SimCluster {
    /// Writes through another server; returns its name, and how long after its answer this one showed the write.
    async fn lateness(&self, server: &str, limit: Duration) -> Result<(String, Duration)> {
        let others = self.servers.iter().filter(|other| *other != server);
        let leads = |other: &&String| self.state_of(other).is_ok_and(|state| state.leads());
        let serves = |other: &&String| self.state_of(other).is_ok();
        let writer = others.clone().find(leads).or_else(|| others.clone().find(serves));
        let writer = writer.with_context(|| format!("no server but {server} serves"))?;
        self.create_through(writer, &[PROBE.to_string()]).await?;
        let written = self.session(writer).await?.set(PROBE, b"probe", None).await;
        let zxid = written.with_context(|| format!("writing through {writer}"))?.mzxid;
        let answered = self.world.now();
        let shows = || self.state_of(server).is_ok_and(|state| state.zxid >= zxid);
        ensure!(
            self.until(limit, shows).await,
            "{server} did not show zxid {zxid:#x} within {} ms",
            limit.as_millis()
        );
        Ok((writer.clone(), self.world.now() - answered))
    }

    pub(super) async fn fall_behind(&self, server: &str, behind: LeaderDelay) -> Result<String> {
        let delay = self.plan.cluster.timing.lag(behind.delay_percent);
        let ServerState { mode, .. } = self.state_of(server)?;
        ensure!(
            mode == "follower" || mode == "observer",
            "{server} is {mode}, and follows nobody"
        );
        self.net.server().lag(self.server(server)?, delay);
        let (writer, late) = self.lateness(server, delay * 2 + SHOWS).await?;
        ensure!(
            late >= delay * 3 / 4,
            "{server} showed a write of {writer} {} ms after its answer",
            late.as_millis()
        );
        let after = self.state_of(server)?;
        ensure!(after.mode == mode, "{server} lost its leader: it is {}", after.mode);
        Ok(format!(
            "what the leader sends to {server} is {} ms late: a write acknowledged by {writer} was shown by {server} {} ms later; \
             {server} serves as {mode}",
            delay.as_millis(),
            late.as_millis()
        ))
    }

    pub(super) async fn catch_up_again(&self, server: &str, behind: LeaderDelay) -> Result<String> {
        self.net.server().catch_up(self.server(server)?);
        let prompt = self.plan.cluster.timing.lag(behind.delay_percent) / 2;
        let (writer, late) = self.lateness(server, SHOWS).await?;
        ensure!(
            late < prompt,
            "{server} still shows a write of {writer} {} ms late",
            late.as_millis()
        );
        let ServerState { mode, .. } = self.state_of(server)?;
        Ok(format!(
            "a write acknowledged by {writer} was shown by {server} within {} ms; {server} serves as {mode}",
            late.as_millis()
        ))
    }
}
