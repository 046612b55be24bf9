//! Registers.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind};
use crate::register::{self, brute_force, simulated_registers};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::{Anomaly, Results};
use zooquake_history::Record;

pub const FAMILY: FamilyHistories = FamilyHistories {
    make,
    found,
    wanted,
    another,
    waits: false,
};

/// A random register; at its end each client writes and reads once more, one after the other.
fn make(seed: u64) -> Record {
    let mut record = simulated_registers::history_of_at_most(seed, 5);
    record.tree = None;
    let mut end = RunEndWriter::new(record);
    let mut last = None;
    for (number, node) in end.idle().into_iter().enumerate() {
        let (value, mzxid) = (70 + number, 900 + number);
        let session = format!("0x7{number}");
        let told = json!({"value": value, "mzxid": mzxid, "session": session, "server": "n1"});
        end.done(&node, "write", json!({ "value": value }), told.clone());
        end.done(&node, "read", json!({}), told);
        last = Some((value, mzxid as i64));
    }
    let register = last.map(|(value, mzxid)| register::znode(&value.to_string(), mzxid));
    end.audit(register.into_iter().collect())
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    match rng.u8(0..3) {
        0 => ("read", json!({})),
        1 => ("write", json!({"value": 60})),
        _ => ("cas", json!({"from": rng.i64(0..4), "to": 61})),
    }
}

fn found(_: &Record, results: &Results) -> Claims {
    let session = |anomaly: &Anomaly| anomaly.why.split(' ').nth(1).expect("a session").to_owned();
    let back = of_kind(results, "session-order").map(|anomaly| claim("session-order", session(anomaly)));
    let wrong = of_kind(results, "not-linearizable").map(|_| claim("not-linearizable", ""));
    back.chain(wrong).collect()
}

fn wanted(record: &Record) -> Claims {
    let mut claims: Claims = brute_force::backward(record)
        .into_iter()
        .map(|session| claim("session-order", session))
        .collect();
    if !brute_force::linearizable(record) {
        claims.insert(claim("not-linearizable", ""));
    }
    claims
}
