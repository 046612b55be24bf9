//! Turns the lines of a script into events; see [`crate::script`].

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use zooquake_checkers::history::{Event, EventType, History, Process};

/// The history of a script.
pub fn history(text: &str) -> History {
    let mut teller = Teller::default();
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .for_each(|line| teller.line(line));
    History { events: teller.events }
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
            "run" if verb == "stall" => {
                let named = Process::Name("run".into());
                self.push(named, EventType::Info, "stall", Value::Object(fields), None, None);
            }
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
            "acquire" | "elect" | "read" | "write" | "work" | "release" | "resign" => (verb, Invoke, name(), None),
            "granted" => ("acquire", Ok, name(), None),
            "elected" => ("elect", Ok, name(), None),
            "wrote" => (
                "write",
                Ok,
                merged(name(), Map::from_iter([("accepted".to_owned(), json!(true))])),
                None,
            ),
            "worked" => ("work", Ok, name(), None),
            "refused" => (
                "write",
                Fail,
                merged(name(), refusal.as_object().expect("an object").clone()),
                Some("refused: old"),
            ),
            "not-held" => ("write", Fail, name(), Some("not-held")),
            "has-read" => ("read", Ok, name(), None),
            "released" => ("release", Ok, name(), None),
            "resigned" => ("resign", Ok, name(), None),
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
            "exit" | "hello" | "running" | "session" => (verb, Info, Value::Object(fields)),
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
            f: f.into(),
            value: value.into(),
            error,
            node: node.map(Into::into),
        });
    }
}

fn field((key, value): (&str, &str)) -> (String, Value) {
    let value = match key {
        "ack" if value == "none" => Value::Null,
        "ack" => json!({ "path": "/election-ack/x", "czxid": value.parse::<i64>().expect("a number") }),
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
