//! What the orchestrator asks of the cluster around the operations: readiness, set-up, recovery, evidence.

use super::{DockerCluster, POLL, exec};
use crate::Cluster;
use crate::sidecar::SidecarRequest;
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::join_all;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zooquake_history::Node;
use zooquake_history::evidence::Znode;

const ADMIN: Duration = Duration::from_secs(20);

/// Deletes snapshots and transaction logs; a name that stays is an error. The files that hold the epochs stay.
const WIPE: &str = "rm -f /data/version-2/snapshot.* /data/version-2/log.* /datalog/version-2/log.* && \
    ! ls -d /data/version-2/snapshot.* /data/version-2/log.* /datalog/version-2/log.* 2>/dev/null";

impl DockerCluster {
    /// Waits until one server leads, the others follow, and a write through every server was acknowledged.
    ///
    /// # Errors
    /// If that does not come about in 60 s; the message has the last log lines of the servers that do not serve.
    pub(super) async fn until_ready(&self) -> Result<()> {
        let begun = Instant::now();
        let servers = self.servers();
        let mut heard_again = BTreeSet::new();
        loop {
            let states = join_all(servers.iter().map(|s| self.server_state(s))).await;
            let leaders = states.iter().flatten().filter(|s| s.leads()).count();
            if leaders == 1 && states.iter().all(Result::is_ok) {
                break;
            }
            // Nothing has been killed yet: a server that ends now will not come back.
            if let Some(server) = servers.iter().find(|s| self.has_ended(s)) {
                let unheard = heard_again.insert(server.clone()) && self.launch_unheard(server).await?;
                let tail = self.log_tail(server);
                ensure!(unheard, "{server} ended instead of serving{}.\n{tail}", too_old(&tail));
            }
            if begun.elapsed() > Duration::from_secs(60) {
                let silent = servers
                    .iter()
                    .zip(&states)
                    .filter(|(_, state)| state.is_err())
                    .map(|(s, _)| s);
                let tails: Vec<String> = silent.map(|s| self.log_tail(s)).collect();
                bail!("the ensemble does not serve after 60 s.\n{}", tails.join("\n"));
            }
            tokio::time::sleep(POLL).await;
        }
        let writes = join_all(
            servers
                .iter()
                .map(|s| self.ask::<i64>(s, SidecarRequest::ProbeWrite, ADMIN)),
        )
        .await;
        for (server, write) in servers.iter().zip(writes) {
            write.with_context(|| format!("writing through {server}\n{}", self.log_tail(server)))?;
        }
        Ok(())
    }

    fn has_ended(&self, server: &Node) -> bool {
        self.node(server)
            .is_ok_and(|node| node.streams.load(Ordering::Relaxed) == 0)
    }

    /// The last lines of a node's log, headed by its name.
    pub(super) fn tail_of_log(&self, node: &Node) -> String {
        let path = self.logs.join(format!("{node}.log"));
        let text = std::fs::read(&path)
            .map(|b| String::from_utf8_lossy(&b).into_owned())
            .unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(15)..];
        format!(
            "last log lines of {node} (container zooquake-{}-{node}):\n{}",
            self.run,
            tail.join("\n")
        )
    }

    /// Creates persistent znodes, and those above them, through a server.
    pub(super) async fn create_through(&self, server: &Node, paths: &[String]) -> Result<()> {
        let paths = paths.to_vec();
        let made = self.ask(server, SidecarRequest::Setup { paths }, ADMIN).await;
        made.context("setting up the znodes")
    }

    /// Whether a znode is there, as a server sees it after a write.
    pub(super) async fn exists_at(&self, server: &Node, path: &str) -> Result<bool> {
        let path = path.to_string();
        self.ask(server, SidecarRequest::Exists { path }, ADMIN).await
    }

    /// Deletes what a dead server has of znodes and transactions; fails unless all of it is gone.
    pub(super) async fn lose_data(&self, server: &Node) -> Result<()> {
        let node = self.node(server)?;
        exec::run(&node.docker, &node.host.id, &["sh", "-c", WIPE]).await?;
        Ok(())
    }

    /// Reads all znodes through a server.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub(super) async fn read_tree(&self, server: &Node) -> Result<Vec<Znode>> {
        self.ask(server, SidecarRequest::Tree, ADMIN).await
    }

    /// Sees a silent session of the clients' timeout expire; returns milliseconds.
    ///
    /// # Errors
    /// If it does not expire.
    pub(super) async fn silent_session(&self, server: &Node, session_ms: u64) -> Result<u64> {
        let limit = Duration::from_millis(session_ms * 10) + ADMIN;
        self.ask(server, SidecarRequest::Canary { session_ms }, limit).await
    }
}

/// What is added where a server's log shows that it is older than the oldest ZooKeeper that a run works with: 3.4 reads
/// no client port behind the `;` of a server's line, and has neither `create2` nor the commands that a run asks a
/// server by.
fn too_old(log: &str) -> &'static str {
    let unreadable_port = log
        .lines()
        .any(|line| line.contains("NumberFormatException") && line.contains(";2181"));
    match unreadable_port {
        true => {
            ": it is ZooKeeper 3.4 or older. Runs need 3.5 or later, and were tried with 3.6.3 to 3.9.5: name such an image with --zookeeper"
        }
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::too_old;

    #[test]
    fn a_server_of_3_4_is_told_from_one_that_ends_otherwise() {
        let of_3_4_14 = "ERROR QuorumPeerMain - Invalid config, exiting abnormally\n\
            Caused by: java.lang.NumberFormatException: For input string: \"3888;2181\"\n";
        let with_a_bad_line = "ERROR QuorumPeerMain - Invalid config, exiting abnormally\n\
            Caused by: java.lang.NumberFormatException: For input string: \"two\"\n";
        assert!(too_old(of_3_4_14).contains("3.4 or older"), "{}", too_old(of_3_4_14));
        assert_eq!(too_old(with_a_bad_line), "");
    }
}
