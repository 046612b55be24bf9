//! Histories that make no sense.

use crate::expect::has_reason;
use crate::script::number;
use crate::simulated_locks;
use serde_json::json;
use zooquake_checkers::check;
use zooquake_history::{Plan, Record, files::Files};

/// A history need not make sense: events may be lost, doubled, out of order, and have any fields.
#[test]
fn nonsense_is_judged_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(3);
    let words = ["ok", "acquire", "g1", "c1", "0x11", "timeout", "recovered", "audit"];
    for seed in 0..3000 {
        let mut record = simulated_locks::record(seed);
        let events = &mut record.history.events;
        for _ in 0..random.usize(1..8) {
            let (from, to) = (random.usize(..events.len()), random.usize(..events.len()));
            let word = words[random.usize(..words.len())];
            match random.u32(..7) {
                0 => events.swap(from, to),
                1 => drop(events.remove(from)),
                2 => events.insert(to, events[from].clone()),
                3 => events[from].value = json!(word).into(),
                4 => events[from].f = word.into(),
                5 => events[from].kind = events[to].kind,
                _ => events[from].process = events[to].process.clone(),
            }
        }
        number(events);
        let indexes =
            |witness: &[usize]| witness.is_sorted() && witness.iter().all(|&at| at < record.history.events.len());
        assert!(
            check(&record).anomalies.iter().all(|anomaly| indexes(&anomaly.witness)),
            "seed {seed}"
        );
    }
}

/// A short plan may name more than anybody can judge.
#[test]
fn a_plan_that_asks_for_too_much_is_cut_off() {
    let line = json!({ "index": 0, "time": 1, "process": "run", "type": "info", "f": "phase", "value": "done" });
    let line = format!("{line}\n").into_bytes();
    let read = |clients: usize, faults: usize| {
        let mut plan = Plan {
            format: 1,
            ..Plan::default()
        };
        plan.workload.family = "lock".to_owned();
        plan.cluster.clients = clients;
        plan.faults = (0..faults).map(|number| format!("fault{number}")).collect();
        let plan = serde_json::to_vec(&plan).expect("it is data");
        Record::read(Files {
            plan: Some(&plan),
            history: Some(&line),
            ..Files::default()
        })
    };
    let sound = read(10_000, 100);
    assert_eq!((sound.plan.cluster.clients, &sound.damage), (10_000, &vec![]));
    let record = read(usize::MAX, 101);
    assert_eq!((record.plan.cluster.clients, record.plan.faults.len()), (10_000, 100));
    let results = check(&record);
    for why in [
        "clients, and 10000 at most are judged",
        "101 faults, and 100 at most are judged",
    ] {
        has_reason(&results, why);
    }
}
