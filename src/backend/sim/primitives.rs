//! The primitives in memory.

use super::cluster::SimCluster;
use super::process::Life;
use crate::backend::{Cluster, Directions, Doing, OnOutput, ServerState, Stdin};
use crate::sidecar::Dropped;
use anyhow::{Context, Result, bail, ensure};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::future::ready;
use std::time::Duration;
use zooquake_checkers::evidence::{Txn, Znode};
use zooquake_history::fault::Wire;
use zooquake_workloads::zk::{Host, SessionState, session_hex};

/// How long it takes to see the effect of a fault.
const SEEN: Duration = Duration::from_millis(10);

/// How often a server is asked whether it serves.
const POLL: Duration = Duration::from_millis(50);

fn is_client(node: &str) -> bool {
    node.starts_with('c')
}

impl SimCluster {
    /// What was done, once it has had the time to be seen.
    fn after<'a>(&'a self, done: Result<()>, seen: &'static str) -> Doing<'a> {
        async move {
            done?;
            self.world.sleep(SEEN).await;
            Ok(seen.to_string())
        }
        .boxed()
    }

    fn state_of(&self, server: &str) -> Result<ServerState> {
        let state = self.state();
        let host = state
            .servers
            .get(server)
            .with_context(|| format!("there is no {server}"))?;
        ensure!(host.runs && !host.frozen && !host.cut, "{server} does not answer");
        let leader = state
            .leader
            .as_ref()
            .with_context(|| format!("{server} is not serving"))?;
        let mode = match leader == server {
            true => "leader",
            false => "follower",
        };
        Ok(ServerState {
            mode: mode.to_string(),
            zxid: self.net.server().zxid(),
            version: "model".to_string(),
        })
    }
}

impl Cluster for SimCluster {
    fn servers(&self) -> Vec<String> {
        self.state().servers.keys().cloned().collect()
    }

    fn voters(&self) -> Vec<String> {
        self.plan.cluster.voters()
    }

    fn clients(&self) -> Vec<String> {
        self.state().machines.keys().cloned().collect()
    }

    fn ready(&self) -> Doing<'_, ()> {
        async move {
            while self.state().leader.is_none() {
                self.world.sleep(POLL).await;
            }
            Ok(())
        }
        .boxed()
    }

    fn kill<'a>(&'a self, node: &'a str) -> Doing<'a> {
        let killed = match is_client(node) {
            true => self.live(node, Life::Dead),
            false => self.on_server(node, |server| server.runs = false),
        };
        self.after(killed, "killed")
    }

    fn start_server<'a>(&'a self, server: &'a str) -> Doing<'a, ()> {
        ready(self.on_server(server, |server| server.runs = true)).boxed()
    }

    fn wipe<'a>(&'a self, _: &'a str) -> Doing<'a, ()> {
        ready(Err(anyhow::anyhow!("nothing is on disk"))).boxed()
    }

    fn start_client<'a>(&'a self, client: &'a str, incarnation: u64, on_output: OnOutput) -> Doing<'a, Stdin> {
        ready(self.start_process(client, incarnation, on_output)).boxed()
    }

    fn pause<'a>(&'a self, node: &'a str) -> Doing<'a> {
        let frozen = match is_client(node) {
            true => self.live(node, Life::Frozen),
            false => self.on_server(node, |server| server.frozen = true),
        };
        self.after(frozen, "frozen")
    }

    fn resume<'a>(&'a self, node: &'a str) -> Doing<'a> {
        let thawed = match is_client(node) {
            true => self.live(node, Life::Runs),
            false => self.on_server(node, |server| server.frozen = false),
        };
        self.after(thawed, "thawed")
    }

    fn sees_running<'a>(&'a self, client: &'a str) -> Doing<'a> {
        let runs = self.process(client).and_then(|process| {
            ensure!(process.life() == Life::Runs, "{client} does not run");
            Ok(())
        });
        self.after(runs, "it runs")
    }

    fn partition<'a>(&'a self, node: &'a str, _: &'a [String], _: Directions) -> Doing<'a> {
        let cut = match is_client(node) {
            true => self.on_machine(node, |machine| machine.cut = true),
            false => self.on_server(node, |server| server.cut = true),
        };
        self.after(cut, "cut off")
    }

    fn heal_partition<'a>(&'a self, node: &'a str, _: &'a [String]) -> Doing<'a> {
        let healed = match is_client(node) {
            true => self.on_machine(node, |machine| machine.cut = false),
            false => self.on_server(node, |server| server.cut = false),
        };
        self.after(healed, "connected again")
    }

    fn lose<'a>(&'a self, client: &'a str, wire: Wire, limit: Duration) -> Doing<'a, Option<Dropped>> {
        self.lose_one(client, wire, limit).boxed()
    }

    fn lose_nothing<'a>(&'a self, _: &'a str) -> Doing<'a, ()> {
        // What waits is dropped with its way back, and so it ends.
        self.net.server().script.clear();
        ready(Ok(())).boxed()
    }

    fn disconnect<'a>(&'a self, client: &'a str, _: Wire) -> Doing<'a> {
        self.after(self.on_machine(client, |machine| machine.refused = true), "refused")
    }

    fn reconnect<'a>(&'a self, client: &'a str) -> Doing<'a> {
        self.after(
            self.on_machine(client, |machine| machine.refused = false),
            "let through",
        )
    }

    fn expire<'a>(&'a self, client: &'a str) -> Doing<'a, Option<String>> {
        async move {
            let expired = self.process(client)?.expire();
            self.world.sleep(SEEN).await;
            Ok(expired.map(|session| format!("session {} was closed", session_hex(session))))
        }
        .boxed()
    }

    fn create<'a>(&'a self, _: &'a str, paths: &'a [String]) -> Doing<'a, ()> {
        let mut server = self.net.server();
        paths.iter().for_each(|path| server.ensure(path));
        ready(Ok(())).boxed()
    }

    fn set_up<'a>(&'a self, server: &'a str) -> Doing<'a, ()> {
        let workload = &self.plan.workload;
        let paths: Vec<String> = workload.contenders.iter().chain(&workload.znodes).cloned().collect();
        async move { self.create(server, &paths).await }.boxed()
    }

    fn exists<'a>(&'a self, _: &'a str, path: &'a str) -> Doing<'a, bool> {
        ready(Ok(self.net.server().exists(path).is_some())).boxed()
    }

    fn server_state<'a>(&'a self, server: &'a str) -> Doing<'a, ServerState> {
        async move {
            self.world.sleep(Duration::from_millis(1)).await;
            self.state_of(server)
        }
        .boxed()
    }

    fn server_of<'a>(&'a self, client: &'a str) -> Doing<'a, Option<String>> {
        ready(self.process(client).map(|process| process.server())).boxed()
    }

    fn canary<'a>(&'a self, server: &'a str, session_ms: u64) -> Doing<'a, u64> {
        async move {
            self.state_of(server)?;
            let (session, _) = self.net.server().open();
            // A tick later than the sessions that fell silent before it.
            let ms = session_ms + self.plan.cluster.timing.tick_ms;
            self.world.sleep(Duration::from_millis(ms)).await;
            self.net.server().end(session, SessionState::Expired);
            Ok(ms)
        }
        .boxed()
    }

    fn tree<'a>(&'a self, _: &'a str) -> Doing<'a, Vec<Znode>> {
        let server = self.net.server();
        let znode = |(path, stat, data): (&str, zooquake_workloads::zk::Stat, &[u8])| Znode {
            path: path.to_string(),
            czxid: stat.czxid,
            mzxid: stat.mzxid,
            version: stat.version,
            owner: (stat.ephemeral_owner != 0).then(|| session_hex(stat.ephemeral_owner)),
            data: String::from_utf8_lossy(data).chars().take(256).collect(),
        };
        ready(Ok(server.nodes().map(znode).collect())).boxed()
    }

    fn transactions(&self) -> BoxFuture<'_, (Vec<Txn>, Vec<String>)> {
        ready((Vec::new(), Vec::new())).boxed()
    }

    fn log_tail(&self, node: &str) -> String {
        format!("{node} writes no log")
    }

    fn how_to_reach(&self) -> Result<String> {
        bail!("nothing is left of what was in memory")
    }

    fn remove(&self) -> Doing<'_, ()> {
        let clients = self.clients();
        // What still runs there ends.
        clients.iter().for_each(|client| drop(self.live(client, Life::Dead)));
        ready(Ok(())).boxed()
    }
}
