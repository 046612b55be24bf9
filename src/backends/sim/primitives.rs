//! The primitives in memory.

use super::cluster::SimCluster;
use super::process::ProcessState;
use anyhow::{Context, Result, bail, ensure};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::future::ready;
use std::time::Duration;
use zooquake_backend::sidecar::RuleEffect;
use zooquake_backend::{BackendFuture, Cluster, Directions, LeaderDelay, OnOutput, ServerState, Stdin, setup_paths};
use zooquake_history::{
    evidence::{Znode, data_text},
    fault::Wire,
    txnlog::{ServerEntries, TxnLogs, entry::LogEntry, union},
};
use zooquake_workloads::zk::sim::SimZnode;
use zooquake_workloads::zk::{Host, session_hex};

/// How long it takes to see the effect of a fault.
const SEEN: Duration = Duration::from_millis(10);

fn is_client(node: &str) -> bool {
    node.starts_with('c')
}

fn znode((path, node): (&str, &SimZnode)) -> Znode {
    let SimZnode { stat, data, .. } = node;
    Znode {
        path: path.to_string(),
        czxid: stat.czxid,
        mzxid: stat.mzxid,
        version: stat.version,
        owner: (stat.ephemeral_owner != 0).then(|| session_hex(stat.ephemeral_owner)),
        data: data_text(data),
    }
}

impl SimCluster {
    /// What was done, once it has had the time to be seen.
    fn after<'a>(&'a self, done: Result<()>, seen: &'static str) -> BackendFuture<'a> {
        async move {
            done?;
            self.world.sleep(SEEN).await;
            Ok(seen.to_string())
        }
        .boxed()
    }

    /// Cuts or heals what passes between a node and its peers.
    fn cut_off(&self, node: &str, peers: &[String], directions: Option<Directions>) -> Result<()> {
        let at = self.node(node)?;
        let peers: Vec<usize> = peers.iter().map(|peer| self.node(peer)).collect::<Result<_>>()?;
        let mut ensemble = self.net.server();
        let Some(directions) = directions else {
            ensemble.heal(at, &peers);
            return Ok(());
        };
        for peer in peers {
            if directions.inbound {
                ensemble.cut(peer, at);
            }
            if directions.outbound {
                ensemble.cut(at, peer);
            }
        }
        Ok(())
    }
}

impl Cluster for SimCluster {
    fn servers(&self) -> Vec<String> {
        self.servers.to_vec()
    }

    /// The order of the operations is chosen; what follows them has the order of time.
    fn entered(&self, phase: &str) {
        self.world.choose(phase == "ops");
    }

    fn voters(&self) -> Vec<String> {
        self.plan.cluster.voters()
    }

    fn clients(&self) -> Vec<String> {
        self.machines().keys().cloned().collect()
    }

    fn nodes_on(&self, host: &str) -> Option<Vec<String>> {
        Some(self.plan.cluster.nodes_on(host)?.to_vec())
    }

    fn ready(&self) -> BackendFuture<'_, ()> {
        self.until_ready().boxed()
    }

    fn kill<'a>(&'a self, node: &'a str) -> BackendFuture<'a> {
        let killed = match is_client(node) {
            true => self.live(node, ProcessState::Dead),
            false => self.server(node).map(|server| self.net.server().kill_server(server)),
        };
        self.after(killed, "killed")
    }

    fn start_server<'a>(&'a self, server: &'a str) -> BackendFuture<'a, ()> {
        ready(self.server(server).map(|server| self.net.server().start_server(server))).boxed()
    }

    fn wipe<'a>(&'a self, server: &'a str) -> BackendFuture<'a, ()> {
        let wiped = self.server(server).and_then(|number| {
            let wiped = self.net.server().wipe_server(number);
            wiped.map_err(|why| anyhow::anyhow!("{server} cannot be wiped: {why}"))
        });
        ready(wiped).boxed()
    }

    fn start_client<'a>(&'a self, client: &'a str, incarnation: u64, on_output: OnOutput) -> BackendFuture<'a, Stdin> {
        ready(self.start_process(client, incarnation, on_output)).boxed()
    }

    fn pause<'a>(&'a self, node: &'a str) -> BackendFuture<'a> {
        let frozen = match is_client(node) {
            true => self.live(node, ProcessState::Frozen),
            false => self.server(node).map(|server| self.net.server().freeze(server)),
        };
        self.after(frozen, "frozen")
    }

    fn resume<'a>(&'a self, node: &'a str) -> BackendFuture<'a> {
        let thawed = match is_client(node) {
            true => self.live(node, ProcessState::Runs),
            false => self.server(node).map(|server| self.net.server().thaw(server)),
        };
        self.after(thawed, "thawed")
    }

    fn sees_running<'a>(&'a self, client: &'a str) -> BackendFuture<'a> {
        let runs = self.process(client).and_then(|process| {
            ensure!(process.life() == ProcessState::Runs, "{client} does not run");
            Ok(())
        });
        self.after(runs, "it runs")
    }

    fn partition<'a>(&'a self, node: &'a str, peers: &'a [String], directions: Directions) -> BackendFuture<'a> {
        self.after(self.cut_off(node, peers, Some(directions)), "cut off")
    }

    fn heal_partition<'a>(&'a self, node: &'a str, peers: &'a [String]) -> BackendFuture<'a> {
        self.after(self.cut_off(node, peers, None), "connected again")
    }

    fn lose<'a>(&'a self, client: &'a str, wire: Wire, limit: Duration) -> BackendFuture<'a, Option<RuleEffect>> {
        self.lose_one(client, wire, limit).boxed()
    }

    fn lose_nothing<'a>(&'a self, _: &'a str) -> BackendFuture<'a, ()> {
        // What waits is dropped with its way back, and so it ends.
        self.net.server().script.clear();
        ready(Ok(())).boxed()
    }

    fn disconnect<'a>(&'a self, client: &'a str, _: Wire) -> BackendFuture<'a> {
        let refused = self.node(client).and_then(|host| {
            let connections = self.net.server().refuse(host);
            ensure!(connections > 0, "{client} had no connection that could be cut");
            Ok(())
        });
        self.after(refused, "connections closed, and others are refused")
    }

    fn reconnect<'a>(&'a self, client: &'a str) -> BackendFuture<'a> {
        self.come_back(client).boxed()
    }

    fn expire<'a>(&'a self, client: &'a str) -> BackendFuture<'a, Option<String>> {
        self.close_newest(client).boxed()
    }

    fn lag<'a>(&'a self, server: &'a str, behind: LeaderDelay) -> BackendFuture<'a> {
        self.fall_behind(server, behind).boxed()
    }

    fn catch_up<'a>(&'a self, server: &'a str, behind: LeaderDelay) -> BackendFuture<'a> {
        self.catch_up_again(server, behind).boxed()
    }

    fn create<'a>(&'a self, server: &'a str, paths: &'a [String]) -> BackendFuture<'a, ()> {
        self.create_through(server, paths).boxed()
    }

    fn set_up<'a>(&'a self, server: &'a str) -> BackendFuture<'a, ()> {
        async move { self.create_through(server, &setup_paths(&self.plan)).await }.boxed()
    }

    fn exists<'a>(&'a self, server: &'a str, path: &'a str) -> BackendFuture<'a, bool> {
        async move {
            let stat = self.session(server).await?.exists(path).await;
            Ok(stat.with_context(|| format!("asking {server} for {path}"))?.is_some())
        }
        .boxed()
    }

    fn server_state<'a>(&'a self, server: &'a str) -> BackendFuture<'a, ServerState> {
        async move {
            self.world.sleep(Duration::from_millis(1)).await;
            self.state_of(server)
        }
        .boxed()
    }

    fn server_of<'a>(&'a self, client: &'a str) -> BackendFuture<'a, Option<String>> {
        let server = self.node(client).map(|host| self.net.server().server_for(host));
        ready(server.map(|server| server.map(|server| self.servers[server].clone()))).boxed()
    }

    fn canary<'a>(&'a self, server: &'a str, session_ms: u64) -> BackendFuture<'a, u64> {
        self.silent_session(server, Duration::from_millis(session_ms)).boxed()
    }

    fn tree<'a>(&'a self, server: &'a str) -> BackendFuture<'a, Vec<Znode>> {
        async move {
            let _session = self.session(server).await?;
            Ok(self.net.server().nodes_at(self.server(server)?).map(znode).collect())
        }
        .boxed()
    }

    fn transactions(&self) -> BoxFuture<'_, TxnLogs> {
        let (ensemble, voters) = (self.net.server(), self.voters());
        let logged = |txn| LogEntry {
            txn,
            unlisted: false,
            data: 0,
        };
        let log = |(number, server): (usize, &String)| ServerEntries {
            server: server.clone(),
            voter: voters.contains(server),
            entries: ensemble.logged(number).map(logged).collect(),
            problems: Vec::new(),
        };
        ready(union(self.servers.iter().enumerate().map(log).collect())).boxed()
    }

    fn log_tail(&self, node: &str) -> String {
        format!("{node} writes no log")
    }

    fn how_to_reach(&self) -> Result<String> {
        bail!("nothing is left of what was in memory")
    }

    fn remove(&self) -> BackendFuture<'_, ()> {
        let clients = self.clients();
        // What still runs there ends.
        clients
            .iter()
            .for_each(|client| drop(self.live(client, ProcessState::Dead)));
        for server in 0..self.servers.len() {
            self.net.server().kill_server(server);
        }
        ready(Ok(())).boxed()
    }
}
