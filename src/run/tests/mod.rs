//! Whole runs in memory: generators, engine, nemesis, recipes and checkers, in virtual time.

mod cuts;
mod hosts;
mod liveness;
mod promises;
mod records;
mod rounds;
mod scenes;
mod stalled;
mod struck;
mod torture;

use super::RunOrder;
use super::execute::attempt;
use super::folder::Folder;
use super::slot::Slot;
use super::stage::Stage;
use super::store::Store;
use crate::backends::sim::SimBackend;
use crate::planning::case::Case;
use crate::planning::drawing;
use futures_util::FutureExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use zooquake_backend::Backend;
use zooquake_checkers::{Results, check};
use zooquake_history::{
    Record,
    plan::{ClusterPlan, On, Plan},
};
use zooquake_workloads::recipes::registry;

/// What came of a run.
struct Ran {
    record: Record,
    results: Results,
    /// `history.jsonl`.
    history: String,
}

impl Ran {
    /// Anomalies that are neither advisory nor known of the variant.
    fn news(&self) -> Vec<String> {
        self.results
            .anomalies
            .iter()
            .filter(|one| !one.advisory && !one.accepted)
            .map(|one| format!("{}: {}", one.kind, one.why))
            .collect()
    }

    /// Anomalies that are not advisory, and not known of the variant under any fault of the plan. One that is known may
    /// have shown itself so late that no fault is near it any more.
    fn unknown(&self) -> Vec<String> {
        let plan = &self.record.plan;
        let known = |kind: &str| {
            let mut of = plan.workload.accepted.iter().filter(|known| known.anomaly == kind);
            of.any(|known| known.faults.iter().any(|fault| plan.faults.contains(fault)))
        };
        let all = self.results.anomalies.iter();
        let unknown = all.filter(|one| !one.advisory && !one.accepted && !known(&one.kind));
        unknown.map(|one| format!("{}: {}", one.kind, one.why)).collect()
    }

    fn kinds(&self) -> Vec<&str> {
        self.results.anomalies.iter().map(|one| one.kind.as_str()).collect()
    }

    fn phases(&self) -> Vec<&str> {
        let events = &self.record.history.events;
        events.iter().filter_map(|event| event.entered()).collect()
    }
}

/// Executes a plan in memory, and checks what came of it.
fn run(plan: Plan) -> Ran {
    run_until(plan, None)
}

/// The same, stopped by the user so long after its begin.
fn run_until(plan: Plan, stopped: Option<Duration>) -> Ran {
    let world = SimBackend::default();
    run_on(plan, stopped, &world, world.clone())
}

/// The same, on a backend whose hosts are in this world.
fn run_on(plan: Plan, stopped: Option<Duration>, world: &SimBackend, backend: impl Backend + 'static) -> Ran {
    let out = std::env::temp_dir().join(format!("zooquake-memory-{:016x}", fastrand::u64(..)));
    let folder = Folder::create(&out, &plan).unwrap();
    // Simulated servers write no logs, wherever the plan would have it run.
    let record = plan.clone().placed(On::Sim).of_new_run().record;
    let plan = Plan { record, ..plan };
    folder.write_json("plan.json", &plan).unwrap();
    let (stop, interrupt) = watch::channel(false);
    let clock = backend.clock();
    let order = RunOrder {
        recipe: None,
        case: Case::new(plan).unwrap(),
        backend: Arc::new(backend),
        out: out.clone(),
        keep: false,
        quiet: true,
        slot: Slot::default(),
        begun: None,
        interrupt,
    };
    let of = folder.clone();
    let run = async move {
        let stopping = clock.sleep(stopped.unwrap_or(Duration::MAX));
        clock.spawn(stopping.map(move |()| stop.send_replace(true)).map(|_| ()).boxed());
        attempt(order, &Store::Folder(of), "memory", &Stage::default()).await
    };
    world.run(run).unwrap();
    let record = folder.load().unwrap();
    let history = std::fs::read_to_string(folder.file("history.jsonl")).unwrap();
    std::fs::remove_dir_all(&out).unwrap();
    Ran {
        results: check(&record),
        record,
        history,
    }
}

fn plan(name: &str, seed: u64, time_ms: u64, faults: &[&str]) -> Plan {
    let (family, variant) = name.split_once('/').unwrap();
    let workload = zooquake_workloads::recipes::workload(family, variant).unwrap();
    let cluster = ClusterPlan {
        servers: 3,
        clients: 5,
        timing: drawing::timing(&workload),
        ..ClusterPlan::default()
    };
    let faults: Vec<String> = faults.iter().map(|fault| (*fault).to_string()).collect();
    drawing::plan(seed, workload, cluster, time_ms, &faults)
}

/// All variants but the one that is built on the client library itself.
fn variants() -> Vec<String> {
    let simulable = registry().iter().filter(|variant| !variant.client_library);
    simulable.map(|variant| variant.workload().name()).collect()
}
