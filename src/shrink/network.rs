//! The smallest script that still violates the same property on a network: which inputs the nodes take, and in which
//! order, without which no violation is left.

use super::reductions::minimize;
use crate::planning::case::Case;
use crate::run::simulation;
use anyhow::Result;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use zooquake_history::plan::{ClientPlan, On, Plan, Scheduler};
use zooquake_history::{Node, Record};
use zooquake_network::judging::JudgingObserver;
use zooquake_network::play::{self, PlannedRun};
use zooquake_network::tracing::{TraceItem, TraceScript, TracingObserver};
use zooquake_workloads::consensus::protocol::Protocol;
use zooquake_workloads::consensus::setting::ProtocolVisitor;

/// The smallest plan found.
#[derive(Debug)]
pub struct ShrunkScript {
    /// The case of the plan that has it.
    pub case: Case,
    /// What its run records.
    pub record: Record,
    /// How many scripts were tried.
    pub tried: u64,
}

/// Shrinks the run of a case on a network to the inputs that its violation of this kind needs. `None` if a script of
/// what happened does not show it, as where something did not come about that should have.
///
/// # Errors
/// If the plan cannot be played.
pub fn shrink(case: &Case, anomaly: &str, until: Instant, stop: &AtomicBool) -> Result<Option<ShrunkScript>> {
    let plan = case.plan();
    let setting = play::setting(plan).map_err(anyhow::Error::msg)?;
    let names = setting.names();
    let run = PlannedRun::new(plan, &names).map_err(anyhow::Error::msg)?;
    let items = setting.visit(TraceVisitor { plan, run: &run });
    let tried = Cell::new(0_u64);
    let shows = |items: &[TraceItem]| {
        tried.set(tried.get() + 1);
        setting.visit(ScriptVisitor {
            plan: &scripted(plan, items, &names),
            names: &names,
        }) == Some(anomaly)
    };
    if !shows(&items) {
        return Ok(None);
    }
    let over = || stop.load(Ordering::SeqCst) || Instant::now() >= until;
    let smallest = minimize(&items, |part| Ok(!over() && shows(part)))?;
    let case = case.replanned(scripted(plan, &smallest, &names));
    let record = simulation::record(&case)?;
    let tried = tried.get();
    Ok(Some(ShrunkScript { case, record, tried }))
}

/// The plan that lets these happen, and nothing else.
pub fn scripted(plan: &Plan, items: &[TraceItem], names: &[Node]) -> Plan {
    let TraceScript { steps, windows, end_ms } = TraceScript::new(items, names);
    let kills = plan.faults.iter().filter(|_| !windows.is_empty());
    Plan {
        on: On::Network,
        scheduler: Scheduler::Script(steps),
        faults: kills.filter(|fault| *fault == "kill").cloned().collect(),
        windows,
        clients: vec![ClientPlan::default(); plan.clients.len()],
        time_ms: end_ms,
        ..plan.clone()
    }
}

/// Plays a plan as it is; what happens up to the first violation.
struct TraceVisitor<'a> {
    plan: &'a Plan,
    run: &'a PlannedRun,
}

impl ProtocolVisitor for TraceVisitor<'_> {
    type Outcome = Vec<TraceItem>;

    fn visit<P: Protocol>(self, config: &P::Config) -> Vec<TraceItem> {
        let judge = JudgingObserver::new(self.run.judge(self.plan), self.run.healed);
        let mut world = self.run.world::<P, _>(config, self.plan, TracingObserver::new(judge));
        world.run();
        world.observer.items
    }
}

/// Plays a plan that has a script; the anomaly of its first violation, which may be one that stands at its end.
struct ScriptVisitor<'a> {
    plan: &'a Plan,
    names: &'a [Node],
}

impl ProtocolVisitor for ScriptVisitor<'_> {
    type Outcome = Option<&'static str>;

    fn visit<P: Protocol>(self, config: &P::Config) -> Option<&'static str> {
        let run = PlannedRun::new(self.plan, self.names).ok()?;
        let judge = JudgingObserver::new(run.judge(self.plan), run.healed);
        let mut world = run.world::<P, _>(config, self.plan, judge);
        world.run();
        world.observer.first().map(|violation| violation.kind.anomaly())
    }
}
