//! Histories as people tell them: one event a line, `[seconds] who verb [grant] [key=value …]`.
//!
//! Without a time an event comes a millisecond after the one before it. A client is process 1 for `c1`, and so on, and
//! goes on under a new number after `exit` and after an unknown outcome.

use crate::teller;
use zooquake_checkers::evidence::{Reading, Znode};
use zooquake_checkers::history::History;
use zooquake_checkers::plan::{Cluster, Plan, Target, Trigger, Window, Workload};
use zooquake_checkers::{Anomaly, Record, Results, Tree, Txn, check};

/// A record of a lock by two clients, without faults, with this history and an empty tree that was read twice.
pub fn record(text: &str) -> Record {
    let mut plan = Plan {
        format: 1,
        ..Plan::default()
    };
    plan.workload = Workload {
        family: "lock".to_owned(),
        variant: "protected".to_owned(),
        contenders: vec!["/lock".to_owned()],
        ..Workload::default()
    };
    plan.cluster = Cluster {
        servers: 3,
        clients: 2,
        ..Cluster::default()
    };
    let mut record = Record {
        plan,
        history: history(text),
        ..Record::default()
    };
    record.tree = Some(audited(&record.history, vec![], vec![]));
    record
}

/// The history of a script.
pub fn history(text: &str) -> History {
    teller::history(text)
}

/// A tree read before the last `quiesce` was sent and again at the end of the history.
pub fn audited(history: &History, before: Vec<Znode>, after: Vec<Znode>) -> Tree {
    let audit = history
        .events
        .iter()
        .position(|event| event.f == "phase" && event.value == "audit");
    let (first, last) = (audit.map_or(0, |at| at + 1), history.events.len());
    let reading = |index, znodes| Reading {
        index,
        end_index: index,
        znodes,
    };
    Tree {
        readings: vec![reading(first, before), reading(last, after)],
    }
}

/// An ephemeral znode.
pub fn znode(path: &str, czxid: i64, owner: &str) -> Znode {
    Znode {
        path: path.to_owned(),
        czxid,
        mzxid: czxid,
        owner: Some(owner.to_owned()),
        ..Znode::default()
    }
}

/// A transaction on one path.
pub fn txn(zxid: i64, session: &str, op: &str, path: &str) -> Txn {
    Txn {
        zxid,
        session: session.to_owned(),
        op: op.to_owned(),
        paths: vec![path.to_owned()],
        ..Txn::default()
    }
}

/// A window of a fault, as planned.
pub fn window(id: usize, fault: &str) -> Window {
    let (target, trigger) = (Target::Client, Trigger::At { at_ms: 0 });
    Window {
        id,
        fault: fault.to_owned(),
        target,
        payload: None,
        trigger,
        duration_ms: 1000,
    }
}

/// The names of the anomalies, in the order of the report.
pub fn kinds(results: &Results) -> Vec<&str> {
    results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect()
}

/// The only anomaly of a history, which is of this kind.
#[track_caller]
pub fn only(text: &str, kind: &str) -> Anomaly {
    let results = check(&record(text));
    assert_eq!(kinds(&results), [kind], "{results:#?}");
    results.anomalies.into_iter().next().expect("there is one")
}

/// Wants no anomaly at all.
#[track_caller]
pub fn silent(text: &str) {
    let results = check(&record(text));
    assert_eq!(kinds(&results), [""; 0], "{results:#?}");
}
