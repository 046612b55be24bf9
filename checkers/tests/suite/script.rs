//! Histories as people tell them: one event a line, `[seconds] who verb [grant] [key=value …]`.
//!
//! Without a time an event comes a millisecond after the one before it. A client is process 1 for `c1`, and so on, and
//! goes on under a new number after `exit` and after an unknown outcome.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use zooquake_checkers::evidence::{Reading, Znode};
use zooquake_checkers::history::{Event, EventType, History, Process};
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
    let mut teller = Teller::default();
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .for_each(|line| teller.line(line));
    History { events: teller.events }
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
    let (target, trigger) = (Target::Holder, Trigger::At { at_ms: 0 });
    Window {
        id,
        fault: fault.to_owned(),
        target,
        cut: None,
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

#[derive(Default)]
struct Teller {
    events: Vec<Event>,
    now: u64,
    /// How often each client has gone on under a new number.
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
        let (who, verb) = (words[0], words[1]);
        let (pairs, plain): (Vec<&str>, Vec<&str>) = words[2..].iter().partition(|word| word.contains('='));
        let fields: Map<String, Value> = pairs
            .iter()
            .filter_map(|pair| pair.split_once('='))
            .map(field)
            .collect();
        match who {
            "run" => {
                let error = plain.first().map(|&error| error.to_owned());
                self.push(
                    Process::Name("run".into()),
                    EventType::Info,
                    "phase",
                    json!(verb),
                    error,
                    None,
                );
            }
            "nemesis" => {
                let value = merged(
                    json!({ "window": plain[0].parse::<i64>().expect("a window"), "phase": plain[1] }),
                    fields,
                );
                self.push(
                    Process::Name("nemesis".into()),
                    EventType::Info,
                    verb,
                    value,
                    None,
                    None,
                );
            }
            client => self.client(client, verb, &plain, fields),
        }
    }

    fn client(&mut self, client: &str, verb: &str, plain: &[&str], fields: Map<String, Value>) {
        use EventType::{Fail, Info, Invoke, Ok};
        let name = || json!({ "grant": plain[0] });
        let refusal = json!({ "accepted": false });
        let (f, kind, value, error) = match verb {
            "acquire" | "write" | "release" => (verb, Invoke, name(), None),
            "granted" => ("acquire", Ok, name(), None),
            "wrote" => (
                "write",
                Ok,
                merged(name(), Map::from_iter([("accepted".to_owned(), json!(true))])),
                None,
            ),
            "refused" => (
                "write",
                Fail,
                merged(name(), refusal.as_object().expect("an object").clone()),
                Some("refused: old"),
            ),
            "not-held" => ("write", Fail, name(), Some("not-held")),
            "released" => ("release", Ok, name(), None),
            "unknown" => (
                plain[0],
                Info,
                json!({ "grant": plain[1] }),
                Some(*plain.get(2).unwrap_or(&"connection loss")),
            ),
            "failed" => (
                plain[0],
                Fail,
                json!({ "grant": plain[1] }),
                Some(*plain.get(2).unwrap_or(&"no node")),
            ),
            _ => return self.control(client, verb, plain, fields),
        };
        let process = Process::Number(self.number(client));
        self.push(
            process,
            kind,
            f,
            merged(value, fields),
            error.map(str::to_owned),
            Some(client.to_owned()),
        );
        if kind == Info {
            self.renew(client);
        }
    }

    fn control(&mut self, client: &str, verb: &str, plain: &[&str], fields: Map<String, Value>) {
        use EventType::{Info, Invoke, Ok};
        let (f, kind, value) = match verb {
            "confirm" | "quiesce" => (verb, Invoke, json!({})),
            "holds" => ("confirm", Ok, json!({ "holds": true, "grant": plain[0], "zxid": 1 })),
            "holds-not" => ("confirm", Ok, json!({ "holds": false })),
            "unconfirmed" => ("confirm", Info, json!({})),
            "quiesced" => ("quiesce", Ok, answer(&fields)),
            "lost" => ("lost", Info, json!({ "grant": plain[0], "why": "session expired" })),
            "exit" | "hello" | "session" => (verb, Info, Value::Object(fields)),
            other => panic!("unknown verb {other}"),
        };
        self.push(
            Process::Name(client.into()),
            kind,
            f,
            value,
            None,
            Some(client.to_owned()),
        );
        if verb == "exit" {
            self.renew(client);
        }
    }

    fn number(&self, client: &str) -> u64 {
        let own: u64 = client[1..].parse().expect("a client's number");
        own + 100 * self.renewed.get(client).copied().unwrap_or(0)
    }

    fn renew(&mut self, client: &str) {
        *self.renewed.entry(client.to_owned()).or_default() += 1;
    }

    fn push(
        &mut self,
        process: Process,
        kind: EventType,
        f: &str,
        value: Value,
        error: Option<String>,
        node: Option<String>,
    ) {
        let index = self.events.len();
        self.events.push(Event {
            index,
            time: self.now,
            process,
            kind,
            f: f.to_owned(),
            value,
            error,
            node,
        });
    }
}

fn field((key, value): (&str, &str)) -> (String, Value) {
    let value = match key {
        "removed" => json!({ "path": "/lock/x", "czxid": value.parse::<i64>().expect("a number") }),
        _ => value
            .parse::<i64>()
            .map(Value::from)
            .unwrap_or_else(|_| value.parse::<bool>().map_or(json!(value), Value::from)),
    };
    (key.to_owned(), value)
}

fn merged(mut value: Value, fields: Map<String, Value>) -> Value {
    value.as_object_mut().expect("an object").extend(fields);
    value
}

/// `sessions=0x1,0x2 znodes=/lock/a@5,/lock/b@6`
fn answer(fields: &Map<String, Value>) -> Value {
    let list = |key: &str| {
        fields
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .split(',')
            .filter(|one| !one.is_empty())
    };
    let znodes: Vec<Value> = list("znodes")
        .filter_map(|znode| znode.split_once('@'))
        .map(|(path, czxid)| json!({ "path": path, "czxid": czxid.parse::<i64>().expect("a number") }))
        .collect();
    json!({ "sessions": list("sessions").collect::<Vec<_>>(), "znodes": znodes })
}
