//! The real cluster: containers on a Docker engine, through testcontainers.

use super::exec::{Command, Output, Stdin, spawn};
use super::hosts::{Host, create_network, start_host, start_sidecar};
use super::sidecar::Sidecar;
use super::{Cluster, Directions, ServerState, sweep};
use crate::images::Images;
use crate::sidecar::Rule;
use anyhow::{Context, Result, bail};
use futures_util::future::{join_all, try_join_all};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use testcontainers::bollard::Docker;
use zooquake_checkers::plan::Plan;

/// Longest wait for a sidecar's answer to something local.
const LOCAL: Duration = Duration::from_secs(10);

/// Connects to the Docker engine that testcontainers finds.
///
/// # Errors
/// If none answers; the message says what was tried and what to do.
pub async fn engine() -> Result<Docker> {
    let tried = std::env::var("DOCKER_HOST").unwrap_or_else(|_| "unix:///var/run/docker.sock".to_string());
    let help = || {
        format!(
            "no Docker engine answers at {tried}. zooquake runs ZooKeeper and its clients in containers: start the \
             engine (`systemctl start docker`, or `dockerd &`), or point DOCKER_HOST at one, and see that `docker info` \
             answers"
        )
    };
    let docker = testcontainers::core::client::docker_client_instance()
        .await
        .with_context(help)?;
    tokio::time::timeout(Duration::from_secs(5), docker.ping())
        .await
        .with_context(|| format!("{} (waited 5 s)", help()))?
        .with_context(help)?;
    Ok(docker)
}

/// A frozen node is watched for this long; one that lives wakes several times in it.
const FROZEN_MS: u64 = 400;

/// A thawed node must have run within this time.
const THAWED_MS: u64 = 5_000;

/// What to bring up.
#[derive(Debug)]
pub struct BringUp<'a> {
    /// The run's id, in names and labels.
    pub run: &'a str,
    /// The images.
    pub images: &'a Images,
    /// The plan.
    pub plan: &'a Plan,
    /// Folder for the logs of servers, clients and sidecars.
    pub logs: PathBuf,
}

/// One node: its host and what stands beside it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) host: Host,
    pub(super) beside: Option<Host>,
    pub(super) sidecar: Option<Sidecar>,
}

/// A cluster of containers.
#[derive(Debug)]
pub struct DockerCluster {
    pub(super) docker: Docker,
    pub(super) run: String,
    pub(super) nodes: BTreeMap<String, Node>,
    plan: Plan,
    pub(super) logs: PathBuf,
}

impl DockerCluster {
    /// Starts all containers and the servers in them; does not wait for the ensemble.
    ///
    /// # Errors
    /// If a container does not start. What was started carries the run's label and goes with the sweep.
    pub async fn bring_up(docker: &Docker, order: BringUp<'_>) -> Result<Self> {
        let BringUp {
            run,
            images,
            plan,
            logs,
        } = order;
        let network = create_network(docker, run).await?;
        let servers = (1..=plan.cluster.servers).map(|n| (format!("n{n}"), &images.zookeeper, true));
        // Without faults nobody needs to touch the clients' network or processes.
        let touched = !plan.faults.is_empty();
        let clients = (1..=plan.cluster.clients).map(|n| (format!("c{n}"), &images.tools, touched));
        let network = &network;
        let logs_of = &logs;
        let nodes = try_join_all(servers.chain(clients).map(|(name, image, beside)| async move {
            let host = start_host(docker, run, &name, image, network).await?;
            let mut node = Node {
                host,
                beside: None,
                sidecar: None,
            };
            if beside {
                let container = start_sidecar(run, &name, &images.tools, &node.host).await?;
                let log = logs_of.join(format!("{name}-sidecar.log"));
                node.sidecar = Some(Sidecar::start(docker, &container.id, &name, log).await?);
                node.beside = Some(container);
            }
            anyhow::Ok((name, node))
        }))
        .await?;
        let nodes = nodes.into_iter().collect();
        let cluster = Self {
            docker: docker.clone(),
            run: run.to_string(),
            nodes,
            plan: plan.clone(),
            logs,
        };
        try_join_all(cluster.servers().iter().map(|server| cluster.restart_server(server))).await?;
        Ok(cluster)
    }

    pub(super) fn node(&self, name: &str) -> Result<&Node> {
        self.nodes
            .get(name)
            .with_context(|| format!("the cluster has no node {name}"))
    }

    pub(super) async fn ask(&self, node: &str, f: &str, value: Value, limit: Duration) -> Result<Value> {
        let sidecar = self.node(node)?.sidecar.as_ref();
        sidecar
            .with_context(|| format!("{node} has no sidecar"))?
            .call(f, value, limit)
            .await
    }

    /// The address of a node in the run's network.
    pub fn address(&self, node: &str) -> Result<IpAddr> {
        self.node(node)?
            .host
            .address
            .with_context(|| format!("{node} has no address"))
    }

    /// `host:port` of every server, with commas, as clients want it.
    pub fn connect_string(&self) -> Result<String> {
        let addresses: Result<Vec<String>> = self
            .servers()
            .iter()
            .map(|s| Ok(format!("{}:2181", self.address(s)?)))
            .collect();
        Ok(addresses?.join(","))
    }

    fn server_environment(&self, server: &str) -> Result<Vec<(String, String)>> {
        let timing = self.plan.cluster.timing;
        let mut environment = vec![
            ("ZOO_MY_ID", server.trim_start_matches('n').to_string()),
            ("ZOO_TICK_TIME", timing.tick_ms.to_string()),
            ("ZOO_INIT_LIMIT", timing.init_limit.to_string()),
            ("ZOO_SYNC_LIMIT", timing.sync_limit.to_string()),
            ("ZOO_MAX_CLIENT_CNXNS", "0".to_string()),
            ("ZOO_ADMINSERVER_ENABLED", "false".to_string()),
            ("ZOO_4LW_COMMANDS_WHITELIST", "*".to_string()),
            ("ZK_SERVER_HEAP", "256".to_string()),
        ];
        let servers = self.servers();
        if servers.len() > 1 {
            let lines: Result<Vec<String>> = servers
                .iter()
                .map(|s| {
                    Ok(format!(
                        "server.{}={}:2888:3888;2181",
                        s.trim_start_matches('n'),
                        self.address(s)?
                    ))
                })
                .collect();
            environment.push(("ZOO_SERVERS", lines?.join(" ")));
        }
        Ok(environment.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
    }

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

    /// Number of the node's threads that ran within the time, as its sidecar sees them.
    async fn ran(&self, node: &str, within_ms: u64) -> Result<u64> {
        let answer = self.ask(node, "ran", json!({ "within_ms": within_ms }), LOCAL).await?;
        answer["threads"]
            .as_u64()
            .with_context(|| format!("the sidecar of {node} counted nothing"))
    }

    /// Says how a person reaches a cluster that was left standing.
    ///
    /// # Errors
    /// If a server has no address.
    pub fn how_to_reach(&self) -> Result<String> {
        let mut lines = vec![format!("left standing: servers at {}", self.connect_string()?)];
        lines.extend(
            self.nodes
                .keys()
                .map(|name| format!("  docker exec -it zooquake-{}-{name} sh", self.run)),
        );
        lines.push("`zooquake clean` removes it".to_string());
        Ok(lines.join("\n"))
    }

    /// Removes everything that carries the run's label.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub async fn remove(self) -> Result<sweep::Swept> {
        let (docker, run) = (self.docker.clone(), self.run.clone());
        self.leave();
        sweep::sweep(&docker, Some(&run)).await
    }

    /// Leaves everything standing.
    pub fn leave(self) {
        for (_, node) in self.nodes {
            node.host.leave();
            if let Some(beside) = node.beside {
                beside.leave();
            }
        }
    }
}

impl Cluster for DockerCluster {
    fn servers(&self) -> Vec<String> {
        self.nodes
            .keys()
            .filter(|name| name.starts_with('n'))
            .cloned()
            .collect()
    }

    fn clients(&self) -> Vec<String> {
        self.nodes
            .keys()
            .filter(|name| name.starts_with('c'))
            .cloned()
            .collect()
    }

    async fn kill(&self, node: &str) -> Result<String> {
        let answer = self.ask(node, "kill", json!({}), LOCAL).await?;
        Ok(format!("SIGKILL, and its processes {} were seen gone", answer["pids"]))
    }

    async fn restart_server(&self, server: &str) -> Result<()> {
        let command = Command {
            argv: ["/docker-entrypoint.sh", "zkServer.sh", "start-foreground"]
                .map(String::from)
                .to_vec(),
            env: self.server_environment(server)?,
            log: self.logs.join(format!("{server}.log")),
            log_stdout: true,
        };
        spawn(&self.docker, &self.node(server)?.host.id, &command, |_| ()).await?;
        Ok(())
    }

    async fn start_client(
        &self,
        client: &str,
        incarnation: u64,
        on_output: impl FnMut(Output) + Send + 'static,
    ) -> Result<Stdin> {
        let env = [
            ("ZOOQUAKE_CLIENT", client.to_string()),
            ("ZOOQUAKE_INCARNATION", incarnation.to_string()),
            ("ZOOQUAKE_VARIANT", self.plan.workload.name()),
            ("ZOOQUAKE_CONNECT", self.connect_string()?),
            ("ZOOQUAKE_SESSION_MS", self.plan.cluster.timing.session_ms.to_string()),
        ];
        let command = Command {
            argv: vec!["zooquake".into(), "client".into()],
            env: env.map(|(k, v)| (k.to_string(), v)).to_vec(),
            log: self.logs.join(format!("{client}.log")),
            log_stdout: false,
        };
        spawn(&self.docker, &self.node(client)?.host.id, &command, on_output).await
    }

    async fn pause(&self, node: &str) -> Result<String> {
        let id = &self.node(node)?.host.id;
        self.docker
            .pause_container(id)
            .await
            .with_context(|| format!("freezing {node}"))?;
        let threads = self.ran(node, FROZEN_MS).await?;
        if threads > 0 {
            bail!("{node} was frozen, but {threads} of its threads went on");
        }
        Ok(format!("frozen: none of its threads ran for {FROZEN_MS} ms"))
    }

    async fn resume(&self, node: &str) -> Result<String> {
        let id = &self.node(node)?.host.id;
        match self.docker.unpause_container(id).await {
            Err(error) if error.to_string().contains("not paused") => {}
            thawed => thawed.with_context(|| format!("thawing {node}"))?,
        }
        if self.ran(node, THAWED_MS).await? == 0 {
            bail!("{node} was thawed, but none of its threads ran for {THAWED_MS} ms");
        }
        Ok("thawed: its threads run".to_string())
    }

    async fn cut(&self, node: &str, peers: &[String], directions: Directions) -> Result<String> {
        let rules: Result<Vec<Rule>> = peers
            .iter()
            .map(|peer| {
                let peer = self.address(peer)?;
                Ok(Rule {
                    peer,
                    inbound: directions.inbound,
                    outbound: directions.outbound,
                })
            })
            .collect();
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

    async fn heal(&self, node: &str, peers: &[String]) -> Result<String> {
        let dropped = self.ask(node, "dropped", json!({}), LOCAL).await?["packets"].clone();
        self.ask(node, "heal", json!({}), LOCAL).await?;
        let probes = self.probes(node, peers).await?;
        let reached = probes.iter().filter(|(_, connected)| *connected).count();
        if reached < probes.len() {
            let alive = join_all(probes.iter().filter(|p| !p.1).map(|(peer, _)| self.server_state(peer))).await;
            if alive.iter().any(Result::is_ok) {
                bail!("{node} reaches only {reached} of {} peers after healing", probes.len());
            }
        }
        Ok(format!(
            "{dropped} packets had been dropped; {reached} of {} connections made again",
            probes.len()
        ))
    }

    async fn server_state(&self, server: &str) -> Result<ServerState> {
        let answer = self.ask(server, "srvr", json!({}), Duration::from_secs(2)).await?;
        let mode = answer["mode"]
            .as_str()
            .context("a server's state without mode")?
            .to_string();
        Ok(ServerState {
            mode,
            zxid: answer["zxid"].as_i64().context("a server's state without zxid")?,
        })
    }

    async fn server_of(&self, client: &str) -> Result<Option<String>> {
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
