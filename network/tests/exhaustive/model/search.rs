//! Breadth-first searches of models.

use super::actor::ProtocolActor;
use super::bounds::{BoundedProtocol, ModelBounds, ModelNetwork};
use super::judging::{ModelScope, ProtocolModel, holds, violation_in, within};
use super::script;
use stateright::actor::{ActorModel, LossyNetwork, Network};
use stateright::report::{ReportData, ReportDiscovery, Reporter};
use stateright::{Checker, Expectation, Model};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zooquake_checkers::consensus::{NodeSets, ViolationKind};
use zooquake_history::Node as NodeName;
use zooquake_history::plan::ConsensusGoal;
use zooquake_network::script::NodeStep;
use zooquake_network::tracing::TraceItem;
use zooquake_workloads::consensus::fast_leader_election::FleServer;
use zooquake_workloads::consensus::fast_paxos::FastPaxos;
use zooquake_workloads::consensus::paxos::Paxos;
use zooquake_workloads::consensus::protocol::{Node, NodeSet};
use zooquake_workloads::consensus::setting::ProtocolSetting;

/// The property of each model.
const PROPERTY: &str = "nothing is violated";

/// What came of a search.
#[derive(Debug)]
pub struct ModelSearchOutcome {
    /// Number of different states found, by fingerprints of 64 bits.
    pub unique: usize,
    /// Number of states found, those found again included.
    pub generated: usize,
    /// Number of states in which a value was learned, or a leader elected.
    pub decided: usize,
    /// The length of the longest path followed, in states.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// What ended it; `None` if every state within the bounds was found, and none violates anything.
    pub counterexample: Option<Counterexample>,
}

impl fmt::Display for ModelSearchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            unique,
            generated,
            decided,
            depth,
            time,
            counterexample,
        } = self;
        let seconds = time.as_secs_f64();
        writeln!(
            f,
            "{unique} states ({generated} found, {decided} decided), depth {depth}, {seconds:.1} s"
        )?;
        let Some(found) = counterexample else {
            return f.write_str("All states within the bounds were found; nothing is violated.");
        };
        let (steps, messages) = (found.items.len(), found.messages());
        write!(f, "{:?} after {steps} steps, {messages} messages:", found.violation)?;
        found.items.iter().try_for_each(|item| write!(f, "\n  {item:?}"))
    }
}

/// A path to a violation; with one thread none is shorter.
#[derive(Debug)]
pub struct Counterexample {
    /// What is violated in its last state.
    pub violation: ViolationKind,
    /// What happens on it.
    pub items: Vec<TraceItem>,
    /// The names of the nodes.
    pub names: Vec<NodeName>,
}

/// How a search is made.
#[derive(Debug, Clone, Copy)]
pub struct SearchEffort {
    /// Number of threads. With more than one a counterexample need not be the shortest.
    pub threads: usize,
    /// Whether progress goes to stderr, a line a second.
    pub progress: bool,
}

impl Default for SearchEffort {
    fn default() -> Self {
        Self {
            threads: 1,
            progress: false,
        }
    }
}

/// Explores a protocol within bounds until all states are found, or one that violates something.
///
/// # Errors
/// If there are no bounds for the protocol.
pub fn search(
    setting: &ProtocolSetting,
    goal: ConsensusGoal,
    bounds: ModelBounds,
    effort: SearchEffort,
) -> Result<ModelSearchOutcome, String> {
    let names = setting.names();
    let clients = zooquake_network::draft::clients(&setting.roles());
    let scope = ModelScope {
        bounds,
        goal,
        sets: NodeSets::from_names(&names),
        requests: clients.into_iter().zip(1..).collect(),
        decided: AtomicUsize::new(0),
    };
    match setting {
        ProtocolSetting::Paxos(config) => Ok(explore::<Paxos>(*config, scope, names, effort)),
        ProtocolSetting::FastPaxos(config) => Ok(explore::<FastPaxos>(*config, scope, names, effort)),
        ProtocolSetting::FastLeaderElection(config) => Ok(explore::<FleServer>(*config, scope, names, effort)),
        ProtocolSetting::Zen(_) | ProtocolSetting::Isr(_) => {
            Err("what the bounds count is not defined for this protocol".to_owned())
        }
    }
}

/// The model of a protocol.
fn model<P: BoundedProtocol>(config: P::Config, scope: ModelScope, nodes: usize) -> ProtocolModel<P> {
    let bounds = &scope.bounds;
    let asked = |node: Node| scope.requests.iter().find(|request| request.0 == node);
    let actor = |node: Node| ProtocolActor {
        config,
        request: asked(node).map(|request| request.1),
        rounds: bounds.rounds,
        unreachable: unreachable(bounds, node),
        timed: !bounds.cut_off.contains(node),
        mortal: bounds.restarts > 0,
    };
    let (restarts, network) = (bounds.restarts, bounds.network);
    let actors: Vec<ProtocolActor<P>> = (0..nodes as Node).map(actor).collect();
    let messages = match network {
        ModelNetwork::Duplicating => Network::new_unordered_duplicating([]),
        ModelNetwork::Delaying | ModelNetwork::Losing => Network::new_unordered_nonduplicating([]),
    };
    let lossy = match network {
        ModelNetwork::Losing => LossyNetwork::Yes,
        ModelNetwork::Delaying | ModelNetwork::Duplicating => LossyNetwork::No,
    };
    ActorModel::new(Arc::new(scope), ())
        .actors(actors)
        .init_network(messages)
        .lossy_network(lossy)
        .max_crashes(restarts as usize)
        .within_boundary(within)
        .property(Expectation::Always, PROPERTY, holds)
}

/// The nodes at which nothing arrives that a node sends.
fn unreachable(bounds: &ModelBounds, node: Node) -> NodeSet {
    let links = bounds.cut_links.iter().filter(|link| link.0 == node);
    bounds.cut_off.iter().chain(links.map(|link| link.1)).collect()
}

fn explore<P: BoundedProtocol>(
    config: P::Config,
    scope: ModelScope,
    names: Vec<NodeName>,
    effort: SearchEffort,
) -> ModelSearchOutcome {
    let model: ProtocolModel<P> = model(config, scope, names.len());
    let scope = Arc::clone(&model.cfg);
    let begun = Instant::now();
    let checker = model.checker().threads(effort.threads).spawn_bfs();
    let checker = match effort.progress {
        true => checker.join_and_report(&mut ProgressReporter),
        false => checker.join(),
    };
    let time = begun.elapsed();
    let counterexample = checker.discovery(PROPERTY).map(|path| {
        let last = violation_in(&scope, path.last_state());
        Counterexample {
            violation: last.expect("the property does not hold there"),
            items: script::items(checker.model(), path.into_actions()),
            names,
        }
    });
    ModelSearchOutcome {
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        decided: scope.decided.load(Ordering::Relaxed),
        depth: checker.max_depth(),
        time,
        counterexample,
    }
}

/// Writes progress to stderr.
struct ProgressReporter;

impl<M: Model> Reporter<M> for ProgressReporter {
    fn report_checking(&mut self, data: ReportData) {
        eprintln!(
            "{:>5} s: {} states, {} of them different, depth {}",
            data.duration.as_secs(),
            data.total_states,
            data.unique_states,
            data.max_depth
        );
    }

    fn report_discoveries(&mut self, _: &M, _: BTreeMap<&'static str, ReportDiscovery<M>>)
    where
        M::Action: Debug + PartialEq,
        M::State: Debug + Hash + PartialEq,
    {
    }
}

impl Counterexample {
    /// How many messages arrive on it.
    pub fn messages(&self) -> usize {
        let arrives = |item: &&TraceItem| matches!(item, TraceItem::Step(NodeStep::Deliver { .. }));
        self.items.iter().filter(arrives).count()
    }
}
