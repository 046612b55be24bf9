//! Locks, read-write locks, elections and semaphores.

use super::run_ends::RunEndWriter;
use super::{Claims, FamilyHistories, claim, of_kind};
use crate::election::{self, Words};
use crate::overlaps::{Overlaps, overlaps};
use crate::script::retold;
use crate::{brute_force, plain_definitions, semaphore, simulated_locks};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::{Anomaly, Results};
use zooquake_history::Record;

pub const LOCK: FamilyHistories = FamilyHistories {
    make: |seed| make(simulated_locks::record(seed), election::LOCK),
    found: |record, results| found(record, results, election::LOCK),
    wanted: |record| wanted(record, election::LOCK),
    another,
    waits: true,
};

pub const RWLOCK: FamilyHistories = FamilyHistories {
    make: |seed| make(simulated_locks::rwlock(seed), election::LOCK),
    another: |rng| match (rng.u8(0..5), another(rng)) {
        (0, _) => ("read", json!({"grant": format!("g{}", rng.u32(0..4))})),
        (1 | 2, ("acquire", mut value)) => {
            value["mode"] = json!("shared");
            ("acquire", value)
        }
        (_, other) => other,
    },
    ..LOCK
};

pub const ELECTION: FamilyHistories = FamilyHistories {
    make: |seed| make(simulated_locks::record(seed), election::ELECTION),
    found: |record, results| found(record, results, election::ELECTION),
    wanted: |record| wanted(record, election::ELECTION),
    another: |rng| match another(rng) {
        ("acquire", value) => ("elect", value),
        ("release", value) => ("resign", value),
        other => other,
    },
    ..LOCK
};

pub const SEMAPHORE: FamilyHistories = FamilyHistories {
    make: |seed| make(semaphore::random(seed), semaphore::WORDS),
    found: |record, results| found(record, results, semaphore::WORDS),
    wanted: |record| wanted(record, semaphore::WORDS),
    another: |rng| match another(rng) {
        ("write", value) => ("work", value),
        other => other,
    },
    ..LOCK
};

/// A random lock, read-write lock, election or semaphore; at its end each client holds once more, one after the other.
fn make(record: Record, words: Words) -> Record {
    let mut end = RunEndWriter::new(record);
    for (number, node) in end.idle().into_iter().enumerate() {
        let grant = json!({"grant": format!("g{}", 70 + number)});
        let told = json!({"grant": format!("g{}", 70 + number), "czxid": 1000 + number, "token": 1000 + number,
            "path": format!("/lock/last{number}"), "session": format!("0x7{number}")});
        end.done(&node, "acquire", grant.clone(), told);
        let removed = json!({"grant": format!("g{}", 70 + number), "removed": {"czxid": 1000 + number}});
        end.done(&node, "release", grant, removed);
    }
    words.retold(Record {
        txnlog: None,
        ..end.audit(vec![])
    })
}

fn another(rng: &mut Rng) -> (&'static str, Value) {
    let name = |number: u32| json!({"grant": format!("g{number}")});
    match rng.u8(0..3) {
        0 => ("acquire", name(90)),
        1 => ("write", name(rng.u32(0..4))),
        _ => ("release", name(rng.u32(0..4))),
    }
}

/// An election or a semaphore rewritten with the operations of a lock.
fn as_lock(record: &Record) -> Record {
    let names = [("elect", "acquire"), ("resign", "release"), ("work", "write")];
    retold(record, &record.plan.workload.family, &names)
}

fn found(record: &Record, results: &Results, words: Words) -> Claims {
    let record = as_lock(record);
    let events = &record.history.events;
    let mut claims = Claims::new();
    // The grant that the last, or the first, event of an acquire in the witness names.
    let grant = |anomaly: &Anomaly, last: bool| {
        let mut names = anomaly
            .witness
            .iter()
            .map(|&at| &events[at])
            .filter(|event| event.f == "acquire")
            .filter_map(|event| event.grant());
        let name = if last { names.next_back() } else { names.next() };
        name.unwrap_or("nobody's").to_owned()
    };
    for kind in [words.double, words.stale_holder, words.regression] {
        claims.extend(of_kind(results, kind).map(|anomaly| claim(kind, grant(anomaly, true))));
    }
    for kind in [words.pending, "unowned-release"] {
        claims.extend(of_kind(results, kind).map(|anomaly| claim(kind, grant(anomaly, false))));
    }
    claims.extend(of_kind(results, "stale-write").map(|_| claim("stale-write", "")));
    let path = |anomaly: &Anomaly| anomaly.why.split(' ').nth(2).map(str::to_owned).expect("a path");
    claims.extend(of_kind(results, "orphan-node").map(|anomaly| claim("orphan-node", path(anomaly))));
    claims
}

fn wanted(record: &Record, words: Words) -> Claims {
    let record = &as_lock(record);
    let events = &record.history.events;
    let grant = |at: &usize| events[*at].grant().expect("a grant").to_owned();
    let Overlaps {
        mut doubles,
        over,
        stale,
    } = overlaps(record);
    // Only semaphores of these have several leases.
    doubles.extend(over);
    let mut claims = Claims::new();
    // What is a double grant in one reading may be less in another.
    claims.extend(doubles.iter().map(|at| claim(words.stale_holder, grant(at))));
    claims.extend(doubles.iter().map(|at| claim(words.double, grant(at))));
    claims.extend(stale.iter().map(|at| claim(words.stale_holder, grant(at))));
    if words.writes {
        let regressions = plain_definitions::regressions(record);
        claims.extend(regressions.iter().map(|at| claim(words.regression, grant(at))));
    }
    claims.extend(
        plain_definitions::lost(record)
            .iter()
            .map(|at| claim(words.pending, grant(at))),
    );
    claims.extend(
        plain_definitions::unowned(record)
            .iter()
            .map(|name| claim("unowned-release", name)),
    );
    claims.extend(
        plain_definitions::orphans(record)
            .iter()
            .map(|path| claim("orphan-node", path)),
    );
    if words.writes && !brute_force::unmixed(record) {
        claims.insert(claim("stale-write", ""));
    }
    claims
}
