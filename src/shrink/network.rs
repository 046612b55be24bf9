//! The smallest script that still violates the same property on a network: which inputs the nodes take, and in which
//! order, without which no violation is left.

use super::delta;
use crate::run::simulation;
use anyhow::Result;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use zooquake_history::Record;
use zooquake_history::plan::{ClientPlan, On, Plan, Scheduler, ScriptStep, Target, Trigger, Window};
use zooquake_network::judging::JudgingObserver;
use zooquake_network::play::{self, PlannedRun};
use zooquake_network::tracing::{TraceItem, TracingObserver};
use zooquake_workloads::consensus::protocol::Protocol;
use zooquake_workloads::consensus::setting::ProtocolVisitor;

/// The smallest plan found.
#[derive(Debug)]
pub struct ShrunkScript {
    /// The plan, which has a script.
    pub plan: Plan,
    /// What its run records.
    pub record: Record,
    /// How many scripts were tried.
    pub tried: u64,
}

/// Shrinks the run of a plan on a network to the inputs that its violation of this kind needs. `None` if a script of
/// what happened does not show it, as where something did not come about that should have.
///
/// # Errors
/// If the plan cannot be played.
pub fn shrink(plan: &Plan, anomaly: &str, until: Instant, stop: &AtomicBool) -> Result<Option<ShrunkScript>> {
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
    let smallest = delta::minimize(&items, |part| Ok(!over() && shows(part)))?;
    let plan = scripted(plan, &smallest, &names);
    let record = simulation::record(&plan)?;
    let tried = tried.get();
    Ok(Some(ShrunkScript { plan, record, tried }))
}

/// The plan that lets these happen, one a millisecond, and nothing else.
pub fn scripted(plan: &Plan, items: &[TraceItem], names: &[String]) -> Plan {
    let (mut steps, mut windows): (Vec<ScriptStep>, Vec<Window>) = (Vec::new(), Vec::new());
    let end = items.len() as u64 + 1;
    let name = |node: u8| names[usize::from(node)].clone();
    for (at_ms, item) in (1..).zip(items) {
        match item {
            TraceItem::Step(step) => steps.push(ScriptStep {
                at_ms,
                act: step.act(names),
            }),
            TraceItem::Kill(node) => windows.push(Window {
                id: windows.len() + 1,
                fault: "kill".to_owned(),
                target: Target::Node(name(*node)),
                payload: None,
                trigger: Trigger::At { at_ms },
                duration_ms: end - at_ms,
            }),
            // All nodes start at the beginning.
            TraceItem::Start(node) => {
                let target = Target::Node(name(*node));
                let begun = |window: &Window| match window.trigger {
                    Trigger::At { at_ms } => at_ms,
                    _ => 0,
                };
                let open = |window: &&mut Window| window.target == target && begun(window) + window.duration_ms == end;
                if let Some(window) = windows.iter_mut().rev().find(open) {
                    window.duration_ms = at_ms - begun(window);
                }
            }
        }
    }
    let kills = plan.faults.iter().filter(|_| !windows.is_empty());
    Plan {
        on: On::Network,
        scheduler: Scheduler::Script(steps),
        faults: kills.filter(|fault| *fault == "kill").cloned().collect(),
        windows,
        clients: vec![ClientPlan::default(); plan.clients.len()],
        time_ms: end,
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

/// Plays a plan that has a script; the anomaly of its first violation.
struct ScriptVisitor<'a> {
    plan: &'a Plan,
    names: &'a [String],
}

impl ProtocolVisitor for ScriptVisitor<'_> {
    type Outcome = Option<&'static str>;

    fn visit<P: Protocol>(self, config: &P::Config) -> Option<&'static str> {
        let run = PlannedRun::new(self.plan, self.names).ok()?;
        let judge = JudgingObserver::new(run.judge(self.plan), run.healed);
        let mut world = run.world::<P, _>(config, self.plan, judge);
        world.run();
        world.observer.violation.map(|violation| violation.kind.anomaly())
    }
}
