//! Queues of items.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind};
use crate::queue::agreement::{Definition, KINDS, item};
use crate::queue::simulated_queues;
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::Results;
use zooquake_history::Record;

pub const FAMILY: FamilyHistories = FamilyHistories {
    make,
    found,
    wanted,
    another,
    waits: false,
};

/// A random queue; at its end each client puts an item in and takes it out again.
fn make(seed: u64) -> Record {
    let record = simulated_queues::items(seed);
    let claimed = record.plan.workload.variant == "claimed";
    let mut end = RunEndWriter::new(record);
    for (number, node) in end.idle().into_iter().enumerate() {
        let item = json!({"item": 70 + number});
        end.done(&node, "enqueue", item.clone(), item.clone());
        end.done(&node, "dequeue", json!({}), item.clone());
        if claimed {
            end.done(&node, "acknowledge", item.clone(), item);
        }
    }
    end.audit(vec![])
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    match rng.u8(0..3) {
        0 => ("enqueue", json!({"item": 60})),
        1 => ("dequeue", json!({})),
        _ => ("acknowledge", json!({"item": rng.u32(1..5)})),
    }
}

fn found(record: &Record, results: &Results) -> Claims {
    let all = KINDS.iter().flat_map(|(kind, _)| of_kind(results, kind));
    all.map(|anomaly| claim(&anomaly.kind, item(record, anomaly))).collect()
}

fn wanted(record: &Record) -> Claims {
    let each = |(kind, definition): (&'static str, Definition)| {
        definition(record).into_iter().map(move |number| claim(kind, number))
    };
    KINDS.into_iter().flat_map(each).collect()
}
