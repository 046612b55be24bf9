//! Barriers.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind};
use crate::liveness::phase;
use crate::queue::{barrier_definitions, simulated_barriers};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::{Anomaly, Results};
use zooquake_history::{EventType, Record};

pub const FAMILY: FamilyHistories = FamilyHistories {
    make,
    found,
    wanted,
    another,
    waits: true,
};

/// A random barrier; at its end all meet once more.
fn make(seed: u64) -> Record {
    let record = simulated_barriers::rounds(seed);
    let tutorial = record.plan.workload.variant == "tutorial";
    let audit = phase(&record.history.events, "audit").expect("there is one");
    let wait = record.history.events[audit].time;
    let mut record = record;
    // Those who wait wait as long as before; the last round is at the end of that.
    record.history.events.truncate(audit);
    let mut end = RunEndWriter::new(record);
    end.until(wait);
    let nodes = end.idle();
    let members = nodes.len();
    let asked = json!({"round": 9, "members": members});
    if tutorial {
        for (number, node) in nodes.iter().enumerate() {
            let asked = json!({"round": 9, "members": members, "member": number});
            end.done(node, "join", asked, json!({"round": 9, "session": "0x9"}));
        }
        for node in &nodes {
            end.done(node, "enter", asked.clone(), json!({"round": 9}));
        }
    } else {
        for (f, answer) in [("enter", "czxid"), ("leave", "removed")] {
            for node in &nodes {
                end.op(node, EventType::Invoke, f, asked.clone());
            }
            for (number, node) in nodes.iter().enumerate() {
                let own = if f == "enter" {
                    json!(900 + number)
                } else {
                    json!({"czxid": 900 + number})
                };
                end.op(
                    node,
                    EventType::Ok,
                    f,
                    json!({"round": 9, "session": "0x9", answer: own}),
                );
            }
        }
    }
    end.audit(vec![])
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    let round = rng.i64(1..3);
    match rng.u8(0..3) {
        0 => ("enter", json!({"round": round, "members": 2})),
        1 => ("join", json!({"round": round, "members": 2, "member": rng.i64(1..4)})),
        _ => ("leave", json!({"round": round})),
    }
}

fn found(record: &Record, results: &Results) -> Claims {
    let events = &record.history.events;
    let answer = |anomaly: &Anomaly| {
        let leave = anomaly.why.contains(" left round ");
        let of = |at: &&usize| events[**at].kind == EventType::Ok && (events[**at].f == "leave") == leave;
        let read = anomaly.witness.iter().find(of).expect("an answer");
        claim("early-release", events[*read].time)
    };
    let stuck = |anomaly: &Anomaly| {
        let words: Vec<&str> = anomaly.why.split(' ').collect();
        let round = 5 + usize::from(words[4] == "leave");
        claim("stuck-barrier", format!("{} {} {}", words[0], words[4], words[round]))
    };
    let early = of_kind(results, "early-release").map(answer);
    early.chain(of_kind(results, "stuck-barrier").map(stuck)).collect()
}

fn wanted(record: &Record) -> Claims {
    let events = &record.history.events;
    let early = barrier_definitions::early(record);
    let early = early.into_iter().map(|at| claim("early-release", events[at].time));
    let enters = barrier_definitions::stuck(record)
        .into_iter()
        .map(|(node, round)| format!("{node} round {round}"));
    let leaves = barrier_definitions::stuck_leaves(record).into_iter();
    let leaves = leaves.map(|(node, round)| format!("{node} leave {round}"));
    let stuck = enters.chain(leaves).map(|about| claim("stuck-barrier", about));
    early.chain(stuck).collect()
}
