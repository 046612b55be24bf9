//! Histories in a short notation: one event after the other, on lines of their own or after a `;`.
//!
//! `[seconds] who verb [name] [key=value …]`; without a time an event comes a millisecond after the one before it. A
//! client is process 1 for `c1`, and so on, and goes on under a new number after `exit` and after an unknown outcome.
//!
//! - Grants: `acquire`, `granted`, `write`, `wrote`, `refused`, …, each of a grant; `confirm`, `holds`, `holds-not`,
//!   `lost`.
//! - Transactions: `begin`, `vote`, `decide`, `asks` send; `begun`, `voted`, `answers`, `decided` answer.
//! - Both: `unknown F NAME [ERROR]` and `failed F NAME [ERROR]` end the operation that they name.
//! - Of all families: `invoke|ok|fail|info F` of a numbered process, `end F` for an unknown end without a value;
//!   `ask|answer F` for a control request; `note F` for a notice.
//! - Of groups: `group=m1@5/7:17,…` and `registered=m1@5`, of a notice or an answer `view`.
//! - `run PHASE`, `run stall ms=…`, `run unreachable [ENGINE…]`, `nemesis FAULT WINDOW PHASE`.

pub use crate::script_lines::history;
use serde_json::Value;
use zooquake_history::{
    Event, EventType, History, Node, Process, Record, TreeReadings, Txn,
    evidence::{Reading, Znode},
    plan::{Plan, Target, Trigger, Window},
};

/// The lines of a script in the order of their times; one without a time comes after the one before it.
pub fn in_time(text: &str) -> String {
    let mut now = 0.0;
    let lines = text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty());
    let timed = lines.map(|line| {
        let time = line.split(' ').next().and_then(|first| first.parse().ok());
        now = time.unwrap_or(now);
        (now, line)
    });
    let mut timed: Vec<(f64, &str)> = timed.collect();
    timed.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    timed.iter().map(|(_, line)| format!("{line}\n")).collect()
}

/// A record of a lock by two clients, without faults, with this history and an empty tree that was read twice.
pub fn lock(text: &str) -> Record {
    record("lock", "protected", &["/lock"], 2, history(text))
}

/// A run of a variant by three clients, without faults, with this history and an empty tree that was read twice.
/// Variants of no other family are queues.
pub fn run(variant: &str, text: &str) -> Record {
    let (family, contenders): (_, &[&str]) = match variant {
        "quorum-read" | "sync-read" | "read" => ("register", &[]),
        "atomic" => ("commit", &[]),
        "tutorial" | "double" | "gate" => ("barrier", &["/taken", "/barrier"]),
        "versioned" => ("counter", &["/taken", "/barrier"]),
        _ => ("queue", &["/taken", "/barrier"]),
    };
    record(family, variant, contenders, 3, history(text))
}

/// A run on three servers, with an empty tree that was read twice.
pub fn record(family: &str, variant: &str, contenders: &[&str], clients: usize, history: History) -> Record {
    let mut plan = Plan::default();
    (plan.workload.family, plan.workload.variant) = (family.to_owned(), variant.to_owned());
    plan.workload.contenders = contenders.iter().map(|path| (*path).to_owned()).collect();
    (plan.cluster.servers, plan.cluster.clients) = (3, clients);
    let tree = Some(audited(&history, vec![], vec![]));
    Record {
        plan,
        history,
        tree,
        ..Record::default()
    }
}

/// An event of a named process, or of a numbered one. A client's name is that of its node.
pub fn event(index: usize, time: u64, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) -> Event {
    Event {
        index,
        time,
        process: number.map_or_else(|| Process::Name(who.into()), Process::Number),
        kind,
        f: f.into(),
        value: value.into(),
        error: None,
        node: Node::from(who).is_client().then(|| who.into()),
    }
}

/// Gives events the indexes of their places.
pub fn number(events: &mut [Event]) {
    (0..).zip(events).for_each(|(index, event)| event.index = index);
}

/// A tree read before the last `quiesce` was sent and again at the end of the history.
pub fn audited(history: &History, before: Vec<Znode>, after: Vec<Znode>) -> TreeReadings {
    let mut events = history.events.iter();
    let audit = events.position(|event| event.f == "phase" && event.value == "audit");
    let (first, last) = (audit.map_or(0, |at| at + 1), history.events.len());
    readings([(first, before), (last, after)])
}

/// Readings of the tree, each at one place among the events.
pub fn readings(all: impl IntoIterator<Item = (usize, Vec<Znode>)>) -> TreeReadings {
    let reading = |(index, znodes): (usize, Vec<Znode>)| Reading {
        index,
        end_index: index,
        znodes,
    };
    TreeReadings {
        readings: all.into_iter().map(reading).collect(),
    }
}

/// The record with these znodes in both readings of the tree.
pub fn standing(record: Record, znodes: Vec<Znode>) -> Record {
    changed(record, |record| {
        record.tree = Some(audited(&record.history, znodes.clone(), znodes));
    })
}

/// A znode with these data, and without an owner.
pub fn holding(path: &str, data: &str) -> Znode {
    Znode {
        path: path.to_owned(),
        data: data.to_owned(),
        ..Znode::default()
    }
}

/// An ephemeral znode.
pub fn znode(path: &str, czxid: i64, owner: &str) -> Znode {
    Znode {
        czxid,
        mzxid: czxid,
        owner: Some(owner.to_owned()),
        ..holding(path, "")
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

/// The record of a run that reached its end, with these transactions in its logs.
pub fn logged(mut record: Record, txns: Vec<Txn>) -> Record {
    let events = &mut record.history.events;
    let time = events.last().map_or(0, |event| event.time);
    let done = serde_json::json!("done");
    events.push(event(events.len(), time, "run", None, EventType::Info, "phase", done));
    record.txnlog = Some(txns);
    record
}

/// A run of one's own recipe of a family.
pub fn own(family: &str, text: &str) -> Record {
    changed(run("own", text), |record| {
        record.plan.workload.family = family.to_owned()
    })
}

/// The record of a plan with one window, of this fault.
pub fn threatened(mut record: Record, id: usize, fault: &str) -> Record {
    record.plan.faults = vec![fault.to_owned()];
    record.plan.windows = vec![window(id, fault)];
    record
}

/// The value after a change.
pub fn changed<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

/// The record of another family, in which operations have other names: of each pair the second instead of the first.
pub fn retold(record: &Record, family: &str, names: &[(&str, &str)]) -> Record {
    let mut record = record.clone();
    record.plan.workload.family = family.to_owned();
    for event in &mut record.history.events {
        if let Some((_, name)) = names.iter().find(|(name, _)| event.f == *name) {
            event.f = (*name).into();
        }
    }
    record
}

/// A window of a fault, as planned.
pub fn window(id: usize, fault: &str) -> Window {
    Window {
        id,
        fault: fault.to_owned(),
        target: Target::Client,
        payload: None,
        trigger: Trigger::At { at_ms: 0 },
        duration_ms: 1000,
        beside: false,
    }
}
