//! What happens in the model at some moment without a message.

use std::time::Duration;

use super::ensemble::Ensemble;
use super::wire::{ConnectionSide, NodeId};
use crate::zk::Host;

/// Something that is due. What concerns a part of a node's life names it, and is void in another one.
#[derive(Debug, Clone, Copy)]
pub(super) enum DueEvent {
    /// A message has arrived.
    Arrive(usize, ConnectionSide),
    /// A client looks at its timeouts.
    Client(usize, u64),
    /// A server in a role does what it does twice a tick.
    Server(usize, u64),
    /// A leader looks which sessions are over.
    Expire(usize, u64),
    /// A server that looks for a leader counts votes.
    Look(usize, u64),
}

impl Ensemble {
    pub(super) fn now(&self) -> Duration {
        self.world.now()
    }

    /// Has something happen later.
    pub(super) fn after(&self, time: Duration, event: DueEvent) {
        self.world.happen_after(time, self.whose(event), self.me.clone(), event);
    }

    /// The node whose step it is.
    fn whose(&self, event: DueEvent) -> NodeId {
        match event {
            DueEvent::Arrive(wire, side) => self.wires[wire].ends[1 - side],
            DueEvent::Client(client, _) => self.clients[client].host,
            DueEvent::Server(server, _) | DueEvent::Expire(server, _) | DueEvent::Look(server, _) => server,
        }
    }

    pub(super) fn happen(&mut self, event: DueEvent) {
        if let DueEvent::Arrive(wire, side) = event {
            return self.arrive(wire, side);
        }
        let node = self.whose(event);
        if self.nodes[node].frozen {
            // It happens as soon as the node is thawed.
            self.nodes[node].held.push(event);
            return;
        }
        match event {
            DueEvent::Arrive(..) => {}
            DueEvent::Client(client, timer) => self.check_timeouts(client, timer),
            DueEvent::Server(server, turn) => self.half_tick(server, turn),
            DueEvent::Expire(server, turn) => self.expire_sessions(server, turn),
            DueEvent::Look(server, turn) => self.look(server, turn),
        }
    }

    /// How long a message takes.
    pub(super) fn latency(&self, from: NodeId, to: NodeId) -> Duration {
        let micros = match &self.config.scripted {
            true => 1_000,
            false if from == to => 50,
            false if self.world.chooses() => 400,
            // Now and then a message is late.
            false => self.world.draw(|rng| match rng.u32(0..64) {
                0 => rng.u64(1_000..20_000),
                _ => rng.u64(100..1_000),
            }),
        };
        Duration::from_micros(micros)
    }
}
