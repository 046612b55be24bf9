//! The primitives, as the real cluster has them.

use super::{DockerCluster, wire};
use crate::backend::{Cluster, Directions, Doing, OnOutput, ServerState, Stdin, setup_paths};
use crate::sidecar::Dropped;
use anyhow::{Context, Result};
use futures_util::future::BoxFuture;
use serde_json::json;
use std::time::Duration;
use zooquake_checkers::evidence::{Txn, Znode};
use zooquake_history::fault::Wire;

impl DockerCluster {
    fn names(&self, initial: char) -> Vec<String> {
        let names = self.nodes.keys().filter(|name| name.starts_with(initial));
        names.cloned().collect()
    }

    async fn state_of(&self, server: &str) -> Result<ServerState> {
        let answer = self.ask(server, "srvr", json!({}), Duration::from_secs(2)).await?;
        let mode = answer["mode"]
            .as_str()
            .context("a server's state without mode")?
            .to_string();
        Ok(ServerState {
            mode,
            zxid: answer["zxid"].as_i64().context("a server's state without zxid")?,
            version: answer["version"].as_str().unwrap_or_default().to_string(),
        })
    }
}

impl Cluster for DockerCluster {
    fn servers(&self) -> Vec<String> {
        self.names('n')
    }

    fn voters(&self) -> Vec<String> {
        self.plan.cluster.voters()
    }

    fn clients(&self) -> Vec<String> {
        self.names('c')
    }

    fn kill<'a>(&'a self, node: &'a str) -> Doing<'a> {
        Box::pin(self.kill_processes(node))
    }

    fn ready(&self) -> Doing<'_, ()> {
        Box::pin(self.until_ready())
    }

    fn start_server<'a>(&'a self, server: &'a str) -> Doing<'a, ()> {
        Box::pin(self.start_server_unless_running(server))
    }

    fn wipe<'a>(&'a self, server: &'a str) -> Doing<'a, ()> {
        Box::pin(self.lose_data(server))
    }

    fn start_client<'a>(&'a self, client: &'a str, incarnation: u64, on_output: OnOutput) -> Doing<'a, Stdin> {
        Box::pin(self.start_client_process(client, incarnation, on_output))
    }

    fn pause<'a>(&'a self, node: &'a str) -> Doing<'a> {
        Box::pin(self.freeze(node))
    }

    fn resume<'a>(&'a self, node: &'a str) -> Doing<'a> {
        Box::pin(self.thaw(node))
    }

    fn sees_running<'a>(&'a self, client: &'a str) -> Doing<'a> {
        Box::pin(self.running(client))
    }

    fn partition<'a>(&'a self, node: &'a str, peers: &'a [String], directions: Directions) -> Doing<'a> {
        Box::pin(self.cut_off(node, peers, directions))
    }

    fn heal_partition<'a>(&'a self, node: &'a str, peers: &'a [String]) -> Doing<'a> {
        Box::pin(self.join_again(node, peers))
    }

    fn lose<'a>(&'a self, client: &'a str, wire: Wire, limit: Duration) -> Doing<'a, Option<Dropped>> {
        Box::pin(wire::lose(self, client, wire, limit))
    }

    fn lose_nothing<'a>(&'a self, client: &'a str) -> Doing<'a, ()> {
        Box::pin(wire::lose_nothing(self, client))
    }

    fn disconnect<'a>(&'a self, client: &'a str, how: Wire) -> Doing<'a> {
        Box::pin(wire::disconnect(self, client, how))
    }

    fn reconnect<'a>(&'a self, client: &'a str) -> Doing<'a> {
        Box::pin(wire::reconnect(self, client))
    }

    fn expire<'a>(&'a self, client: &'a str) -> Doing<'a, Option<String>> {
        Box::pin(wire::expire(self, client))
    }

    fn create<'a>(&'a self, server: &'a str, paths: &'a [String]) -> Doing<'a, ()> {
        Box::pin(self.create_through(server, paths))
    }

    fn set_up<'a>(&'a self, server: &'a str) -> Doing<'a, ()> {
        Box::pin(async move { self.create_through(server, &setup_paths(&self.plan)).await })
    }

    fn exists<'a>(&'a self, server: &'a str, path: &'a str) -> Doing<'a, bool> {
        Box::pin(self.exists_at(server, path))
    }

    fn server_state<'a>(&'a self, server: &'a str) -> Doing<'a, ServerState> {
        Box::pin(self.state_of(server))
    }

    fn server_of<'a>(&'a self, client: &'a str) -> Doing<'a, Option<String>> {
        Box::pin(self.connected_server(client))
    }

    fn canary<'a>(&'a self, server: &'a str, session_ms: u64) -> Doing<'a, u64> {
        Box::pin(self.silent_session(server, session_ms))
    }

    fn tree<'a>(&'a self, server: &'a str) -> Doing<'a, Vec<Znode>> {
        Box::pin(self.read_tree(server))
    }

    fn transactions(&self) -> BoxFuture<'_, (Vec<Txn>, Vec<String>)> {
        Box::pin(self.read_transactions())
    }

    fn log_tail(&self, node: &str) -> String {
        self.tail_of_log(node)
    }

    fn how_to_reach(&self) -> Result<String> {
        self.ways_to_reach()
    }

    fn remove(&self) -> Doing<'_, ()> {
        Box::pin(self.clear_away())
    }
}
