//! Two-phase commits.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind, renumber};
use crate::commit::agreement::{KINDS, transaction};
use crate::commit::{brute_force, commit, simulated_commits};
use fastrand::Rng;
use serde_json::{Value, json};
use std::fmt::Write;
use zooquake_checkers::Results;
use zooquake_history::{EventType, Record};

pub const FAMILY: FamilyHistories = FamilyHistories {
    make,
    found,
    wanted,
    another,
    waits: true,
};

/// Five transactions of each decision.
fn before() -> Record {
    let mut text = String::new();
    for tx in 20..30 {
        let (vote, decision) = [("yes", "commit"), ("no", "abort")][tx % 2];
        writeln!(
            text,
            "c1 begin t{tx} sites=c2,c3\nc1 begun t{tx}\nc2 vote t{tx} yes\nc2 voted t{tx} yes\nc3 vote t{tx} {vote}\n\
             c3 voted t{tx} {vote}\nc1 decide t{tx}\nc2 asks t{tx}\nc2 decided t{tx} {decision}\nc3 asks t{tx}\n\
             c3 decided t{tx} {decision}\nc1 answers t{tx} {decision}"
        )
        .expect("a string");
    }
    commit(&text)
}

/// Random transactions between some that are as they should be.
fn make(seed: u64) -> Record {
    let mut record = simulated_commits::record(seed);
    let mut first = before().history.events;
    let (count, time) = (first.len(), first.last().expect("there are some").time);
    for event in &mut first {
        event.process = match &event.process {
            zooquake_history::Process::Number(number) => zooquake_history::Process::Number(2_000 + number),
            named => named.clone(),
        };
    }
    for event in &mut record.history.events {
        event.time += time;
    }
    record.history.events.splice(0..0, first);
    renumber(&mut record, |index| index + count);
    let mut end = RunEndWriter::new(record);
    let idle = end.idle();
    if ["c1", "c2", "c3"]
        .iter()
        .all(|node| idle.iter().any(|idle| idle == node))
    {
        let tx = json!({"tx": "t50"});
        end.done("c1", "begin", json!({"tx": "t50", "sites": ["c2", "c3"]}), tx.clone());
        for site in ["c2", "c3"] {
            end.done(
                site,
                "vote",
                json!({"tx": "t50", "vote": "yes"}),
                json!({"tx": "t50", "voted": "yes"}),
            );
        }
        let told = json!({"tx": "t50", "decision": "commit"});
        end.done("c1", "decide", tx.clone(), told.clone());
        for site in ["c2", "c3"] {
            end.op(site, EventType::Invoke, "decided", tx.clone());
            end.op(site, EventType::Ok, "decided", told.clone());
        }
    }
    let mut end = end.keep_tree();
    end.phase("done");
    end.record
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    let tx = format!("t{}", rng.u8(0..2));
    match rng.u8(0..4) {
        0 => ("vote", json!({"tx": tx, "vote": if rng.bool() { "yes" } else { "no" }})),
        1 => ("decide", json!({"tx": tx})),
        2 => ("begin", json!({"tx": "t60", "sites": ["c2", "c3"]})),
        _ => ("decided", json!({"tx": tx})),
    }
}

fn found(_: &Record, results: &Results) -> Claims {
    let all = KINDS.iter().flat_map(|(kind, _)| of_kind(results, kind));
    all.map(|anomaly| claim(&anomaly.kind, transaction(&anomaly.why)))
        .collect()
}

fn wanted(record: &Record) -> Claims {
    let names = brute_force::names(record);
    let all = names.iter().flat_map(|tx| KINDS.iter().map(move |kind| (tx, kind)));
    all.filter(|(tx, (_, definition))| definition(record, tx))
        .map(|(tx, (kind, _))| claim(kind, tx))
        .collect()
}
