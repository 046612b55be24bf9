//! Random runs of a partition: what its replicas store and cut off, who is killed, who leads, and who is in sync.

use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_history::plan::ConsensusGoal;
use zooquake_history::{Event, EventType, History, Process, Record};

/// Replicas of a run at the most.
const REPLICAS: usize = 4;

/// A record of a partition with these events, of a process, its `f` and its value each, and with the names of its nodes
/// before them.
pub fn partition(lines: &[(&str, &str, Value)]) -> Record {
    let replicas = (1..=REPLICAS).map(|number| format!("replica{number}"));
    let names: Vec<String> = replicas.chain(["register1".to_owned()]).collect();
    let named = ("run", "nodes", json!(names));
    let event = |(index, (process, f, value)): (usize, &(&str, &str, Value))| Event {
        index,
        time: index as u64 * 1_000_000,
        process: Process::Name((*process).into()),
        kind: EventType::Info,
        f: (*f).into(),
        value: value.clone().into(),
        error: None,
        node: None,
    };
    let mut record = Record::default();
    record.plan.workload.family = "consensus".to_owned();
    record.plan.workload.variant = "isr".to_owned();
    record.plan.workload.goal = ConsensusGoal::Log;
    let lines = [named].iter().chain(lines).cloned().collect::<Vec<_>>();
    record.history = History {
        events: lines.iter().enumerate().map(event).collect(),
    };
    record
}

/// The random run of a seed. Most logs begin alike, as logs of replicas do.
pub fn record(seed: u64) -> Record {
    let mut random = Rng::with_seed(seed);
    let names: Vec<String> = (1..=random.usize(2..=REPLICAS))
        .map(|number| format!("replica{number}"))
        .collect();
    let mut lines: Vec<(&str, &str, Value)> = Vec::new();
    if random.u32(..4) > 0 {
        lines.push(("register1", "in-sync", json!({ "replicas": names })));
    }
    let roundless = random.u32(..4) == 0;
    for _ in 0..random.usize(4..40) {
        let name = names[random.usize(..names.len())].as_str();
        lines.push(match random.u32(..100) {
            0..62 => (name, "stored", stored(&mut random, roundless)),
            62..70 => (name, "truncated", json!({ "offset": random.u32(1..5) })),
            70..76 => {
                let kill = json!({ "window": 1, "phase": "on", "target": name });
                ("nemesis", "kill", kill)
            }
            76..90 => {
                let replicas: Vec<&String> = names.iter().filter(|_| random.u32(..4) > 0).collect();
                ("register1", "in-sync", json!({ "replicas": replicas }))
            }
            _ => (name, "leading", json!({ "round": random.u32(1..6) })),
        });
    }
    if random.u32(..8) > 0 {
        lines.push(("run", "phase", json!("done")));
    }
    partition(&lines)
}

/// A record at an offset; some have no epoch.
fn stored(random: &mut Rng, roundless: bool) -> Value {
    let offset = random.u32(..4);
    let value = match random.u32(..4) {
        0 => random.u32(1..9),
        _ => offset + 1,
    };
    match roundless && random.u32(..4) == 0 {
        true => json!({ "offset": offset, "value": value }),
        false => json!({ "offset": offset, "round": random.u32(1..4), "value": value }),
    }
}
