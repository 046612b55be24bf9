//! Histories of two-phase commits as people tell them: one event a line, `[seconds] who verb tx [word] [key=value …]`.
//!
//! Without a time an event comes a millisecond after the one before it. `begin`, `vote`, `decide`, `asks` send; `begun`,
//! `voted`, `answers`, `decided` answer; `unknown` and `failed` end the operation they name.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use zooquake_checkers::evidence::{Reading, Znode};
use zooquake_checkers::history::{Event, EventType, History, Process};
use zooquake_checkers::plan::{Cluster, Plan, Workload};
use zooquake_checkers::{Anomaly, Record, Results, Tree, check};

/// A record of a commit by three clients, without faults, and with a tree that was read twice and had nothing in it.
pub fn record(text: &str) -> Record {
    let mut plan = Plan {
        format: 1,
        ..Plan::default()
    };
    plan.workload = Workload {
        family: "commit".to_owned(),
        variant: "atomic".to_owned(),
        ..Workload::default()
    };
    plan.cluster = Cluster {
        servers: 3,
        clients: 3,
        ..Cluster::default()
    };
    let history = history(text);
    let end = history.events.len();
    let reading = Reading {
        index: end,
        end_index: end,
        znodes: vec![],
    };
    Record {
        plan,
        history,
        tree: Some(Tree {
            readings: vec![reading.clone(), reading],
        }),
        ..Record::default()
    }
}

/// The same with a znode in each reading of the tree.
pub fn with_tree(text: &str, znodes: &[Znode; 2]) -> Record {
    let mut record = record(text);
    for (reading, znode) in record.tree.iter_mut().flat_map(|tree| &mut tree.readings).zip(znodes) {
        reading.znodes = vec![znode.clone()];
    }
    record
}

/// A decision znode.
pub fn decision(tx: &str, data: &str) -> Znode {
    Znode {
        path: format!("/app/{tx}/decision"),
        data: data.to_owned(),
        ..Znode::default()
    }
}

/// The znode of a transaction.
pub fn znode(tx: &str) -> Znode {
    Znode {
        path: format!("/app/{tx}"),
        ..Znode::default()
    }
}

/// The names of the anomalies, in the order of the report.
pub fn kinds(results: &Results) -> Vec<&str> {
    results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect()
}

/// The only anomaly of a record, which is of this kind.
#[track_caller]
pub fn one(record: &Record, kind: &str) -> Anomaly {
    let results = check(record);
    assert_eq!(kinds(&results), [kind], "{results:#?}");
    results.anomalies.into_iter().next().expect("there is one")
}

/// Wants no anomaly at all.
#[track_caller]
pub fn none(record: &Record) {
    let results = check(record);
    assert_eq!(kinds(&results), [""; 0], "{results:#?}");
}

/// The only anomaly of a history.
#[track_caller]
pub fn only(text: &str, kind: &str) -> Anomaly {
    one(&record(text), kind)
}

/// Wants no anomaly of a history.
#[track_caller]
pub fn silent(text: &str) {
    none(&record(text));
}

fn history(text: &str) -> History {
    let mut teller = Teller::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        teller.line(line);
    }
    History { events: teller.events }
}

#[derive(Default)]
struct Teller {
    events: Vec<Event>,
    now: u64,
    renewed: BTreeMap<String, u64>,
}

impl Teller {
    fn line(&mut self, line: &str) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        match words[0].parse::<f64>() {
            Ok(seconds) => {
                self.now = (seconds * 1e9) as u64;
                words.remove(0);
            }
            Err(_) => self.now += 1_000_000,
        }
        let (pairs, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.contains('='));
        let fields: BTreeMap<&str, &str> = pairs.iter().filter_map(|pair| pair.split_once('=')).collect();
        match words[0] {
            "run" if words[1] == "stall" => {
                let ms: u64 = fields["ms"].parse().expect("milliseconds");
                self.push("run", EventType::Info, "stall", json!({ "ms": ms }), None);
            }
            "run" => self.push("run", EventType::Info, "phase", json!(words[1]), None),
            "nemesis" => {
                let mut value = json!({"window": words[2].parse::<i64>().expect("a window"), "phase": words[3]});
                if fields.contains_key("target") {
                    value["target"] = json!(fields["target"]);
                    value["verified"] = json!(true);
                }
                if let Some(verified) = fields.get("verified") {
                    value["verified"] = json!(*verified == "true");
                }
                self.push("nemesis", EventType::Info, words[1], value, None);
            }
            client => self.client(client, &words[1..], &fields),
        }
    }

    fn client(&mut self, client: &str, words: &[&str], fields: &BTreeMap<&str, &str>) {
        use EventType::{Fail, Info, Invoke, Ok};
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let tx = || json!({ "tx": word(1) });
        let with = |name: &str| json!({ "tx": word(1), name: word(2) });
        let sites: Vec<&str> = fields.get("sites").map_or(vec![], |sites| sites.split(',').collect());
        let (kind, f, value, error) = match word(0) {
            "begin" => (Invoke, "begin", json!({ "tx": word(1), "sites": sites }), None),
            "begun" => (Ok, "begin", tx(), None),
            "decide" => (Invoke, "decide", tx(), None),
            "answers" => (Ok, "decide", with("decision"), None),
            "vote" => (Invoke, "vote", with("vote"), None),
            "voted" => (Ok, "vote", with("voted"), None),
            "asks" => (Invoke, "decided", tx(), None),
            "decided" => (Ok, "decided", with("decision"), None),
            "unknown" => (Info, word(1), json!({ "tx": word(2) }), Some("timed out")),
            "failed" => (Fail, word(1), Value::Null, Some("timed out before it voted")),
            "session" => return self.push(client, Info, "session", json!({ "state": fields["state"] }), None),
            "exit" | "hello" => {
                self.push(client, Info, word(0), json!({}), None);
                return self.renew(client);
            }
            other => panic!("unknown verb {other}"),
        };
        self.push_numbered(client, kind, f, value, error);
        if kind == Info {
            self.renew(client);
        }
    }

    fn renew(&mut self, client: &str) {
        *self.renewed.entry(client.to_owned()).or_default() += 1;
    }

    fn push_numbered(&mut self, client: &str, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        let own: u64 = client[1..].parse().expect("a client's number");
        let number = own + 100 * self.renewed.get(client).copied().unwrap_or(0);
        self.push(client, kind, f, value, error);
        self.events.last_mut().expect("one").process = Process::Number(number);
    }

    fn push(&mut self, named: &str, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        self.events.push(Event {
            index: self.events.len(),
            time: self.now,
            process: Process::Name(named.into()),
            kind,
            f: f.into(),
            value: value.into(),
            error: error.map(str::to_owned),
            node: named.starts_with('c').then(|| named.into()),
        });
    }
}
