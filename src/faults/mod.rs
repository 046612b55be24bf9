//! The faults: each draws its windows into a plan, strikes, and heals. One fault a file, one line in the registry.

mod disconnect;
mod drop_reply;
mod expire;
mod hold_reply;
mod host;
mod kill;
mod lag;
mod latency;
pub mod nemesis;
pub mod overlap;
mod partition;
mod pause;
mod route;
mod scene;
mod servers;
mod stall;
mod strike;
mod strike_points;
mod wipe;

use strike::Action;
use zooquake_history::fault::Payload;
use zooquake_history::plan::{ClientState, ClusterPlan, Plan, Target, Timing, Trigger, Window, Workload};
use zooquake_history::{FaultKind, Node};

/// One kind of fault.
pub struct Fault {
    /// Its kind, with its name.
    pub kind: &'static FaultKind,
    /// Draws what happens; the number counts the windows of this kind that came before.
    draw: fn(&mut fastrand::Rng, &Topology, usize) -> WindowDraft,
    /// Whom it can strike.
    pub victims: Victims,
    /// How a window strikes that gives this payload, or none; else what it has to give, as the end of a sentence about
    /// the window.
    pub payload: fn(Option<Payload>) -> Result<Option<Payload>, String>,
    /// The longest that a window of it is drawn to last, in milliseconds; 0 if it is over when it has happened.
    pub longest_ms: fn(&Topology) -> u64,
    /// Why no run of this plan can have it and end valid, as a clause; `None` if one can.
    pub shortfall: fn(&Plan) -> Option<String>,
    /// Strikes one victim and returns when its effect was seen.
    strike: Action,
    /// Takes the fault away again and returns when that was seen.
    heal: Action,
}

/// Whom a fault can strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victims {
    /// A client, or servers.
    Nodes,
    /// A client.
    Client,
    /// A server that follows another one.
    Follower,
    /// More than half of the servers that vote.
    Majority,
    /// All nodes on a host.
    Host,
}

impl Victims {
    /// Who they are, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nodes => "a client or servers",
            Self::Client => "a client",
            Self::Follower => "a server that follows",
            Self::Majority => "more than half of the servers that vote",
            Self::Host => "a host of several",
        }
    }

    /// Whether a window may have this target on an ensemble.
    pub fn include(self, target: &Target, cluster: &ClusterPlan) -> bool {
        let is_client = |node: &Node| cluster.client_nodes().contains(node);
        let is_server = |node: &Node| cluster.ensemble().contains(node);
        match (self, target) {
            (Self::Nodes, Target::Node(node)) => is_client(node) || is_server(node),
            (Self::Nodes, Target::Servers(servers)) => !servers.is_empty() && servers.iter().all(is_server),
            (Self::Nodes, Target::Client | Target::Leader | Target::Follower | Target::HolderServer) => true,
            (Self::Client, Target::Node(node)) => is_client(node),
            (Self::Client, Target::Client) => true,
            (Self::Follower, Target::Node(node)) => is_server(node),
            (Self::Follower, Target::Follower) => true,
            (Self::Majority, Target::Servers(servers)) => {
                let voters = cluster.voters();
                2 * servers.len() > voters.len() && servers.iter().all(|server| voters.contains(server))
            }
            (Self::Host, Target::Host(host)) => cluster.nodes_on(host).is_some(),
            _ => false,
        }
    }
}

/// What faults are drawn for.
#[derive(Debug, Clone)]
pub struct Topology {
    /// Number of servers, those that only observe among them.
    pub servers: usize,
    /// Number of servers that vote: the first ones.
    pub voters: usize,
    /// Number of clients that write: the first ones.
    pub clients: usize,
    /// Number of hosts that they stand on, if these are several; else 0.
    pub hosts: usize,
    /// Timing of the ensemble.
    pub timing: Timing,
    /// What the clients do. Where each uses one server only, it is the servers that are struck.
    pub workload: Workload,
}

impl Topology {
    /// What a plan offers to faults.
    pub fn new(workload: &Workload, cluster: &ClusterPlan) -> Self {
        // The last client of these waits, or is kept for the drain.
        let idle = usize::from(workload.family == "queue" || workload.capabilities().members);
        Self {
            servers: cluster.servers + cluster.observers,
            voters: cluster.servers,
            clients: cluster.clients.saturating_sub(idle).max(1),
            hosts: cluster.hosts.len(),
            timing: cluster.timing,
            workload: workload.clone(),
        }
    }
}

/// What a fault draws of a window: whom it hits, how, in what state, for how long.
#[derive(Debug)]
struct WindowDraft {
    target: Target,
    payload: Option<Payload>,
    /// `None`: at the moment the window opens.
    state: Option<(ClientState, u64)>,
    duration_ms: u64,
}

impl Fault {
    /// Draws a window that opens at `from_ms`; `round` counts the windows of this kind that came before.
    pub fn draw(&self, rng: &mut fastrand::Rng, topology: &Topology, round: usize, id: usize, from_ms: u64) -> Window {
        let WindowDraft {
            target,
            payload,
            state,
            duration_ms,
        } = (self.draw)(rng, topology, round);
        let state = state.map(|(state, after_ms)| strike_points::translate(rng, &topology.workload, state, after_ms));
        let trigger = match state {
            Some((state, after_ms)) => Trigger::State {
                state,
                client: None,
                from_ms,
                after_ms,
            },
            None => Trigger::At { at_ms: from_ms },
        };
        Window {
            id,
            fault: self.kind.name.to_string(),
            target,
            payload,
            trigger,
            duration_ms,
            beside: false,
        }
    }
}

/// The payload of a fault that strikes in one way only.
fn no_payload(payload: Option<Payload>) -> Result<Option<Payload>, String> {
    match payload {
        None => Ok(None),
        Some(_) => Err("strikes in one way only".into()),
    }
}

/// The shortfall of a fault that any run can have: none.
fn no_shortfall(_: &Plan) -> Option<String> {
    None
}

/// Every fault that a run may have.
pub const FAULTS: &[Fault] = &[
    kill::FAULT,
    pause::FAULT,
    partition::FAULT,
    drop_reply::FAULT,
    hold_reply::FAULT,
    disconnect::FAULT,
    expire::FAULT,
    latency::FAULT,
    stall::FAULT,
    route::MOVE,
    route::PIN,
    lag::FAULT,
    wipe::FAULT,
    host::KILL,
    host::PAUSE,
    host::PARTITION,
];

/// Those of a run that names none: what happens to every ensemble sooner or later.
const USUAL: [&str; 3] = ["kill", "pause", "partition"];

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.kind.name == name)
}

/// The names of all faults.
pub fn all_names() -> Vec<String> {
    FAULTS.iter().map(|fault| fault.kind.name.to_string()).collect()
}

/// The names of the faults that any ensemble can have: all but those of whole hosts.
pub fn names() -> Vec<String> {
    let of_nodes = FAULTS.iter().filter(|fault| fault.kind.per_node.is_none());
    of_nodes.map(|fault| fault.kind.name.to_string()).collect()
}

/// The faults of a run that names none.
pub fn usual() -> Vec<String> {
    USUAL.map(String::from).to_vec()
}

/// A server drawn at random.
fn any_server(rng: &mut fastrand::Rng, topology: &Topology) -> Target {
    Target::Node(Node::server(rng.usize(1..=topology.servers)))
}

/// A client drawn at random, of those that have something to do.
fn any_client(rng: &mut fastrand::Rng, topology: &Topology) -> Target {
    Target::Node(Node::client(rng.usize(1..=topology.clients)))
}

pub use strike::leader;

/// The state in which a client is struck, and how many milliseconds later: first while it works, then while it waits,
/// later drawn at random.
fn client_state(rng: &mut fastrand::Rng, round: usize) -> (ClientState, u64) {
    match if round < 2 { round } else { rng.usize(0..4) } {
        0 => (ClientState::Working, 200),
        1 => (ClientState::Waiting, rng.u64(0..60)),
        2 => (ClientState::Acquiring, rng.u64(0..6)),
        _ => (ClientState::Releasing, rng.u64(0..3)),
    }
}

/// So many voters drawn at random, in order.
fn voters(rng: &mut fastrand::Rng, topology: &Topology, count: usize) -> Vec<Node> {
    let mut names: Vec<Node> = (1..=topology.voters).map(Node::server).collect();
    rng.shuffle(&mut names);
    names.truncate(count);
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zooquake_history::plan::PlannedHost;
    use zooquake_workloads::recipes;

    #[test]
    fn what_is_drawn_says_how_it_strikes_in_the_field_that_its_kind_names() {
        let cluster = ClusterPlan {
            servers: 5,
            clients: 5,
            hosts: vec![PlannedHost::default(); 2],
            ..ClusterPlan::default()
        };
        for (family, variant) in [("lock", "fenced"), ("register", "read")] {
            let topology = Topology::new(&recipes::workload(family, variant).expect("a variant"), &cluster);
            let mut rng = fastrand::Rng::with_seed(1);
            for (fault, round) in FAULTS.iter().flat_map(|fault| (0..40).map(move |round| (fault, round))) {
                let window = fault.draw(&mut rng, &topology, round, 1, 2_000);
                let text = json!(window);
                assert_eq!(serde_json::from_value(text.clone()).ok(), Some(window.clone()));
                assert!(fault.victims.include(&window.target, &cluster), "{text}");
                assert_eq!((fault.payload)(window.payload.clone()), Ok(window.payload), "{text}");
                let every = ["id", "fault", "target", "trigger", "duration_ms"];
                let others = |name: &String| !every.contains(&name.as_str());
                let payload = text
                    .as_object()
                    .and_then(|fields| fields.keys().find(|name| others(name)));
                assert_eq!(payload.map(String::as_str), fault.kind.payload, "{text}");
            }
        }
    }
}
