//! Gates.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind};
use crate::liveness::phase;
use crate::queue::{gate_definitions, simulated_gates};
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

/// A random gate; at its end one is raised once more, all but its keeper wait at it, and it is lifted.
fn make(seed: u64) -> Record {
    let mut record = simulated_gates::rounds(seed);
    let audit = phase(&record.history.events, "audit").expect("there is one");
    let wait = record.history.events[audit].time;
    // Those who wait wait as long as before; the last round is at the end of that.
    record.history.events.truncate(audit);
    let mut end = RunEndWriter::new(record);
    end.until(wait);
    let nodes = end.idle();
    let round = json!({"round": 9});
    if let Some((keeper, others)) = nodes.split_last() {
        end.done(keeper, "raise", round.clone(), round.clone());
        for node in others {
            end.op(node, EventType::Invoke, "wait", round.clone());
        }
        end.done(keeper, "lift", round.clone(), round.clone());
        for node in others {
            end.op(node, EventType::Ok, "wait", round.clone());
        }
        // So that each client has finished something.
        end.done(keeper, "wait", round.clone(), round);
    }
    end.audit(vec![])
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    let f = ["raise", "wait", "lift"][rng.usize(0..3)];
    (f, json!({"round": rng.i64(1..3)}))
}

fn found(record: &Record, results: &Results) -> Claims {
    let events = &record.history.events;
    let answer = |anomaly: &Anomaly| {
        let of = |at: &&usize| events[**at].kind == EventType::Ok && events[**at].f == "wait";
        let read = anomaly.witness.iter().find(of).expect("an answer");
        claim("early-release", events[*read].time)
    };
    let stuck = |anomaly: &Anomaly| {
        let words: Vec<&str> = anomaly.why.split(' ').collect();
        claim("stuck-barrier", format!("{} gate {}", words[0], words[5]))
    };
    let early = of_kind(results, "early-release").map(answer);
    early.chain(of_kind(results, "stuck-barrier").map(stuck)).collect()
}

fn wanted(record: &Record) -> Claims {
    let events = &record.history.events;
    let early = gate_definitions::early(record).into_iter();
    let early = early.map(|at| claim("early-release", events[at].time));
    let stuck = gate_definitions::stuck(record).into_iter();
    let stuck = stuck.map(|(node, round)| claim("stuck-barrier", format!("{node} gate {round}")));
    early.chain(stuck).collect()
}
