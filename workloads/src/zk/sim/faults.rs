//! What can be done to the nodes and the network.

use std::time::Duration;

use super::ensemble::Ensemble;
use super::server::Role;
use super::txn::Write;
use super::wire::{HoldOutcome, NodeId, Purpose};
use crate::zk::SessionState;

/// How late at most what waited for a node arrives when it is thawed.
const THAW: Duration = Duration::from_millis(1);

/// How long at most TCP waits before it sends again what a cut has swallowed.
const RETRANSMISSION: Duration = Duration::from_millis(800);

/// Which connections of a host's clients are refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Refusal {
    /// None.
    #[default]
    None,
    /// Those to every server.
    All,
    /// Those to every server but this one.
    AllBut(NodeId),
}

impl Refusal {
    /// Whether a connection to this server is refused.
    pub fn strikes(self, server: NodeId) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::AllBut(spared) => spared != server,
        }
    }
}

impl Ensemble {
    /// Deletes what a server whose process is dead has on its disk, but for the epochs that it has promised.
    ///
    /// # Errors
    /// If its process runs.
    pub fn wipe_server(&mut self, server: usize) -> Result<(), String> {
        if self.servers[server].runs() {
            return Err("its process runs".to_string());
        }
        self.servers[server].wipe();
        Ok(())
    }

    /// Freezes a node: it does nothing, and its kernel goes on.
    pub fn freeze(&mut self, node: NodeId) {
        self.nodes[node].frozen = true;
    }

    /// Thaws a node; nothing happens to one that is not frozen.
    pub fn thaw(&mut self, node: NodeId) {
        if !std::mem::take(&mut self.nodes[node].frozen) {
            return;
        }
        // Its timers are due, and its sockets are full: which comes first is left to chance.
        for event in std::mem::take(&mut self.nodes[node].held) {
            let later = self.world.draw(|rng| rng.u64(0..1_000));
            self.after(Duration::from_micros(later), event);
        }
        self.resume(THAW, |_, to| to == node);
        self.changed();
    }

    /// Lets nothing pass in one direction.
    pub fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cuts.insert((from, to));
    }

    /// Lets everything pass again between a node and these, and what was swallowed be sent again.
    pub fn heal(&mut self, node: NodeId, peers: &[NodeId]) {
        for peer in peers {
            self.cuts.remove(&(node, *peer));
            self.cuts.remove(&(*peer, node));
        }
        let peers = peers.to_vec();
        self.resume(RETRANSMISSION, move |from, to| {
            (from == node && peers.contains(&to)) || (to == node && peers.contains(&from))
        });
    }

    /// The process of the clients on a host is killed.
    pub fn kill_clients(&mut self, host: NodeId) {
        for client in self.clients_on(host) {
            self.die(client);
        }
    }

    fn clients_on(&self, host: NodeId) -> Vec<usize> {
        let on = |client: &usize| self.clients[*client].host == host;
        (0..self.clients.len()).filter(on).collect()
    }

    /// Ends the connections of the clients on a host that are refused from now on, and refuses new ones; how many there
    /// were.
    pub fn refuse(&mut self, host: NodeId, refusal: Refusal) -> usize {
        self.nodes[host].refusal = refusal;
        let wires: Vec<usize> = self
            .clients_on(host)
            .into_iter()
            .filter_map(|client| self.wire_of(client))
            .filter(|wire| refusal.strikes(self.wires[*wire].ends[1]))
            .collect();
        wires.iter().for_each(|wire| self.lose_connection(*wire));
        wires.len()
    }

    /// Lets the connections of the clients on a host through again.
    pub fn let_through(&mut self, host: NodeId) {
        self.nodes[host].refusal = Refusal::None;
    }

    /// Has what passes between the clients on a host and the servers take so much longer, or as much more or less as
    /// the jitter at most, from now on.
    pub fn delay(&mut self, host: NodeId, latency: Duration, jitter: Duration) {
        self.nodes[host].proxy.latency = Some((latency, jitter.min(latency)));
    }

    /// Lets nothing pass between the clients on a host and the servers; how many connections these have.
    pub fn stall(&mut self, host: NodeId) -> usize {
        self.nodes[host].proxy.stalled = true;
        let clients = self.clients_on(host).into_iter();
        clients.filter(|client| self.wire_of(*client).is_some()).count()
    }

    /// Lets everything pass again between the clients on a host and the servers, what has waited first; what became of
    /// the reply that was kept back there, if one was.
    pub fn pass_on(&mut self, host: NodeId) -> Option<HoldOutcome> {
        let traffic = std::mem::take(&mut self.nodes[host].proxy);
        if traffic.stalled {
            self.resume(THAW, |from, to| from == host || to == host);
        }
        if traffic.latency.is_some() {
            for wire in self.wires_of(host) {
                self.hurry(wire, 0);
                self.hurry(wire, 1);
            }
        }
        self.deliver()
    }

    /// Has what its leader sends reach a server so much later from now on.
    pub fn lag(&mut self, server: usize, delay: Duration) {
        self.nodes[server].lag = delay;
    }

    /// Ends that: what has waited arrives.
    pub fn catch_up(&mut self, server: usize) {
        self.nodes[server].lag = Duration::ZERO;
        for wire in 0..self.wires.len() {
            if self.is_from_leader(wire, 1) && self.wires[wire].ends[0] == server {
                self.hurry(wire, 1);
            }
        }
    }

    /// The server that serves the newest session on a host.
    pub fn server_for(&self, host: NodeId) -> Option<usize> {
        self.clients_on(host)
            .into_iter()
            .rev()
            .find_map(|client| self.server_of(client))
    }

    /// Whether a session was opened by a client on a host.
    pub fn owns(&self, host: NodeId, session: i64) -> bool {
        self.clients
            .iter()
            .any(|client| client.host == host && client.session == session)
    }

    /// The newest session of a host, if it is connected.
    pub fn session_on(&self, host: NodeId) -> Option<i64> {
        let newest = self
            .clients_on(host)
            .into_iter()
            .rev()
            .find(|client| self.wire_of(*client).is_some())?;
        let session = self.clients[newest].session;
        (self.server_of(newest).is_some() && session != 0).then_some(session)
    }

    /// Closes a session from outside; its transaction. `None` if nobody leads.
    pub fn close_session(&mut self, session: i64) -> Option<i64> {
        let leader = self.leader()?;
        // What becomes of it, the quorum decides.
        let _ = self.prepare(leader, session, Write::Close, None);
        Some(self.servers[leader].last_logged())
    }

    /// Whether a server still has a session.
    pub fn has_session(&self, server: usize, session: i64) -> bool {
        self.servers[server].tree.sessions.contains_key(&session)
    }

    /// Whether a server serves, and how: `leader`, `follower`, `observer` or `standalone`; with its last transaction.
    /// `None` of one that does not answer.
    pub fn state_of(&self, server: usize) -> Option<(&'static str, i64)> {
        let asked = &self.servers[server];
        if self.nodes[server].frozen || !asked.serves() {
            return None;
        }
        let mode = match asked.role {
            Role::Leading(_) if self.servers.len() == 1 => "standalone",
            Role::Leading(_) => "leader",
            _ if asked.votes => "follower",
            _ => "observer",
        };
        Some((mode, asked.tree.zxid))
    }

    /// Ends a connection between a client and its server at the client's proxy.
    pub(super) fn lose_connection(&mut self, wire: usize) {
        let Purpose::Client(client) = self.wires[wire].purpose else {
            return;
        };
        let late = self.late.unwrap_or_else(|| self.world.draw(fastrand::Rng::bool));
        if !late {
            self.lose_sent(wire, 0);
        }
        self.lose_sent(wire, 1);
        if self.config.scripted {
            self.keep_lost(client, super::net::OUTAGE);
            self.connection_lost(client);
        } else {
            self.end_both(wire);
        }
    }

    fn client_of(&self, session: i64) -> Option<usize> {
        self.clients.iter().position(|client| client.session == session)
    }

    /// A client's connections are lost for this long at least.
    fn keep_lost(&mut self, client: usize, time: Duration) {
        let until = self.now() + time;
        let lost_until = &mut self.clients[client].lost_until;
        *lost_until = until.max(*lost_until);
    }

    /// A test loses the connection of a session for this long.
    pub(super) fn lose(&mut self, session: i64, time: Duration) {
        let Some(client) = self.client_of(session) else { return };
        self.keep_lost(client, time);
        if let Some(wire) = self.wire_of(client) {
            if self.late != Some(true) {
                self.lose_sent(wire, 0);
            }
            self.lose_sent(wire, 1);
            match self.server_of(client) {
                Some(_) => self.connection_lost(client),
                None => self.attempt_failed(client),
            }
        }
    }

    /// Ends a session, and notifies its client.
    pub fn end(&mut self, session: i64, state: SessionState) {
        self.close_session(session);
        if let Some(client) = self.client_of(session) {
            self.over(client, state);
        }
    }
}
