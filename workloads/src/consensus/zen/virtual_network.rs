//! A network whose faults are drawn, and which then heals.

use zooquake_history::operation::consensus::Announcement;

use super::super::protocol::{Node, NodeSet, Protocol};
use super::super::test_network::{NetworkEvent, Surroundings, TestNetwork};
use super::fault_kinds::FaultKinds;

/// What became public: when, by which node; `None` if its process died.
pub type PublicEvent = (u64, Node, Option<Announcement>);

/// A run.
pub type VirtualNetwork<P> = TestNetwork<P, FaultyLinks>;

/// The faults of a run, and what became public in it.
#[derive(Default)]
pub struct FaultyLinks {
    pub record: Vec<PublicEvent>,
    faults: FaultKinds,
    /// By sender and receiver, how long messages take, in microseconds; empty if that is drawn.
    links: Vec<u64>,
}

impl<P: Protocol> VirtualNetwork<P> {
    /// A run whose nodes start within the first 20 ms, with its faults to come, until a moment in microseconds.
    pub fn new(config: P::Config, faults: FaultKinds, faulty: u64, seed: u64) -> Self {
        let surroundings = FaultyLinks {
            faults,
            ..FaultyLinks::default()
        };
        let mut network = Self::in_surroundings(surroundings, config, faulty, seed);
        let nodes = network.nodes();
        if faults.slow_links {
            let mut link = || (1_000.0 * 300_f64.powf(network.random.f64())) as u64;
            let links = (0..usize::from(nodes).pow(2)).map(|_| link()).collect();
            network.links = links;
        }
        for node in 0..nodes {
            let at = network.random.u64(0..20_000);
            network.schedule(at, NetworkEvent::Restart(node));
        }
        network.plan(nodes);
        network
    }

    fn plan(&mut self, nodes: Node) {
        let until = self.faulty;
        if self.faults.kills {
            for _ in 0..self.random.usize(..=8) {
                let (at, node) = (self.random.u64(..until), self.random.u8(..nodes));
                let after = Some(self.random.usize(..6));
                let down = if self.random.bool() {
                    1_000..50_000
                } else {
                    50_000..1_500_000
                };
                let down = self.random.u64(down).min(until - at);
                self.schedule(at, NetworkEvent::Kill { node, down, after });
            }
        }
        if self.faults.pauses {
            for _ in 0..self.random.usize(..=4) {
                let (at, node) = (self.random.u64(..until), self.random.u8(..nodes));
                let long = self.random.u64(10_000..4_000_000).min(until - at);
                self.schedule(at, NetworkEvent::Pause { node, long });
            }
        }
        if self.faults.partitions {
            for _ in 0..self.random.usize(..=4) {
                let (at, side) = (self.random.u64(..until), NodeSet(self.random.u32(..1 << nodes)));
                let long = self.random.u64(10_000..4_000_000);
                self.cut(at, side);
                self.cut((at + long).min(until), NodeSet::EMPTY);
            }
        }
    }

    /// Has a client asked for an operation at a moment.
    pub fn request(&mut self, at: u64, node: Node, value: u32) {
        self.schedule(at, NetworkEvent::Request { node, value });
    }

    /// Cuts nodes from the others until the next cut.
    pub fn cut(&mut self, at: u64, side: NodeSet) {
        self.schedule(at, NetworkEvent::Cut(side));
    }
}

impl<P: Protocol> Surroundings<P> for FaultyLinks {
    fn send(network: &mut VirtualNetwork<P>, from: Node, to: Node, message: P::Message) {
        let faulty = network.is_faulty();
        let lost = faulty && network.faults.loss && network.random.u8(..10) == 0;
        if lost || network.cut.contains(from) != network.cut.contains(to) {
            return;
        }
        let doubles = faulty && network.faults.duplicates;
        let copies = if doubles && network.random.u8(..10) == 0 { 2 } else { 1 };
        for _ in 0..copies {
            let late = doubles && network.random.u8(..20) == 0;
            let usual = network.random.u64(if late { 10_000..2_000_000 } else { 1_000..10_000 });
            let link = usize::from(from) * usize::from(network.nodes()) + usize::from(to);
            let delay = network.links.get(link).map_or(usual, |&time| time.max(usual));
            network.schedule(network.now + delay, NetworkEvent::Message { from, to, message });
        }
    }

    fn announced(network: &mut VirtualNetwork<P>, node: Node, announcement: Announcement) {
        let event = (network.now, node, Some(announcement));
        network.record.push(event);
    }

    fn died(network: &mut VirtualNetwork<P>, node: Node) {
        let event = (network.now, node, None);
        network.record.push(event);
    }
}
