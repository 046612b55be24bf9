//! Engines that cease to answer while a run goes on, and the clients whose streams are lost with them.

use super::{DockerCluster, LOCAL, exec};
use crate::sidecar::SidecarRequest;
use anyhow::{Result, ensure};
use std::time::Duration;
use zooquake_history::Node;

/// Longest wait for a lost engine before a client is started there again.
const RETURNS_WITHIN: Duration = Duration::from_secs(30);

/// How often what runs on a node is killed.
const KILLS: usize = 3;

impl DockerCluster {
    /// The engines that do not answer at the moment, in words.
    pub(super) fn engines_lost(&self) -> Vec<String> {
        let all = self.machines.all.iter().zip(&self.watches);
        let lost = all.filter(|(_, watch)| watch.is_lost());
        lost.map(|(machine, _)| format!("the Docker engine{}", machine.words()))
            .collect()
    }

    /// Why there is no way to the last process of a client, if its engine was lost since it was started, or is.
    pub(super) async fn lost_client(&self, client: &Node) -> Option<String> {
        let node = self.node(client).ok()?;
        let losses = node.client_start().losses;
        let lost = node.watch.lost_since(losses).await || node.watch.is_lost();
        lost.then(|| format!("the way to {client} was lost with its Docker engine"))
    }

    /// Waits for the engine of a client, if it is lost, and sees the process ended whose streams were lost with it: two
    /// of one client would be a fault of our own.
    ///
    /// # Errors
    /// If the engine does not answer in time, or the process goes on.
    pub(super) async fn reach_again(&self, client: &Node) -> Result<()> {
        let node = self.node(client)?;
        ensure!(
            node.watch.answers_within(RETURNS_WITHIN).await,
            "the Docker engine of {client} does not answer"
        );
        let last = node.client_start();
        let Some(exec) = last.exec.filter(|_| node.watch.losses() != last.losses) else {
            return Ok(());
        };
        let ended = match &node.sidecar {
            Some(_) => self.kill_all_processes(client).await?,
            None => exec::ends(&node.docker, &exec).await,
        };
        ensure!(ended, "the process of {client} goes on, though the way to it was lost");
        Ok(())
    }

    /// Whether no process under test runs on a node any more, whose sidecar kills those that do.
    async fn kill_all_processes(&self, node: &Node) -> Result<bool> {
        for _ in 0..KILLS {
            let running: Vec<i32> = self.ask(node, SidecarRequest::Processes, LOCAL).await?;
            if running.is_empty() {
                return Ok(true);
            }
            if let Err(error) = self.kill_processes(node).await {
                log::info!("{node} may have ended by itself: {error:#}");
            }
        }
        Ok(false)
    }
}
