//! The primitives, as the real cluster has them.

use super::{DockerCluster, wire};
use crate::sidecar::{RuleEffect, SidecarRequest};
use crate::{BackendFuture, Cluster, Directions, LeaderDelay, OnOutput, Passage, ServerState, Stdin, setup_paths};
use anyhow::Result;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::time::Duration;
use zooquake_history::evidence::Znode;
use zooquake_history::fault::{Latency, Wire};
use zooquake_history::txnlog::TxnLogs;
use zooquake_history::{Host, Node};

impl DockerCluster {
    async fn state_of(&self, server: &Node) -> Result<ServerState> {
        let limit = Duration::from_secs(2);
        self.ask(server, SidecarRequest::Srvr, limit).await
    }
}

/// Primitives, each of which is carried out by a method of the part that it concerns.
macro_rules! carried_out_by {
    ($($name:ident($($argument:ident: $type:ty),*) -> $made:ty = $method:path;)*) => {
        $(
            fn $name<'a>(&'a self, $($argument: $type),*) -> BackendFuture<'a, $made> {
                Box::pin($method(self, $($argument),*))
            }
        )*
    };
}

impl Cluster for DockerCluster {
    fn servers(&self) -> Vec<Node> {
        self.nodes.keys().filter(|node| node.is_server()).cloned().collect()
    }

    fn voters(&self) -> Vec<Node> {
        self.plan.cluster.voters()
    }

    fn clients(&self) -> Vec<Node> {
        self.nodes.keys().filter(|node| node.is_client()).cloned().collect()
    }

    fn nodes_on(&self, host: &Host) -> Option<Vec<Node>> {
        Some(self.plan.cluster.nodes_on(host)?.to_vec())
    }

    fn lost_engines(&self) -> Vec<String> {
        self.engines_lost()
    }

    fn unreachable<'a>(&'a self, client: &'a Node) -> BoxFuture<'a, Option<String>> {
        Box::pin(self.lost_client(client))
    }

    carried_out_by! {
        ready() -> () = Self::until_ready;
        kill(node: &'a Node) -> String = Self::kill_processes;
        start_server(server: &'a Node) -> () = Self::start_server_unless_running;
        wipe(server: &'a Node) -> () = Self::lose_data;
        start_client(client: &'a Node, incarnation: u64, on_output: OnOutput) -> Stdin = Self::start_client_process;
        pause(node: &'a Node) -> String = Self::freeze;
        resume(node: &'a Node) -> String = Self::thaw;
        sees_running(client: &'a Node) -> String = Self::running;
        partition(node: &'a Node, peers: &'a [Node], directions: Directions) -> String = Self::cut_off;
        heal_partition(node: &'a Node, peers: &'a [Node]) -> String = Self::join_again;
        arm(client: &'a Node, wire: Wire, limit: Duration) -> Option<RuleEffect> = wire::arm;
        disarm(client: &'a Node) -> () = wire::disarm;
        delay(client: &'a Node, latency: Latency) -> String = wire::delay;
        stall(client: &'a Node) -> String = wire::stall;
        pass_on(client: &'a Node, delayed: Option<Latency>) -> Passage = wire::pass_on;
        disconnect(client: &'a Node, how: Wire) -> String = wire::disconnect;
        reconnect(client: &'a Node) -> String = wire::reconnect;
        route(client: &'a Node, server: &'a Node) -> String = wire::route;
        unroute(client: &'a Node) -> String = wire::unroute;
        expire(client: &'a Node) -> Option<String> = wire::expire;
        lag(server: &'a Node, behind: LeaderDelay) -> String = Self::fall_behind;
        catch_up(server: &'a Node, behind: LeaderDelay) -> String = Self::catch_up_again;
        create(server: &'a Node, paths: &'a [String]) -> () = Self::create_through;
        exists(server: &'a Node, path: &'a str) -> bool = Self::exists_at;
        server_state(server: &'a Node) -> ServerState = Self::state_of;
        server_of(client: &'a Node) -> Option<Node> = Self::connected_server;
        canary(server: &'a Node, session_ms: u64) -> u64 = Self::silent_session;
        tree(server: &'a Node) -> Vec<Znode> = Self::read_tree;
        hosts() -> Option<Value> = Self::measured_hosts;
        remove() -> () = Self::clear_away;
    }

    fn set_up<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()> {
        Box::pin(async move { self.create_through(server, &setup_paths(&self.plan)).await })
    }

    fn transactions(&self) -> BoxFuture<'_, TxnLogs> {
        Box::pin(self.read_transactions())
    }

    fn log_tail(&self, node: &Node) -> String {
        self.tail_of_log(node)
    }

    fn how_to_reach(&self) -> Result<String> {
        self.ways_to_reach()
    }
}
