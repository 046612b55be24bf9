//! The hosts of a run, with what stands beside them.

use super::engine_watch::EngineWatch;
use super::hosts::{HostContainer, start_host, start_sidecar};
use super::machines::Machines;
use super::run_network::network_for_run;
use super::sidecar::{Sidecar, touches_client};
use super::sweep;
use crate::images::Images;
use crate::sidecar::SidecarRequest;
use crate::{BringUp, Cluster};
use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use tokio::sync::Semaphore;
use zooquake_history::Node;
use zooquake_history::plan::Plan;

/// Most nodes that are made at once on one engine: of many, each would wait for all, and the last longer than an answer
/// may take.
const MADE_AT_ONCE: usize = 10;

/// The port on which a server waits for clients.
pub(super) const CLIENT_PORT: u16 = 2181;

/// One node: its host and what stands beside it.
#[derive(Debug)]
pub(super) struct DockerNode {
    /// The engine of the machine that it stands on.
    pub(super) docker: Docker,
    pub(super) watch: Arc<EngineWatch>,
    pub(super) host: HostContainer,
    pub(super) sidecar: Option<Sidecar>,
    /// Streams of a server's processes that have not ended; with them the log grows.
    pub(super) streams: Arc<AtomicUsize>,
    /// The last process of a client.
    pub(super) client: Mutex<ClientStart>,
}

/// The last start of a client's process.
#[derive(Debug, Clone, Default)]
pub(super) struct ClientStart {
    /// The id of the process at its engine; `None` if none was started.
    pub(super) exec: Option<String>,
    /// How often the engine had been lost before.
    pub(super) losses: u64,
}

impl DockerNode {
    /// The last start of its client.
    pub(super) fn client_start(&self) -> ClientStart {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A cluster of containers.
#[derive(Debug)]
pub struct DockerCluster {
    pub(super) machines: Machines,
    /// What looks at each machine's engine.
    pub(super) watches: Vec<Arc<EngineWatch>>,
    pub(super) run: String,
    pub(super) nodes: BTreeMap<Node, DockerNode>,
    pub(super) plan: Plan,
    pub(super) logs: PathBuf,
}

impl DockerCluster {
    /// Starts all containers, and no server in them.
    ///
    /// # Errors
    /// If a container does not start. What was started carries the run's label and goes with the sweep.
    pub(super) async fn hosts(machines: &Machines, images: &Images, what: BringUp<'_>) -> Result<Self> {
        let BringUp { run, plan, logs, keep } = what;
        let planned: Vec<&String> = plan.cluster.hosts.iter().map(|host| &host.address).collect();
        ensure!(
            machines.addresses().iter().eq(planned),
            "the plan stands on other hosts than those that are connected"
        );
        let network = network_for_run(machines, (run, keep), &images.tools).await?;
        let servers = plan.cluster.ensemble().into_iter();
        let servers = servers.map(|server| (server, &images.zookeeper, true));
        let image = match &plan.workload.recipe {
            Some(recipe) => recipe
                .digest
                .as_ref()
                .context("the image of the recipe was not prepared")?,
            None => &images.tools,
        };
        let clients = plan.cluster.client_nodes().into_iter().map(|client| {
            let beside = touches_client(plan, &client);
            (client, image, beside)
        });
        let network = &network;
        let logs_of = &logs;
        let watches = machines.all.iter().map(|machine| EngineWatch::start(&machine.docker));
        let watches: Vec<Arc<EngineWatch>> = watches.map(Arc::new).collect();
        let turns: Vec<Semaphore> = watches.iter().map(|_| Semaphore::new(MADE_AT_ONCE)).collect();
        let (all, turns) = (&watches, &turns);
        let nodes = try_join_all(servers.chain(clients).map(|(name, image, beside)| async move {
            let place = machine_of(machines, plan, &name)?;
            let (machine, watch) = (&machines.all[place], &all[place]);
            let docker = &machine.docker;
            let _turn = turns[place].acquire().await.context("turns are never closed")?;
            let host = machine.explain(start_host(docker, run, &name, image, network).await)?;
            let mut node = DockerNode {
                docker: docker.clone(),
                watch: Arc::clone(watch),
                host,
                sidecar: None,
                streams: Arc::default(),
                client: Mutex::default(),
            };
            if beside {
                let container = machine.explain(start_sidecar(docker, run, &name, &images.tools, &node.host).await)?;
                let log = logs_of.join(format!("{name}-sidecar.log"));
                node.sidecar = Some(Sidecar::start(docker, watch, &container.id, &name.to_string(), log).await?);
            }
            anyhow::Ok((name, node))
        }))
        .await?;
        let nodes = nodes.into_iter().collect();
        let cluster = Self {
            machines: machines.clone(),
            watches,
            run: run.to_string(),
            nodes,
            plan: plan.clone(),
            logs,
        };
        cluster.carry_quorum().await?;
        Ok(cluster)
    }

    pub(super) fn node(&self, name: &Node) -> Result<&DockerNode> {
        self.nodes
            .get(name)
            .with_context(|| format!("the cluster has no node {name}"))
    }

    /// Asks the sidecar of a node.
    ///
    /// # Errors
    /// If the node has no sidecar, or that refuses or does not answer within `limit`.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        node: &Node,
        request: SidecarRequest,
        limit: Duration,
    ) -> Result<T> {
        let sidecar = self.node(node)?.sidecar.as_ref();
        let sidecar = sidecar.with_context(|| format!("{node} has no sidecar"))?;
        sidecar.call(request, limit).await
    }

    /// The address of a node in the run's network.
    pub fn address(&self, node: &Node) -> Result<IpAddr> {
        self.node(node)?
            .host
            .address
            .with_context(|| format!("{node} has no address"))
    }

    /// The address and port on which each of these servers waits for clients, in their order.
    ///
    /// # Errors
    /// If one has no address.
    pub(super) fn client_ports(&self, servers: &[Node]) -> Result<Vec<SocketAddr>> {
        let port = |server: &Node| Ok(SocketAddr::new(self.address(server)?, CLIENT_PORT));
        servers.iter().map(port).collect()
    }

    /// `host:port` of these servers, with commas, as clients want it.
    pub fn connect_string(&self, servers: &[Node]) -> Result<String> {
        Ok(joined(&self.client_ports(servers)?))
    }

    /// Instructions, one a line, to reach a cluster that was left standing.
    ///
    /// # Errors
    /// If a server has no address.
    pub(super) fn ways_to_reach(&self) -> Result<String> {
        let mut lines = vec![format!(
            "left standing: servers at {}",
            self.connect_string(&self.servers())?
        )];
        for name in self.nodes.keys() {
            let place = machine_of(&self.machines, &self.plan, name)?;
            let named = self.machines.all[place].named.as_ref();
            let at = named.map(|named| format!("-H {} ", named.address)).unwrap_or_default();
            lines.push(format!("  docker {at}exec -it zooquake-{}-{name} sh", self.run));
        }
        lines.push(format!("`{}` removes it", self.clean_line()));
        Ok(lines.join("\n"))
    }

    /// The command line that removes what is left of the run.
    fn clean_line(&self) -> String {
        sweep::clean_line(&self.machines, Some(&self.run))
    }

    /// Removes everything that carries the run's label, but for its lease.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub(super) async fn clear_away(&self) -> Result<()> {
        let run = &self.run;
        let removed = sweep::cluster(&self.machines, run).await;
        removed.with_context(|| {
            format!(
                "clearing the cluster away; `{}` removes what is left",
                self.clean_line()
            )
        })?;
        // The servers' logs are complete once their streams have ended: they are evidence, and are about to be read.
        let begun = Instant::now();
        let open = || self.nodes.values().any(|node| node.streams.load(Ordering::Relaxed) > 0);
        while open() && begun.elapsed() < Duration::from_secs(5) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

/// The connect string of these addresses: `10.0.0.1:2181,10.0.0.2:2181`.
pub(super) fn joined(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    texts.join(",")
}

/// The place, among all, of the machine that a node of the plan stands on.
fn machine_of(machines: &Machines, plan: &Plan, node: &Node) -> Result<usize> {
    let place = match machines.are_several() {
        true => plan.cluster.host_of(node),
        false => Some(0),
    };
    let place = place.filter(|place| *place < machines.all.len());
    place.with_context(|| format!("the plan has no host for {node}"))
}
