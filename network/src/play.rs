//! Plays a plan on a network.

use crate::disturbance::Disturbance;
use crate::draft;
use crate::judging::JudgingObserver;
use crate::recording::{NetworkRecord, RecordingObserver};
use crate::script::node_script;
use crate::transit::Transit;
use crate::world::{Pace, Scenario, World};
use fastrand::Rng;
use zooquake_checkers::consensus::{ConsensusJudge, NodeSets};
use zooquake_history::plan::{Plan, Scheduler};
use zooquake_workloads::consensus::protocol::{Node, NodeRole, Protocol};
use zooquake_workloads::consensus::setting::{ProtocolSetting, ProtocolVisitor};
use zooquake_workloads::consensus::variants::variant;

/// How long a run goes on after healing at the longest, in microseconds: what has not come about by then convicts.
pub const PATIENCE: u32 = 20_000_000;

/// The random choices of the network of a seed, other than those by which a plan is drawn from it.
pub fn network_rng(seed: u64) -> Rng {
    Rng::with_seed(seed ^ 0x6e65_7477_6f72_6b00)
}

/// The nodes of these roles that clients ask.
pub fn clients(roles: &[NodeRole]) -> Vec<Node> {
    let client = |&node: &usize| roles[node].client;
    (0..roles.len()).filter(client).map(|node| node as Node).collect()
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
    let window = |window| {
        let found = draft::disturbance(window, &names);
        found.ok_or_else(|| format!("window {} ({}) is none for a network", window.id, window.fault))
    };
    let disturbances: Vec<Disturbance> = plan.windows.iter().map(window).collect::<Result<_, _>>()?;
    Ok(setting.visit(PlanVisitor {
        plan,
        names: &names,
        disturbances: &disturbances,
    }))
}

struct PlanVisitor<'a> {
    plan: &'a Plan,
    names: &'a [String],
    disturbances: &'a [Disturbance],
}

impl ProtocolVisitor for PlanVisitor<'_> {
    type Outcome = NetworkRecord;

    fn visit<P: Protocol>(self, config: &P::Config) -> NetworkRecord {
        let Self {
            plan,
            names,
            disturbances,
        } = self;
        let clients = clients(&P::roles(config));
        let requests = draft::requests(&plan.clients, &clients);
        let mut rng = network_rng(plan.seed);
        let script;
        let pace = match &plan.scheduler {
            Scheduler::Script(steps) => {
                script = node_script(steps, names);
                Pace::Script(&script)
            }
            scheduler => Pace::Drawn(Transit::new(scheduler, names.len(), &mut rng)),
        };
        let scripted = matches!(pace, Pace::Script(_));
        let time = u32::try_from(plan.time_ms.saturating_mul(1_000)).unwrap_or(u32::MAX);
        let moments = disturbances.iter().map(|disturbance| disturbance.until);
        let last = moments.chain(requests.iter().map(|request| request.0)).max();
        let healed = last.unwrap_or(0).max(time);
        let scenario: Scenario<'_, P> = Scenario {
            config,
            disturbances,
            requests: if scripted { &[] } else { &requests },
            until: healed.saturating_add(if scripted { 0 } else { PATIENCE }),
        };
        let goal = plan.workload.capabilities().goal;
        let judge = ConsensusJudge::new(goal, NodeSets::from_names(names));
        let judge = JudgingObserver::new(judge, healed);
        let observer = RecordingObserver::begin(plan, names, judge, (!scripted).then_some(healed));
        let mut world = World::new(scenario, pace, rng, observer);
        world.run();
        let end = world.now().max(if scripted { 0 } else { healed });
        world.observer.finish(end)
    }
}
