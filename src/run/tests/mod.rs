//! Whole runs in memory: generators, engine, nemesis, recipes and checkers, in virtual time.

mod cuts;
mod rounds;
mod scenes;
mod stalled;
mod struck;
mod torture;

use super::execute::{RunOrder, attempt};
use super::folder::Folder;
use super::simulation;
use super::store::Store;
use crate::backends::sim::SimBackend;
use crate::planning::drawing;
use futures_util::FutureExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use zooquake_backend::Backend;
use zooquake_checkers::analysis::{Analysis, Hold};
use zooquake_checkers::plan::{ClusterPlan, Plan};
use zooquake_checkers::{Anomaly, Event, EventType, Process, Record, Results, Verdict, check};
use zooquake_history::operation::Mode;
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
        let news = self
            .results
            .anomalies
            .iter()
            .filter(|one| !one.advisory && !one.accepted);
        news.map(|one| format!("{}: {}", one.kind, one.why)).collect()
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
    folder.write_json("plan.json", &plan).unwrap();
    let (stop, interrupt) = watch::channel(false);
    let clock = backend.clock();
    let order = RunOrder {
        recipe: None,
        plan,
        backend: Arc::new(backend),
        out: out.clone(),
        keep: false,
        quiet: true,
        begun: None,
        interrupt,
    };
    let of = folder.clone();
    let run = async move {
        let stopping = clock.sleep(stopped.unwrap_or(Duration::MAX));
        clock.spawn(stopping.map(move |()| stop.send_replace(true)).map(|_| ()).boxed());
        attempt(order, &Store::Folder(of), "memory").await
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

#[test]
fn without_faults_every_variant_is_valid_that_is_not_known_to_break_so() {
    for name in variants() {
        let ran = run(plan(&name, 7, 6_000, &[]));
        let accepted = ran.record.plan.workload.accepted.iter();
        let without = accepted.filter(|known| known.faults.iter().any(|fault| fault == "none"));
        let known: BTreeSet<&str> = without.map(|known| known.anomaly.as_str()).collect();
        let verdict = match known.is_empty() {
            true => {
                let mut kinds = ran.kinds();
                // A follower that lags answers plain reads: advisory.
                kinds.retain(|kind| (name.as_str(), *kind) != ("register/read", "stale-read"));
                assert_eq!(kinds, [""; 0], "{name}");
                Verdict::Valid
            }
            false => {
                let found = ran.results.anomalies.iter().filter(|one| !one.advisory);
                assert_eq!(
                    found.map(|one| one.kind.as_str()).collect::<BTreeSet<_>>(),
                    known,
                    "{name}"
                );
                assert_eq!(ran.news(), [""; 0], "{name}");
                Verdict::Invalid
            }
        };
        assert_eq!(ran.results.verdict, verdict, "{name}: {:?}", ran.results.reasons);
        assert_eq!(ran.phases().last(), Some(&"done"), "{name}: {:?}", ran.phases());
    }
}

#[test]
fn a_semaphore_that_counts_before_it_creates_breaks_without_faults() {
    for seed in 0..5 {
        let ran = run(plan("semaphore/counted", seed, 6_000, &[]));
        assert_eq!(ran.results.verdict, Verdict::Invalid, "seed {seed}");
        let all = ran.results.anomalies.iter();
        let odd = |one: &&Anomaly| one.kind != "over-capacity" || !one.accepted || one.witness.len() != 9;
        assert_eq!(all.filter(|one| !one.advisory).find(odd), None, "seed {seed}");
    }
}

#[test]
fn under_faults_no_variant_breaks_in_a_way_that_it_is_not_known_for() {
    for name in variants() {
        let mut counting = 0;
        for (seed, faults) in [
            (1, ["kill", "pause", "partition"].as_slice()),
            (2, &["drop-reply", "disconnect"]),
            (3, &["expire"]),
            (4, &["lag", "kill"]),
        ] {
            let ran = run(plan(&name, seed, 25_000, faults));
            assert_eq!(ran.unknown(), [""; 0], "{name} seed {seed}");
            assert!(ran.phases().contains(&"recovered"), "{name}: {:?}", ran.phases());
            counting += ran.results.windows.iter().filter(|window| window.counts).count();
        }
        assert!(counting > 4, "{name}: {counting} windows count");
    }
}

#[test]
fn a_fenced_lock_keeps_its_promise_whatever_the_seed() {
    for name in ["lock/fenced", "rwlock/fenced"] {
        for seed in 0..20 {
            let ran = run(plan(name, seed, 20_000, &["kill", "pause", "partition"]));
            assert_eq!(ran.news(), [""; 0], "{name} seed {seed}");
            assert_eq!(ran.phases().last(), Some(&"done"), "{name} seed {seed}");
        }
    }
}

#[test]
fn readers_hold_together_and_writers_alone() {
    let ran = run(plan("rwlock/fenced", 7, 30_000, &[]));
    let run = Analysis::new(&ran.record);
    let holds = run.holds();
    let together = |one: &Hold<'_>, other: &Hold<'_>| {
        let during = |a: &Hold<'_>, b: &Hold<'_>| a.from < b.from && a.until.is_none_or(|until| until > b.from);
        during(one, other) || during(other, one)
    };
    let beside = |mode: Mode, other: Mode| {
        let of = |mode| holds.iter().filter(move |hold| hold.mode == Some(mode));
        of(mode)
            .flat_map(|one| of(other).filter(move |other| together(one, other)))
            .count()
    };
    assert!(beside(Mode::Shared, Mode::Shared) > 20);
    assert_eq!(
        beside(Mode::Exclusive, Mode::Shared) + beside(Mode::Exclusive, Mode::Exclusive),
        0
    );
    let read = |event: &&Event| event.f == "read" && event.kind == EventType::Ok && event.value["value"].is_u64();
    assert!(ran.record.history.events.iter().filter(read).count() > 40);
}

#[test]
fn the_tutorial_s_lock_breaks_as_it_does() {
    let broken = (0..10).any(|seed| {
        let ran = run(plan("lock/predecessor", seed, 20_000, &["kill", "pause", "partition"]));
        ran.kinds().contains(&"stale-write")
    });
    assert!(broken, "a pause lets an older grant write after a newer one");
}

#[test]
fn a_record_in_memory_is_the_one_that_its_folder_gives() {
    for name in ["lock/predecessor", "queue/claimed", "register/read"] {
        let plan = plan(name, 5, 12_000, &["kill", "pause", "drop-reply"]);
        let out = tempfile::tempdir().unwrap();
        let finished = simulation::run(&plan, out.path()).unwrap();
        let (folder, memory) = (finished.folder.load().unwrap(), simulation::record(&plan).unwrap());
        assert!(folder.history.events == memory.history.events, "{name}");
        assert_eq!((&folder.tree, &folder.txnlog), (&memory.tree, &memory.txnlog), "{name}");
        assert_eq!(folder.server_txnlogs, memory.server_txnlogs, "{name}");
        assert_eq!(
            (&folder.servers, &folder.damage),
            (&memory.servers, &memory.damage),
            "{name}"
        );
        assert_eq!(finished.results, check(&memory), "{name}");
    }
}

#[test]
fn a_client_does_as_many_operations_as_its_plan_has_and_the_run_goes_on_without_waiting() {
    for name in variants() {
        let mut plan = plan(&name, 5, 60_000, &[]);
        plan.clients.iter_mut().for_each(|client| client.ops = Some(6));
        let ran = run(plan);
        let events = &ran.record.history.events;
        let until = events.iter().position(|event| event.entered() == Some("heal")).unwrap();
        for client in 1..=5 {
            let own = |event: &&Event| {
                event.node.as_deref() == Some(&format!("c{client}"))
                    && matches!((&event.process, event.kind), (Process::Number(_), EventType::Invoke))
            };
            let asked = events[..until].iter().filter(own).count();
            // What was begun is ended: a grant is given back, a claimed item acknowledged, a round left.
            assert!(asked <= 9, "{name}: c{client} was asked {asked} times");
        }
        assert_eq!(ran.phases().last(), Some(&"done"), "{name}");
    }
}

#[test]
fn the_same_plan_gives_the_same_history() {
    for name in [
        "lock/protected",
        "rwlock/fenced",
        "queue/claimed",
        "commit/atomic",
        "barrier/tutorial",
    ] {
        let ran = || {
            run(plan(
                name,
                3,
                15_000,
                &[
                    "kill",
                    "pause",
                    "partition",
                    "drop-reply",
                    "disconnect",
                    "expire",
                    "lag",
                ],
            ))
        };
        assert!(ran().history == ran().history, "{name}");
    }
}
