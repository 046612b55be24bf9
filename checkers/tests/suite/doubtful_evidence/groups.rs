//! Groups.

use super::{Claims, FamilyHistories, claim, of_kind};
use crate::membership::{agreement, definitions, quiet_definitions, simulated_groups};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::Results;
use zooquake_history::Record;

pub const FAMILY: FamilyHistories = FamilyHistories {
    make,
    found,
    wanted,
    another,
    waits: true,
};

/// A random group; half of them are of correct recipes.
fn make(seed: u64) -> Record {
    match seed % 2 {
        0 => simulated_groups::correct(seed),
        _ => simulated_groups::record(seed),
    }
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    let value = rng.i64(900..1_000);
    match rng.u8(0..3) {
        0 => ("register", json!({"member": "m1", "value": value})),
        1 => ("update", json!({ "value": value })),
        _ => ("deregister", json!({})),
    }
}

/// The last event of a view, by its time, which a change of the history does not move.
fn found(record: &Record, results: &Results) -> Claims {
    let time = |at: usize| record.history.events[at].time;
    let phantoms = of_kind(results, "phantom-member").map(|found| claim("phantom-member", time(found.witness[0])));
    let regressions = of_kind(results, "view-regression").map(|found| {
        let node = record.history.events[found.witness[0]].node.clone().expect("a client");
        claim("view-regression", format!("{node} {}", agreement::path(found)))
    });
    let waiting = ["stale-view", "lost-member"].into_iter();
    let waiting = waiting.flat_map(|kind| {
        let each = of_kind(results, kind);
        each.map(move |found| claim(kind, agreement::client(record, found)))
    });
    phantoms.chain(regressions).chain(waiting).collect()
}

fn wanted(record: &Record) -> Claims {
    let time = |at: usize| record.history.events[at].time;
    let phantoms = definitions::phantoms(record).into_iter();
    let phantoms = phantoms.map(|at| claim("phantom-member", time(at)));
    let sessions = definitions::sessions(record);
    let regressed = sessions.iter().flat_map(|views| definitions::regressed(views));
    let regressed = regressed.map(|(node, _, _, path)| claim("view-regression", format!("{node} {path}")));
    let stale = quiet_definitions::stale(record)
        .into_iter()
        .map(|node| claim("stale-view", node));
    let lost = quiet_definitions::lost(record)
        .into_iter()
        .chain(quiet_definitions::unregistered(record));
    let lost = lost.map(|node| claim("lost-member", node));
    phantoms.chain(regressed).chain(stale).chain(lost).collect()
}
