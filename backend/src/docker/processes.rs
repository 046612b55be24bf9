//! Processes on the nodes: starting, killing, freezing.

use super::cluster::ClientStart;
use super::exec::{Command, spawn};
use super::{DockerCluster, LOCAL, POLL, wire};
use crate::retry::pause;
use crate::sidecar::SidecarRequest;
use crate::{BackendFuture, Cluster, OnOutput, Stdin};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use testcontainers::bollard::query_parameters::TopOptionsBuilder;
use zooquake_history::protocol::ProcessOutput;
use zooquake_history::{Node, node};

/// A frozen node is watched for this long; one that lives wakes several times in it.
const FROZEN_MS: u64 = 400;

/// A thawed node must have run within this time.
const THAWED_MS: u64 = 5_000;

/// The engine takes a container for started when its first process is about to become `sleep`, which is seen as a
/// process under test until then. It lasts milliseconds, and longer on a busy machine.
const KEEPER_STARTS_WITHIN: Duration = Duration::from_secs(5);

/// By how many KiB a server extends its transaction log ahead of what it writes. By default 64 MiB, all of which is
/// read at the end.
const PREALLOCATED_KIB: u32 = 1024;

/// The id of a server among those of its ensemble: its number.
fn sid(server: &Node) -> Result<usize> {
    server.number().with_context(|| format!("{server} has no number"))
}

/// Sees no process of the list of `ps` stopped, by a signal or a debugger.
fn stopped(titles: &[String], processes: &[Vec<String>]) -> Result<()> {
    let column = titles.iter().position(|title| title == "STAT" || title == "S");
    let column = column.context("the engine lists no states")?;
    let state = |process: &Vec<String>| process.get(column).cloned().unwrap_or_default();
    match processes.iter().find(|process| state(process).starts_with(['T', 't'])) {
        Some(process) => bail!("one is stopped: {}", process.join(" ")),
        None => Ok(()),
    }
}

impl DockerCluster {
    fn server_environment(&self, server: &Node) -> Result<Vec<(String, String)>> {
        let timing = self.plan.cluster.timing;
        let mut environment = vec![
            ("ZOO_MY_ID", sid(server)?.to_string()),
            ("ZOO_TICK_TIME", timing.tick_ms.to_string()),
            ("ZOO_INIT_LIMIT", timing.init_limit.to_string()),
            ("ZOO_SYNC_LIMIT", timing.sync_limit.to_string()),
            ("ZOO_MAX_CLIENT_CNXNS", "0".to_string()),
            ("ZOO_ADMINSERVER_ENABLED", "false".to_string()),
            ("ZOO_4LW_COMMANDS_WHITELIST", "*".to_string()),
            ("ZK_SERVER_HEAP", "256".to_string()),
        ];
        let (servers, observers) = (self.servers(), self.plan.cluster.observers());
        if servers.len() > 1 {
            let lines: Result<Vec<String>> = servers
                .iter()
                .map(|s| {
                    let role = if observers.contains(s) { ":observer" } else { "" };
                    let sid = sid(s)?;
                    Ok(format!("server.{sid}={}:2888:3888{role};2181", self.address(s)?))
                })
                .collect();
            environment.push(("ZOO_SERVERS", lines?.join(" ")));
        }
        let observes = observers.contains(server);
        let role = if observes { " peerType=observer" } else { "" };
        environment.push(("ZOO_CFG_EXTRA", format!("preAllocSize={PREALLOCATED_KIB}{role}")));
        if !observers.is_empty() {
            // A single voter would otherwise refuse to have observers.
            environment.push(("ZOO_STANDALONE_ENABLED", "false".to_string()));
        }
        Ok(environment.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
    }

    /// Number of the node's threads that ran within the time, as its sidecar sees them.
    async fn ran(&self, node: &Node, within_ms: u64) -> Result<u64> {
        let within = Duration::from_millis(within_ms);
        self.ask(node, SidecarRequest::Ran { within }, LOCAL).await
    }

    pub(super) async fn kill_processes(&self, node: &Node) -> Result<String> {
        let killed: Vec<i32> = self.ask(node, SidecarRequest::Kill, LOCAL).await?;
        Ok(format!("SIGKILL, and its processes {} were seen gone", json!(killed)))
    }

    /// Starts the server, unless processes run on its node: two on one server's data would be a fault of our own. What
    /// runs where nothing was launched is the container's keeper, which is waited for.
    ///
    /// # Errors
    /// If the node cannot be looked at, or does not take the process.
    pub(super) async fn start_server_unless_running(&self, server: &Node) -> Result<()> {
        let begun = Instant::now();
        loop {
            let running: Vec<i32> = self.ask(server, SidecarRequest::Processes, LOCAL).await?;
            if running.is_empty() {
                let launched = self.launch_server(server).await;
                // The engine may have started it without its streams, and so without its log.
                if launched.is_ok() || self.kill_processes(server).await.is_err() {
                    return launched;
                }
                return self.launch_server(server).await;
            }
            let launched = self.node(server)?.streams.load(Ordering::Relaxed) > 0;
            if launched || begun.elapsed() > KEEPER_STARTS_WITHIN {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Starts a server again whose streams have ended although it runs, so that its log is whole; whether that was so.
    pub(super) async fn launch_unheard(&self, server: &Node) -> Result<bool> {
        if self.kill_processes(server).await.is_err() {
            return Ok(false);
        }
        self.launch_server(server).await?;
        Ok(true)
    }

    async fn launch_server(&self, server: &Node) -> Result<()> {
        let command = Command {
            argv: ["/docker-entrypoint.sh", "zkServer.sh", "start-foreground"]
                .map(String::from)
                .to_vec(),
            env: self.server_environment(server)?,
            log: self.logs.join(format!("{server}.log")),
            log_stdout: true,
        };
        let node = self.node(server)?;
        let streams = Arc::clone(&node.streams);
        let on_output = move |output| {
            if matches!(output, ProcessOutput::Ended) {
                streams.fetch_sub(1, Ordering::Relaxed);
            }
        };
        node.streams.fetch_add(1, Ordering::Relaxed);
        let spawned = spawn(&node.docker, &node.host.id, &command, on_output).await;
        if spawned.is_err() {
            node.streams.fetch_sub(1, Ordering::Relaxed);
        }
        spawned?;
        Ok(())
    }

    /// The only server that a client may use; `None` if it may use all.
    fn pinned(&self, client: &Node) -> Option<Node> {
        if !self.plan.workload.pinned {
            return None;
        }
        let number = client.number()?;
        let mut servers = self.servers();
        Some(servers.swap_remove((number - 1) % servers.len()))
    }

    pub(super) async fn start_client_process(
        &self,
        client: &Node,
        incarnation: u64,
        on_output: OnOutput,
    ) -> Result<Stdin> {
        self.reach_again(client).await?;
        let pinned = self.pinned(client);
        let connect = wire::connect_string(self, client, pinned.as_ref()).await?;
        let mut environment = self.client_environment(client.to_string(), &self.plan.workload.name(), connect);
        environment.push(("ZOOQUAKE_INCARNATION".to_string(), incarnation.to_string()));
        environment.extend(pinned.map(|server| ("ZOOQUAKE_SERVER".to_string(), server.to_string())));
        let argv = match &self.plan.workload.recipe {
            Some(recipe) => recipe.command.clone(),
            None => vec!["zooquake".into(), "client".into()],
        };
        let command = Command {
            argv,
            env: environment,
            log: self.logs.join(format!("{client}.log")),
            log_stdout: false,
        };
        let node = self.node(client)?;
        let losses = node.watch.losses();
        let started = spawn(&node.docker, &node.host.id, &command, on_output).await?;
        let exec = Some(started.exec);
        *node.client.lock().unwrap_or_else(PoisonError::into_inner) = ClientStart { exec, losses };
        Ok(started.stdin)
    }

    /// Starts one process with many clients of a variant on the host of one client. Every line to and from it begins
    /// with the name of the client that it is for or from, and a space.
    ///
    /// # Errors
    /// If the container does not take the process.
    pub fn start_crowd<'a>(
        &'a self,
        host: &'a Node,
        clients: &'a [Node],
        variant: &'a str,
        on_output: OnOutput,
    ) -> BackendFuture<'a, Stdin> {
        Box::pin(async move {
            let connect = self.connect_string(&self.servers())?;
            let mut environment = self.client_environment(node::join(clients, ","), variant, connect);
            environment.push(("ZOOQUAKE_INCARNATION".to_string(), "1".to_string()));
            let command = Command {
                argv: vec!["zooquake".into(), "crowd".into()],
                env: environment,
                log: self.logs.join(format!("{host}.log")),
                log_stdout: false,
            };
            let node = self.node(host)?;
            Ok(spawn(&node.docker, &node.host.id, &command, on_output).await?.stdin)
        })
    }

    fn client_environment(&self, client: String, variant: &str, connect: String) -> Vec<(String, String)> {
        let environment = [
            ("ZOOQUAKE_CLIENT", client),
            ("ZOOQUAKE_VARIANT", variant.to_string()),
            ("ZOOQUAKE_CONNECT", connect),
            ("ZOOQUAKE_SESSION_MS", self.plan.cluster.timing.session_ms.to_string()),
        ];
        environment.map(|(name, value)| (name.to_string(), value)).to_vec()
    }

    pub(super) async fn freeze(&self, node: &Node) -> Result<String> {
        let of = self.node(node)?;
        pause(&of.docker, &of.host.id)
            .await
            .with_context(|| format!("freezing {node}"))?;
        let threads = self.ran(node, FROZEN_MS).await?;
        ensure!(threads == 0, "{node} was frozen, but {threads} of its threads went on");
        Ok(format!("frozen: none of its threads ran for {FROZEN_MS} ms"))
    }

    /// Sees a node's container not paused and its processes not stopped; what was seen.
    pub(super) async fn running(&self, node: &Node) -> Result<String> {
        let of = self.node(node)?;
        let id = &of.host.id;
        let looking = || format!("looking whether {node} runs");
        let state = of.docker.inspect_container(id, None).await.with_context(looking)?.state;
        let state = state.with_context(|| format!("the engine does not report the state of {node}"))?;
        if state.paused == Some(true) || state.running != Some(true) {
            bail!("the container of {node} does not run");
        }
        if of.sidecar.is_some() {
            let stopped: Vec<String> = self.ask(node, SidecarRequest::Stopped, LOCAL).await?;
            ensure!(stopped.is_empty(), "threads of {node} are stopped: {}", json!(stopped));
            return Ok("its container is not paused, and none of its threads is stopped".to_string());
        }
        // Without faults nothing stands beside a client: the engine lists its processes.
        let options = TopOptionsBuilder::default().ps_args("aux").build();
        let listed = of.docker.top_processes(id, Some(options)).await.with_context(looking)?;
        stopped(
            &listed.titles.unwrap_or_default(),
            &listed.processes.unwrap_or_default(),
        )
        .with_context(|| format!("the processes of {node}"))?;
        Ok("its container is not paused, and none of its processes is stopped".to_string())
    }

    pub(super) async fn thaw(&self, node: &Node) -> Result<String> {
        let of = self.node(node)?;
        match of.docker.unpause_container(&of.host.id).await {
            Err(error) if error.to_string().contains("not paused") => {}
            thawed => thawed.with_context(|| format!("thawing {node}"))?,
        }
        if self.ran(node, THAWED_MS).await? == 0 {
            bail!("{node} was thawed, but none of its threads ran for {THAWED_MS} ms");
        }
        Ok("thawed: its threads run".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::stopped;

    #[test]
    fn a_process_that_is_stopped_is_found_in_the_list() {
        let row = |text: &str| -> Vec<String> { text.split(' ').map(str::to_string).collect() };
        let titles = row("USER PID STAT COMMAND");
        let list = |state: &str| vec![row("root 1 Ss sleep"), row(&format!("root 7 {state} zooquake"))];
        for state in ["S", "Sl", "R+", "D"] {
            assert!(stopped(&titles, &list(state)).is_ok(), "{state}");
        }
        for state in ["T", "Tl", "t"] {
            let error = stopped(&titles, &list(state)).unwrap_err().to_string();
            assert!(error.contains("zooquake"), "{error}");
        }
        assert!(
            stopped(&row("PID COMMAND"), &list("S")).is_err(),
            "nothing is known of the states"
        );
    }
}
