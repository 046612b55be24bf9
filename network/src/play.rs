//! Plays a plan on a network.

use crate::disturbance::Disturbance;
use crate::draft::{self, NetworkDraft};
use crate::judging::JudgingObserver;
use crate::observer::Observer;
use crate::recording::{NetworkRecord, RecordingObserver};
use crate::scenario::{Pace, Scenario};
use crate::script::{NodeStep, node_script};
use crate::transit::Transit;
use crate::world::World;
use fastrand::Rng;
use zooquake_checkers::consensus::{ConsensusJudge, NodeSets};
use zooquake_history::Node as NodeName;
use zooquake_history::plan::{Plan, Scheduler};
use zooquake_workloads::consensus::protocol::Protocol;
use zooquake_workloads::consensus::setting::{ProtocolSetting, ProtocolVisitor};
use zooquake_workloads::consensus::variants::variant;

/// How long a run goes on after healing at the longest, in microseconds: what has not come about by then convicts.
pub const PATIENCE: u32 = 20_000_000;

/// The random choices of the network of a seed, other than those by which a plan is drawn from it.
pub fn network_rng(seed: u64) -> Rng {
    Rng::with_seed(seed ^ 0x6e65_7477_6f72_6b00)
}

/// The protocol of a plan with its sizes.
///
/// # Errors
/// If the plan is of no consensus protocol that this program has, or of sizes that it cannot have.
pub fn setting(plan: &Plan) -> Result<ProtocolSetting, String> {
    let name = plan.workload.name();
    let variant = variant(&plan.workload.variant).filter(|_| name.starts_with("consensus/"));
    let variant = variant.ok_or_else(|| format!("{name} is no consensus protocol"))?;
    variant.check(&plan.cluster)?;
    Ok(variant.setting(plan.seed, &plan.cluster))
}

/// Plays a plan; what is recorded of its run.
///
/// # Errors
/// If it is of no protocol that this program has, or one of its windows is none for a network.
pub fn play(plan: &Plan) -> Result<NetworkRecord, String> {
    let setting = setting(plan)?;
    let names = setting.names();
    let run = PlannedRun::new(plan, &names)?;
    Ok(setting.visit(RecordVisitor {
        plan,
        names: &names,
        run: &run,
    }))
}

/// A plan as a network takes it.
#[derive(Debug)]
pub struct PlannedRun {
    draft: NetworkDraft,
    script: Option<Vec<(u32, NodeStep)>>,
    sets: NodeSets,
    nodes: usize,
    /// When all disturbances are healed and all requests were made, in microseconds.
    pub healed: u32,
}

impl PlannedRun {
    /// The run of a plan whose nodes have these names.
    ///
    /// # Errors
    /// If one of its windows is none for a network.
    pub fn new(plan: &Plan, names: &[NodeName]) -> Result<Self, String> {
        let window = |window| {
            let found = draft::disturbance(window, names);
            found.ok_or_else(|| format!("window {} ({}) is none for a network", window.id, window.fault))
        };
        let disturbances: Vec<Disturbance> = plan.windows.iter().map(window).collect::<Result<_, _>>()?;
        let script = match &plan.scheduler {
            Scheduler::Script(steps) => Some(node_script(steps, names)),
            _ => None,
        };
        let clients = draft::clients(&setting(plan)?.roles());
        let requests = match script {
            Some(_) => Vec::new(),
            None => draft::requests(&plan.clients, &clients),
        };
        let time = u32::try_from(plan.time_ms.saturating_mul(1_000)).unwrap_or(u32::MAX);
        let draft = NetworkDraft { disturbances, requests };
        Ok(Self {
            healed: draft.healed().max(time),
            draft,
            script,
            sets: NodeSets::from_names(names),
            nodes: names.len(),
        })
    }

    /// The judge of the run, before its first step.
    pub fn judge(&self, plan: &Plan) -> ConsensusJudge {
        ConsensusJudge::new(plan.workload.goal, self.sets)
    }

    /// Whether it follows a script, and so is not followed until after healing.
    pub fn scripted(&self) -> bool {
        self.script.is_some()
    }

    /// The network of the run, before its first moment.
    pub fn world<'a, P: Protocol, O: Observer<P>>(
        &'a self,
        config: &'a P::Config,
        plan: &Plan,
        observer: O,
    ) -> World<'a, P, O> {
        let mut rng = network_rng(plan.seed);
        let pace = match &self.script {
            Some(script) => Pace::Script(script),
            None => Pace::Drawn(Transit::new(&plan.scheduler, self.nodes, &mut rng)),
        };
        let scenario = Scenario {
            until: self.healed.saturating_add(if self.scripted() { 0 } else { PATIENCE }),
            ..self.draft.scenario(config, 0)
        };
        World::new(scenario, pace, rng, observer)
    }
}

struct RecordVisitor<'a> {
    plan: &'a Plan,
    names: &'a [NodeName],
    run: &'a PlannedRun,
}

impl ProtocolVisitor for RecordVisitor<'_> {
    type Outcome = NetworkRecord;

    fn visit<P: Protocol>(self, config: &P::Config) -> NetworkRecord {
        let Self { plan, names, run } = self;
        let followed = (!run.scripted()).then_some(run.healed);
        let judge = JudgingObserver::new(run.judge(plan), run.healed);
        let observer = RecordingObserver::begin(plan, names, judge, followed);
        let mut world = run.world::<P, _>(config, plan, observer);
        world.run();
        let end = world.now.max(followed.unwrap_or(0));
        world.observer.finish(end)
    }
}
