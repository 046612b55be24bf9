//! Histories of queues and barriers as people tell them, one event a line.
//!
//! `[seconds] c1 invoke|ok|fail|info|end F [key=value …]`: an operation of a numbered process, `end` for an unknown end
//! without a value. `c1 ask|answer F`: a control request. `c1 note F …`: a notice. `run PHASE`.

use crate::witness::only as only_events;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use zooquake_checkers::history::{Event, EventType, History, Process};
use zooquake_checkers::plan::{Cluster, Plan, Workload};
use zooquake_checkers::{Anomaly, Record, Results, check};

/// A run of a variant by three clients, with this history and an empty tree that was read twice.
pub fn record(variant: &str, text: &str) -> Record {
    let family = match variant {
        "tutorial" | "double" => "barrier",
        _ => "queue",
    };
    let workload = Workload {
        family: family.to_owned(),
        variant: variant.to_owned(),
        contenders: vec!["/taken".to_owned(), "/barrier".to_owned()],
        ..Workload::default()
    };
    let cluster = Cluster {
        servers: 3,
        clients: 3,
        ..Cluster::default()
    };
    let plan = Plan {
        workload,
        cluster,
        ..Plan::default()
    };
    let history = history(text);
    let tree = Some(crate::script::audited(&history, vec![], vec![]));
    Record {
        plan,
        history,
        tree,
        ..Record::default()
    }
}

/// The events of a text.
pub fn history(text: &str) -> History {
    let mut history = History::default();
    let mut now = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        now += 1_000_000;
        if let Ok(seconds) = words[0].parse::<f64>() {
            now = (seconds * 1e9) as u64;
            words.remove(0);
        }
        if words.is_empty() {
            continue;
        }
        let index = history.events.len();
        history.events.push(event(index, now, &words));
    }
    history
}

fn event(index: usize, time: u64, words: &[&str]) -> Event {
    let (who, verb) = (words[0], words[1]);
    let f = words.get(2).copied().unwrap_or_default();
    let fields: Map<String, Value> = words
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(field)
        .collect();
    let kind = match verb {
        "invoke" | "ask" => EventType::Invoke,
        "ok" | "answer" => EventType::Ok,
        "fail" => EventType::Fail,
        _ => EventType::Info,
    };
    let (process, f, value) = match (who, verb) {
        ("run", phase) => (Process::Name("run".into()), "phase", json!(phase)),
        (_, "ask" | "answer" | "note") => (Process::Name(who.into()), f, Value::Object(fields)),
        (_, "end") => (Process::Number(number(who)), f, Value::Null),
        _ => (Process::Number(number(who)), f, Value::Object(fields)),
    };
    Event {
        index,
        time,
        process,
        kind,
        f: f.into(),
        value: value.into(),
        error: None,
        node: (who != "run").then(|| who.into()),
    }
}

fn number(client: &str) -> u64 {
    client[1..].parse().expect("a client's number")
}

fn field((key, text): (&str, &str)) -> (String, Value) {
    let value = match (key, text) {
        (_, "null") => Value::Null,
        ("removed", czxid) => json!({"path": "/barrier/1/x", "czxid": czxid.parse::<i64>().expect("a number")}),
        (_, "true") => json!(true),
        ("sessions" | "cannot", all) => json!(all.split(',').collect::<Vec<_>>()),
        (_, text) => text.parse::<i64>().map_or_else(|_| json!(text), Value::from),
    };
    (key.to_owned(), value)
}

/// The names of the anomalies.
pub fn kinds(results: &Results) -> Vec<&str> {
    results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect()
}

/// The only anomaly of a history, which is of this kind.
#[track_caller]
pub fn only(variant: &str, text: &str, kind: &str) -> Anomaly {
    let record = record(variant, text);
    let anomaly = only_of(&record, kind);
    minimal(&record, &anomaly);
    anomaly
}

/// The only anomaly of a record, which is of this kind.
#[track_caller]
pub fn only_of(record: &Record, kind: &str) -> Anomaly {
    let results = check(record);
    assert_eq!(kinds(&results), [kind], "{results:#?}");
    results.anomalies.into_iter().next().expect("there is one")
}

/// Wants no anomaly.
#[track_caller]
pub fn silent(variant: &str, text: &str) -> Results {
    silent_of(&record(variant, text))
}

/// Wants no anomaly of a record.
#[track_caller]
pub fn silent_of(record: &Record) -> Results {
    let results = check(record);
    assert_eq!(kinds(&results), [""; 0], "{results:#?}");
    results
}

/// The witness convicts by itself, and without any event of it nothing does.
#[track_caller]
pub fn minimal(record: &Record, anomaly: &Anomaly) {
    minimal_as(record, anomaly, |other| other.kind == anomaly.kind);
}

/// The witness alone gives an anomaly that is the `same`, and without any event of it nothing does.
#[track_caller]
pub fn minimal_as(record: &Record, anomaly: &Anomaly, same: impl Fn(&Anomaly) -> bool) {
    let convicts = |keep: &BTreeSet<usize>| check(&only_events(record, keep)).anomalies.iter().any(&same);
    let witness: BTreeSet<usize> = anomaly.witness.iter().copied().collect();
    assert!(convicts(&witness), "needs more: {anomaly:#?}");
    for event in &witness {
        let mut less = witness.clone();
        less.remove(event);
        assert!(!convicts(&less), "does not need {event}: {anomaly:#?}");
    }
}

/// The names of the anomalies of a history.
pub fn kinds_of(variant: &str, text: &str) -> Vec<String> {
    let anomalies = check(&record(variant, text)).anomalies;
    anomalies.into_iter().map(|anomaly| anomaly.kind).collect()
}
