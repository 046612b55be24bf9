//! What is drawn for a run on a network: disturbances and requests, in whole milliseconds, so that a plan has them as
//! they are.

use crate::disturbance::{Disturbance, DisturbanceKind};
use crate::scenario::Scenario;
use crate::script::node_named;
use fastrand::Rng;
use std::ops::Range;
use zooquake_history::Node as NodeName;
use zooquake_history::fault::{self, Cut, Payload, Share};
use zooquake_history::plan::{ClientPlan, Cycle, Target, Trigger, Window};
use zooquake_workloads::consensus::protocol::{Node, NodeRole, NodeSet, Protocol};

/// The kinds of fault that a network has.
pub const FAULTS: [&str; 5] = [
    fault::KILL.name,
    fault::PAUSE.name,
    fault::PARTITION.name,
    fault::LOSS.name,
    fault::DUPLICATE.name,
];

/// Microseconds of a millisecond.
const MS: u32 = 1_000;

/// The most messages of a hundred that are lost or doubled, and the fewest.
const PERCENT: Range<u8> = 10..60;

/// Values of requests begin with this; each request of a run has another one.
const FIRST_VALUE: u32 = 1;

/// What a run is disturbed by, and what its clients are asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NetworkDraft {
    pub disturbances: Vec<Disturbance>,
    /// When (microseconds), which node, for which value.
    pub requests: Vec<(u32, Node, u32)>,
}

impl NetworkDraft {
    /// When all disturbances are healed and all requests were made, in microseconds; 0 if there are none.
    pub fn healed(&self) -> u32 {
        let ends = self.disturbances.iter().map(|disturbance| disturbance.until);
        ends.chain(self.requests.iter().map(|request| request.0))
            .max()
            .unwrap_or(0)
    }

    /// The scenario of a protocol with this draft, until so many microseconds after healing.
    pub fn scenario<'a, P: Protocol>(&'a self, config: &'a P::Config, patience: u32) -> Scenario<'a, P> {
        Scenario {
            config,
            disturbances: &self.disturbances,
            requests: &self.requests,
            until: self.healed().saturating_add(patience),
        }
    }
}

/// The nodes of these roles that clients ask.
pub fn clients(roles: &[NodeRole]) -> Vec<Node> {
    let client = |&node: &usize| roles[node].client;
    (0..roles.len()).filter(client).map(|node| node as Node).collect()
}

/// What drafts are drawn for.
#[derive(Debug, Clone)]
pub struct DraftShape {
    /// The nodes that clients ask.
    pub clients: Vec<Node>,
    /// Number of nodes.
    pub nodes: Node,
    /// Milliseconds of requests and faults.
    pub time_ms: u32,
    /// How often each client is asked.
    pub requests: u32,
}

impl DraftShape {
    /// The shape for nodes of these roles; `many` where a client is asked more than once.
    pub fn new(roles: &[NodeRole], time_ms: u32, many: bool) -> Self {
        Self {
            clients: clients(roles),
            nodes: roles.len() as Node,
            time_ms: time_ms.max(20),
            requests: if many { 4 } else { 1 },
        }
    }

    /// Draws requests alone, within the first half of the time.
    pub fn draw_requests(&self, rng: &mut Rng) -> Vec<(u32, Node, u32)> {
        // Of clients that are asked once, all are asked within a few message delays, or each at any time.
        let span = match self.requests == 1 && rng.bool() {
            true => 20,
            false => self.time_ms / 2,
        };
        let mut requests = Vec::with_capacity(self.clients.len() * self.requests as usize);
        let mut value = FIRST_VALUE;
        for &client in &self.clients {
            let mut at = 0;
            for _ in 0..self.requests {
                at += rng.u32(0..(span / self.requests).max(1));
                requests.push((at * MS, client, value));
                value += 1;
            }
        }
        requests
    }

    /// Draws a disturbance of a kind, anywhere within the time.
    pub fn draw_disturbance(&self, kind: &str, rng: &mut Rng) -> Disturbance {
        let node = rng.u8(0..self.nodes);
        let kind = match kind {
            "kill" => DisturbanceKind::Kill(node),
            "pause" => DisturbanceKind::Pause(node),
            "loss" => DisturbanceKind::Loss(rng.u8(PERCENT)),
            "duplicate" => DisturbanceKind::Duplicate(rng.u8(PERCENT)),
            _ => self.draw_partition(node, rng),
        };
        let from = rng.u32(0..self.time_ms - 1);
        let until = from + rng.u32(1..=(self.time_ms - from).max(1));
        Disturbance {
            kind,
            from: from * MS,
            until: until * MS,
        }
    }

    /// One node, or any side, cut off both ways or one way.
    fn draw_partition(&self, node: Node, rng: &mut Rng) -> DisturbanceKind {
        let mut side = NodeSet::EMPTY;
        side.insert(node);
        if rng.bool() {
            let other = |other: &Node| *other != node && rng.bool();
            (0..self.nodes).filter(other).for_each(|other| {
                side.insert(other);
            });
        }
        let ways = rng.u8(0..4);
        DisturbanceKind::Partition {
            side,
            inbound: ways != 1,
            outbound: ways != 2,
        }
    }
}

/// The windows of disturbances, in their order; nodes have these names.
pub fn windows(disturbances: &[Disturbance], names: &[NodeName]) -> Vec<Window> {
    let name = |node: Node| names[usize::from(node)].clone();
    let window = |(number, disturbance): (usize, &Disturbance)| {
        let everyone = || Target::Servers(names.to_vec());
        let share = |percent| Some(Payload::Share(Share { percent }));
        let (fault, target, payload) = match disturbance.kind {
            DisturbanceKind::Kill(node) => (fault::KILL.name, Target::Node(name(node)), None),
            DisturbanceKind::Pause(node) => (fault::PAUSE.name, Target::Node(name(node)), None),
            DisturbanceKind::Partition {
                side,
                inbound,
                outbound,
            } => {
                let cut = match (inbound, outbound) {
                    (true, true) => Cut::Isolate,
                    (true, false) => Cut::Deaf,
                    _ => Cut::Mute,
                };
                let side = side.iter().map(name).collect();
                (fault::PARTITION.name, Target::Servers(side), Some(Payload::Cut(cut)))
            }
            DisturbanceKind::Loss(percent) => (fault::LOSS.name, everyone(), share(percent)),
            DisturbanceKind::Duplicate(percent) => (fault::DUPLICATE.name, everyone(), share(percent)),
        };
        Window {
            id: number + 1,
            fault: fault.to_owned(),
            target,
            payload,
            trigger: Trigger::At {
                at_ms: u64::from(disturbance.from / MS),
            },
            duration_ms: u64::from((disturbance.until - disturbance.from) / MS),
            beside: false,
        }
    };
    disturbances.iter().enumerate().map(window).collect()
}

/// The disturbance of a window; `None` if a network has no such fault, target or trigger.
pub fn disturbance(window: &Window, names: &[NodeName]) -> Option<Disturbance> {
    let node = |name: &NodeName| node_named(names, name);
    let one = || match &window.target {
        Target::Node(name) => node(name),
        _ => None,
    };
    let side = || match &window.target {
        Target::Servers(names) => names.iter().map(node).collect::<Option<NodeSet>>(),
        Target::Node(name) => node(name).map(|node| NodeSet::from_iter([node])),
        _ => None,
    };
    let kind = match (window.fault.as_str(), &window.payload) {
        ("kill", _) => DisturbanceKind::Kill(one()?),
        ("pause", _) => DisturbanceKind::Pause(one()?),
        ("partition", Some(Payload::Cut(cut))) => DisturbanceKind::Partition {
            side: side()?,
            inbound: *cut != Cut::Mute,
            outbound: *cut != Cut::Deaf,
        },
        ("loss", Some(Payload::Share(share))) => DisturbanceKind::Loss(share.percent),
        ("duplicate", Some(Payload::Share(share))) => DisturbanceKind::Duplicate(share.percent),
        _ => return None,
    };
    let Trigger::At { at_ms } = window.trigger else {
        return None;
    };
    let micros = |ms: u64| u32::try_from(ms.saturating_mul(u64::from(MS))).unwrap_or(u32::MAX);
    Some(Disturbance {
        kind,
        from: micros(at_ms),
        until: micros(at_ms.saturating_add(window.duration_ms)),
    })
}

/// What each client is asked, as its plan: the time before each request since the one before.
pub fn client_plans(requests: &[(u32, Node, u32)], clients: &[Node]) -> Vec<ClientPlan> {
    let plan = |&client: &Node| {
        let mut before = 0;
        let own = requests.iter().filter(|request| request.1 == client);
        let cycles = own.map(|&(at, _, _)| {
            let think_ms = u64::from((at - before) / MS);
            before = at;
            let writes = Vec::new();
            Cycle { think_ms, writes }
        });
        ClientPlan {
            cycles: cycles.collect(),
            ops: None,
        }
    };
    clients.iter().map(plan).collect()
}

/// The requests of clients' plans, as [`client_plans`] has them: values by client, then by request, from 1.
pub fn requests(plans: &[ClientPlan], clients: &[Node]) -> Vec<(u32, Node, u32)> {
    let mut requests = Vec::new();
    let mut value = FIRST_VALUE;
    for (plan, &client) in plans.iter().zip(clients) {
        let mut at: u64 = 0;
        let most = plan.ops.unwrap_or(u64::MAX) as usize;
        for (number, cycle) in plan.cycles.iter().enumerate() {
            at = at.saturating_add(cycle.think_ms.saturating_mul(u64::from(MS)));
            if number < most {
                requests.push((u32::try_from(at).unwrap_or(u32::MAX), client, value));
            }
            value += 1;
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_what_its_plan_has() {
        let role = |name, client| NodeRole { name, client };
        let roles = [
            role("acceptor", false),
            role("acceptor", false),
            role("proposer", true),
            role("proposer", true),
        ];
        let names: Vec<NodeName> = (1..=4).map(|node| NodeName::of_role("node", node)).collect();
        for seed in 0..500 {
            let mut rng = Rng::with_seed(seed);
            let shape = DraftShape::new(&roles, 400, seed % 2 == 0);
            let drawn = shape.draw_requests(&mut rng);
            assert_eq!(requests(&client_plans(&drawn, &shape.clients), &shape.clients), drawn);
            for kind in FAULTS {
                let drawn = shape.draw_disturbance(kind, &mut rng);
                assert!(drawn.from < drawn.until && drawn.until <= 400 * MS, "{drawn:?}");
                let windows = windows(&[drawn], &names);
                assert_eq!(windows[0].fault, kind);
                assert_eq!(disturbance(&windows[0], &names), Some(drawn));
            }
        }
    }
}
