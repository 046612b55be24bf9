//! Counters.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind};
use crate::counter::{self, brute_force, simulated_counters};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::Results;
use zooquake_history::{EventType, Record};

pub const FAMILY: FamilyHistories = FamilyHistories {
    make,
    found,
    wanted,
    another,
    waits: false,
};

/// A random counter; at its end each client adds 1 and reads the value after a write.
fn make(seed: u64) -> Record {
    let mut record = simulated_counters::history_of_at_most(seed, 6);
    record.tree = None;
    let values = record.history.events.iter().filter_map(|event| {
        let read = || event.value.get("value")?.as_i64();
        event.id().or_else(read)
    });
    let mut value = values.max().unwrap_or(0);
    let mut end = RunEndWriter::new(record);
    for node in end.idle() {
        value += 1;
        end.done(&node, "increment", json!({}), json!({ "id": value }));
        end.named(&node, EventType::Invoke, "confirm");
        end.named(&node, EventType::Ok, "confirm");
        end.done(&node, "get", json!({}), json!({ "value": value }));
    }
    end.audit(vec![counter::znode(&value.to_string())])
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    match rng.bool() {
        true => ("increment", json!({})),
        false => ("get", json!({})),
    }
}

fn found(record: &Record, results: &Results) -> Claims {
    let id = |at: usize| record.history.events[at].id().expect("an id");
    let twice = of_kind(results, "duplicate-id").map(|found| claim("duplicate-id", id(found.witness[0])));
    // Which of several values proves it depends on what else is there.
    let other = ["lost-increment", "phantom-increment"].into_iter();
    let other = other.filter(|kind| of_kind(results, kind).next().is_some());
    twice.chain(other.map(|kind| claim(kind, ""))).collect()
}

fn wanted(record: &Record) -> Claims {
    let mut claims: Claims = brute_force::duplicates(record)
        .into_iter()
        .map(|id| claim("duplicate-id", id))
        .collect();
    let (from, few) = brute_force::lost(record);
    if few || !from.is_empty() {
        claims.insert(claim("lost-increment", ""));
    }
    if !brute_force::phantoms(record).is_empty() {
        claims.insert(claim("phantom-increment", ""));
    }
    claims
}
