//! What is done to a network: nodes die and freeze, links are cut, messages are lost and doubled.

use zooquake_workloads::consensus::protocol::{Node, NodeSet};

/// A span of virtual time in which something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disturbance {
    /// What is wrong.
    pub kind: DisturbanceKind,
    /// When it begins, in microseconds of virtual time.
    pub from: u32,
    /// When it is healed, in microseconds.
    pub until: u32,
}

/// What is wrong with a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisturbanceKind {
    /// A node's process is dead; it starts again from its disk at the end.
    Kill(Node),
    /// A node's process is frozen; it takes what it missed at the end, and timers that ran out meanwhile.
    Pause(Node),
    /// What passes between two sides is dropped.
    Partition {
        /// One side; the other one is all other nodes.
        side: NodeSet,
        /// Whether what comes to that side is dropped.
        inbound: bool,
        /// Whether what that side sends is dropped.
        outbound: bool,
    },
    /// So many messages of a hundred are lost when they are sent.
    Loss(u8),
    /// So many messages of a hundred arrive twice.
    Duplicate(u8),
}

/// The links that are up, and the shares of messages that are lost or doubled, while disturbances come and go.
#[derive(Debug, Clone, Default)]
pub struct LinkState {
    cuts: Vec<LinkCut>,
    loss: Vec<(usize, u8)>,
    duplicate: Vec<(usize, u8)>,
}

impl LinkState {
    /// Begins what disturbance number `id` does to links; nothing for one that does it to a process.
    pub fn begin(&mut self, id: usize, kind: DisturbanceKind) {
        match kind {
            DisturbanceKind::Partition {
                side,
                inbound,
                outbound,
            } => self.cuts.push(LinkCut {
                id,
                side,
                inbound,
                outbound,
            }),
            DisturbanceKind::Loss(percent) => self.loss.push((id, percent)),
            DisturbanceKind::Duplicate(percent) => self.duplicate.push((id, percent)),
            DisturbanceKind::Kill(_) | DisturbanceKind::Pause(_) => {}
        }
    }

    /// Ends what disturbance number `id` did to links.
    pub fn end(&mut self, id: usize) {
        self.cuts.retain(|cut| cut.id != id);
        self.loss.retain(|loss| loss.0 != id);
        self.duplicate.retain(|duplicate| duplicate.0 != id);
    }

    /// The disturbance that drops what one node sends to the other; `None` if the link is up.
    pub fn cut_by(&self, from: Node, to: Node) -> Option<usize> {
        let drops = |cut: &&LinkCut| {
            (cut.inbound && cut.side.contains(to) && !cut.side.contains(from))
                || (cut.outbound && cut.side.contains(from) && !cut.side.contains(to))
        };
        self.cuts.iter().find(drops).map(|cut| cut.id)
    }

    /// The disturbance that loses most messages, with how many of a hundred; `None` if none does.
    pub fn loss(&self) -> Option<(usize, u8)> {
        self.loss.iter().copied().max_by_key(|loss| loss.1)
    }

    /// The disturbance that doubles most messages, with how many of a hundred; `None` if none does.
    pub fn duplicate(&self) -> Option<(usize, u8)> {
        self.duplicate.iter().copied().max_by_key(|duplicate| duplicate.1)
    }
}

/// A cut around one side of a network.
#[derive(Debug, Clone, Copy)]
struct LinkCut {
    id: usize,
    side: NodeSet,
    inbound: bool,
    outbound: bool,
}
