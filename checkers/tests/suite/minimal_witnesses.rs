//! Every anomaly that the checkers can raise: its witness is enough, and no event of it can be left out.
//!
//! A random history is judged, reduced to the events of one witness, and judged again. Nothing else is kept: no phase,
//! no request and no answer that the witness does not name. The tree and the transaction log are kept only if the same
//! witness is not found without them, since they do not repeat what the history proves. Reduced so, the record has the
//! anomaly; with one event less it has not.
//!
//! - Of what happened (two grants, two deliveries, two decisions, reads in a wrong order) all that excuses it is left
//!   out.
//! - Of what is absent (`lost-item`, `lost-wakeup`, `no-leader`, `stuck-barrier`, `stuck-queue`, `blocked-transaction`,
//!   `lost-member`, `orphan-node`, `stuck-item`) the witness is what shows that it had to come: the request or the
//!   acknowledgement, `recovered` or the drain, and the last event up to which it had not come. That it never came is
//!   the absence of every other event, so the reduced history has it too. An orphan, and a claim, is in the tree, which
//!   is kept; the witness is who was asked for it and did not name it, or did not give it.
//! - Anomalies of the ensemble rest on the servers' logs and answers: their witness is empty, and so is the reduced
//!   history.
//! - Foreign histories have operations that happened, failed or may have happened, and no order that fits: see
//!   `foreign`.
//!
//! ```text
//! ZOOQUAKE_HISTORIES=50000 cargo test -p zooquake-checkers --test suite minimal
//! ```

mod ensembles;
mod foreign_histories;
pub mod varied_histories;

use crate::commit::agreement::transaction;
use crate::doubtful_evidence;
use crate::expect::only;
use crate::{
    commit, consensus, counter, election, membership, queue, register, semaphore, simulated_locks, stolen_znode,
};
use std::collections::{BTreeMap, BTreeSet};
use varied_histories::{audited, varied};
use zooquake_checkers::families;
use zooquake_checkers::{Anomaly, check};
use zooquake_history::Record;

/// How many histories of a family are drawn.
const USUAL: u64 = 3_000;

/// Checkers that raise no anomaly.
const SILENT: [&str; 4] = ["evidence", "second-opinion", "scenes", "observers"];

type Names = BTreeSet<String>;

/// What an anomaly is about, where one event can prove several of its kind: an orphan's znode, an enter, a transaction.
fn about(anomaly: &Anomaly) -> Option<&str> {
    match anomaly.kind.as_str() {
        "orphan-node" => anomaly.why.split(' ').nth(2),
        "stuck-item" => anomaly.why.split("its claim ").nth(1)?.split(' ').next(),
        "view-regression" => Some(membership::agreement::path(anomaly)),
        // Who was sent to which round.
        "stuck-barrier" | "stuck-queue" => anomaly.why.split(" at ").next(),
        kind if commit::agreement::KINDS.iter().any(|(name, _)| *name == kind) => Some(transaction(&anomaly.why)),
        _ => None,
    }
}

fn same(one: &Anomaly, other: &Anomaly) -> bool {
    let what = |anomaly: &Anomaly| (anomaly.kind.clone(), anomaly.property.clone(), anomaly.advisory);
    what(one) == what(other) && about(one) == about(other)
}

/// The deletion that an `unowned-release` of the logs is about. One anomaly a grant is found, so that fewer events may
/// convict by another deletion.
fn deletion(anomaly: &Anomaly) -> Option<&str> {
    let unowned = anomaly.kind == "unowned-release";
    let transaction = anomaly.why.split(" in transaction ").nth(1).filter(|_| unowned)?;
    transaction.split(',').next()
}

/// The record without the evidence that adds nothing to an anomaly.
fn needed(record: &Record, anomaly: &Anomaly) -> Record {
    let is = |other: &Anomaly| same(other, anomaly) && other.witness == anomaly.witness;
    let found = |record: &Record| check(record).anomalies.iter().any(is);
    let mut least = record.clone();
    for tree in [record.tree.clone(), None] {
        let without = Record {
            tree,
            txnlog: None,
            ..record.clone()
        };
        if found(&without) {
            least = without;
        }
    }
    least
}

/// Whether values of a register are not judged because several requests may have written them. Of these a reduced
/// history may have one only, and prove more than the whole.
fn ambiguous(record: &Record) -> bool {
    let said = |reason: &String| reason.contains("may have been written more than once");
    check(record).reasons.iter().any(said)
}

/// Whether an anomaly rests on a bound longer than the least one. The operations that make it so are not in the
/// witness, so a reduced history, whose bound is shorter, may need less of it.
fn longer_bound(anomaly: &Anomaly) -> bool {
    let why = &anomaly.why;
    let hand_overs = why.split("a hundred median hand-overs (").nth(1);
    let hand_overs = hand_overs.and_then(|rest| rest.split(" s)").next()?.parse::<f64>().ok());
    // Two session timeouts of these histories are 4 s.
    hand_overs.is_some_and(|seconds| seconds > 4.0)
        || why.contains(" The bound is ") && !why.contains(" The bound is 10.000 s")
}

/// Whether the bound of a reduced history is longer than the least one: an answer whose request is left out has taken
/// all the time up to it.
fn raised_bound(record: &Record) -> bool {
    let bound = |reason: &String| reason.contains(" s after which that convicts");
    let reasons = check(record).reasons;
    let mut bounds = reasons.iter().filter(|reason| bound(reason));
    bounds.any(|reason| !reason.contains(" of the 10.000 s after"))
}

/// Says what is wrong with the witness of an anomaly.
fn minimal(record: &Record, anomaly: &Anomaly) -> Result<(), String> {
    let least = needed(record, anomaly);
    let found = |keep: &BTreeSet<usize>| check(&only(&least, keep)).anomalies.into_iter();
    let witness: BTreeSet<usize> = anomaly.witness.iter().copied().collect();
    if !found(&witness).any(|other| same(&other, anomaly)) {
        return match raised_bound(&only(&least, &witness)) {
            true => Ok(()),
            false => Err("more is needed".to_owned()),
        };
    }
    let convicts = |keep: &BTreeSet<usize>| {
        let mut found = found(keep).filter(|other| same(other, anomaly));
        found.any(|other| deletion(&other) == deletion(anomaly))
    };
    let without = |event: &&usize| witness.iter().copied().filter(|other| other != *event).collect();
    match witness.iter().find(|event| convicts(&without(event))) {
        Some(event) if !ambiguous(record) && !longer_bound(anomaly) => Err(format!("event {event} is not needed")),
        _ => Ok(()),
    }
}

/// Draws histories of a family, and tries each anomaly; every one that the family's checkers can raise has to occur.
fn tried(family: &str, make: impl Fn(u64) -> Record) {
    assert_eq!(kinds(make), raised(family));
}

/// The anomalies that the family's checkers can raise.
fn raised(family: &str) -> Names {
    let family = families::family(family).expect("a family");
    let raised = family.checkers.iter().filter(|name| !SILENT.contains(name));
    raised.map(|name| (*name).to_owned()).collect()
}

/// Draws histories and tries each anomaly; gives the names of those that occurred.
fn kinds(make: impl Fn(u64) -> Record) -> Names {
    let mut seen = Names::new();
    // By kind the first that is wrong.
    let mut wrong = BTreeMap::new();
    for seed in 0..crate::histories(USUAL) {
        let record = make(seed);
        for anomaly in check(&record).anomalies {
            if let Err(what) = minimal(&record, &anomaly) {
                let told = format!(
                    "seed {seed}: {what}, {anomaly:#?}\n{}",
                    doubtful_evidence::lines(&record)
                );
                wrong.entry(anomaly.kind.clone()).or_insert(told);
            }
            seen.insert(anomaly.kind);
        }
    }
    let wrong: Vec<String> = wrong.into_values().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    seen
}

#[test]
fn locks() {
    tried("lock", |seed| {
        varied(&doubtful_evidence::grants::LOCK, simulated_locks::record, seed)
    });
}

#[test]
fn locks_that_are_shared_and_counted() {
    tried("rwlock", |seed| {
        varied(&doubtful_evidence::grants::RWLOCK, simulated_locks::rwlock, seed)
    });
    let mut raised = raised("lock");
    raised.insert("over-capacity".to_owned());
    let make = |seed| varied(&doubtful_evidence::grants::LOCK, simulated_locks::moded, seed);
    assert_eq!(kinds(make), raised);
}

#[test]
fn elections() {
    let plain = |seed| election::retold(&election::acknowledged(seed));
    tried("election", |seed| {
        varied(&doubtful_evidence::grants::ELECTION, plain, seed)
    });
}

#[test]
fn semaphores() {
    let plain = |seed| semaphore::retold(&semaphore::random(seed));
    let found = kinds(|seed| varied(&doubtful_evidence::grants::SEMAPHORE, plain, seed));
    // Only of leases that last for a time, whose witnesses `leases` tries.
    let mut raised = raised("semaphore");
    assert!(raised.remove("overdue-work"), "{raised:?}");
    assert_eq!(found, raised);
}

#[test]
fn commits() {
    tried("commit", |seed| {
        varied(
            &doubtful_evidence::commits::FAMILY,
            commit::simulated_commits::record,
            seed,
        )
    });
}

#[test]
fn registers() {
    tried("register", |seed| {
        varied(
            &doubtful_evidence::registers::FAMILY,
            register::simulated_registers::record,
            seed,
        )
    });
}

/// Other anomalies of consensus protocols are tried on steps, beside their judge.
#[test]
fn replicated_logs() {
    let raised = ["diverging-replicas", "two-leaders"].map(str::to_owned);
    assert_eq!(kinds(consensus::simulated_logs::record), Names::from(raised));
}

#[test]
fn counters() {
    tried("counter", |seed| {
        varied(
            &doubtful_evidence::counters::FAMILY,
            counter::simulated_counters::record,
            seed,
        )
    });
}

#[test]
fn groups() {
    tried("membership", |seed| {
        let mut record = varied(
            &doubtful_evidence::groups::FAMILY,
            membership::simulated_groups::record,
            seed,
        );
        let created = record.txnlog.iter_mut().flatten().filter(|txn| txn.op == "create");
        created.for_each(|txn| txn.ephemeral = Some(!seed.is_multiple_of(16)));
        record
    });
}

#[test]
fn queues() {
    tried("queue", |seed| match seed % 5 {
        0 => audited(seed, queue::simulated_queues::items(seed / 5)),
        1 => queue::simulated_queues::pending(seed / 5, false),
        2 => queue::stuck_items::random(seed / 5),
        _ => varied(&doubtful_evidence::items::FAMILY, queue::simulated_queues::items, seed),
    });
}

#[test]
fn barriers() {
    tried("barrier", |seed| match seed % 4 {
        0 => audited(seed, queue::simulated_barriers::rounds(seed / 3)),
        1 => stolen_znode::members::with_log(seed, queue::simulated_barriers::rounds(seed)),
        2 => varied(&doubtful_evidence::gates::FAMILY, queue::simulated_gates::rounds, seed),
        _ => varied(
            &doubtful_evidence::rounds::FAMILY,
            queue::simulated_barriers::rounds,
            seed,
        ),
    });
}
