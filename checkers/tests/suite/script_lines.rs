//! Turns the lines of a script into events; see [`crate::script`].

use crate::script::event;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use zooquake_history::{
    Event,
    EventType::{self, Fail, Info, Invoke, Ok},
    History,
};

/// The history of a script.
pub fn history(text: &str) -> History {
    let mut teller = ScriptParser::default();
    text.split(['\n', ';']).for_each(|line| teller.line(line));
    History { events: teller.events }
}

/// What each verb is in a history: an operation, and how far it is.
const VERBS: [(&str, &str, EventType); 22] = [
    ("acquire", "acquire", Invoke),
    ("granted", "acquire", Ok),
    ("elect", "elect", Invoke),
    ("elected", "elect", Ok),
    ("read", "read", Invoke),
    ("has-read", "read", Ok),
    ("write", "write", Invoke),
    ("wrote", "write", Ok),
    ("refused", "write", Fail),
    ("not-held", "write", Fail),
    ("work", "work", Invoke),
    ("worked", "work", Ok),
    ("release", "release", Invoke),
    ("released", "release", Ok),
    ("resign", "resign", Invoke),
    ("resigned", "resign", Ok),
    ("begin", "begin", Invoke),
    ("begun", "begin", Ok),
    ("vote", "vote", Invoke),
    ("voted", "vote", Ok),
    ("decide", "decide", Invoke),
    ("answers", "decide", Ok),
];

#[derive(Default)]
struct ScriptParser {
    events: Vec<Event>,
    now: u64,
    /// How often each client has gone on under a new number.
    renewed: BTreeMap<String, u64>,
}

impl ScriptParser {
    fn line(&mut self, line: &str) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { return };
        self.now += 1_000_000;
        if let Result::Ok(seconds) = first.parse::<f64>() {
            self.now = (seconds * 1e9) as u64;
            words.remove(0);
        }
        let (pairs, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.contains('='));
        let pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
        let fields: Map<String, Value> = pairs.map(field).collect();
        match words[..] {
            [] => {}
            ["run", "stall"] => self.push("run", Info, "stall", fields.into(), None),
            ["run", "unreachable", ref engines @ ..] => {
                self.push("run", Info, "unreachable", json!({ "engines": engines }), None);
            }
            ["run", phase, ..] => self.push("run", Info, "phase", json!(phase), words.get(2).copied()),
            ["nemesis", fault, window, phase] if fault != "note" => {
                let value = json!({ "window": window.parse::<i64>().expect("a window"), "phase": phase });
                self.push("nemesis", Info, fault, merged(value, fields), None);
            }
            [client, verb, ref rest @ ..] => self.client(client, verb, rest, fields),
            _ => panic!("{line:?} says nothing"),
        }
    }

    fn client(&mut self, client: &str, verb: &str, words: &[&str], fields: Map<String, Value>) {
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        match verb {
            "invoke" => self.numbered(client, Invoke, word(0), fields.into(), None),
            "ok" => self.numbered(client, Ok, word(0), fields.into(), None),
            "fail" => self.numbered(client, Fail, word(0), fields.into(), None),
            "info" => self.numbered(client, Info, word(0), fields.into(), None),
            "end" => self.numbered(client, Info, word(0), Value::Null, None),
            "ask" => self.push(client, Invoke, word(0), fields.into(), None),
            "answer" => self.push(client, Ok, word(0), fields.into(), None),
            "note" => self.push(client, Info, word(0), fields.into(), None),
            "unknown" | "failed" => {
                let commits = matches!(word(0), "begin" | "vote" | "decide" | "decided");
                let (kind, value, error) = match (verb, commits) {
                    ("unknown", true) => (Info, json!({ "tx": word(1) }), "timed out"),
                    ("unknown", false) => (Info, json!({ "grant": word(1) }), "connection loss"),
                    (_, true) => (Fail, Value::Null, "timed out before it voted"),
                    (_, false) => (Fail, json!({ "grant": word(1) }), "no node"),
                };
                let error = words.get(2).copied().unwrap_or(error);
                self.numbered(client, kind, word(0), value, Some(error));
                self.renew(client, kind == Info);
            }
            "asks" => self.numbered(client, Invoke, "decided", json!({ "tx": word(0) }), None),
            "decided" => self.numbered(client, Ok, verb, json!({ "tx": word(0), "decision": word(1) }), None),
            _ => match VERBS.iter().find(|(name, ..)| *name == verb) {
                Some(&(_, f, kind)) => self.operation(client, verb, (f, kind), words, fields),
                None => self.control(client, verb, word(0), fields),
            },
        }
    }

    fn operation(
        &mut self,
        client: &str,
        verb: &str,
        (f, kind): (&str, EventType),
        words: &[&str],
        fields: Map<String, Value>,
    ) {
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let (value, error) = match verb {
            "begin" => (json!({ "tx": word(0), "sites": [] }), None),
            "begun" | "decide" => (json!({ "tx": word(0) }), None),
            "vote" => (json!({ "tx": word(0), "vote": word(1) }), None),
            "voted" => (json!({ "tx": word(0), "voted": word(1) }), None),
            "answers" => (json!({ "tx": word(0), "decision": word(1) }), None),
            "wrote" => (json!({ "grant": word(0), "accepted": true }), None),
            "refused" => (json!({ "grant": word(0), "accepted": false }), Some("refused: old")),
            "not-held" => (json!({ "grant": word(0) }), Some(verb)),
            _ => (json!({ "grant": word(0) }), None),
        };
        self.numbered(client, kind, f, merged(value, fields), error);
    }

    fn control(&mut self, client: &str, verb: &str, grant: &str, fields: Map<String, Value>) {
        let (f, kind, value) = match verb {
            "confirm" | "quiesce" => (verb, Invoke, json!({})),
            "holds" => ("confirm", Ok, json!({ "holds": true, "grant": grant, "zxid": 1 })),
            "holds-not" => ("confirm", Ok, json!({ "holds": false })),
            "unconfirmed" => ("confirm", Info, json!({})),
            "quiesced" => ("quiesce", Ok, json!({ "sessions": [], "znodes": [] })),
            "lost" => ("lost", Info, json!({ "grant": grant, "why": "session expired" })),
            "exit" | "hello" | "running" | "session" => (verb, Info, json!({})),
            other => panic!("unknown verb {other}"),
        };
        self.push(client, kind, f, merged(value, fields), None);
        self.renew(client, verb == "exit");
    }

    fn renew(&mut self, client: &str, ends: bool) {
        *self.renewed.entry(client.to_owned()).or_default() += u64::from(ends);
    }

    fn numbered(&mut self, client: &str, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        let own: u64 = client[1..].parse().expect("a client's number");
        let number = own + 100 * self.renewed.get(client).copied().unwrap_or(0);
        self.event(client, Some(number), kind, f, value, error);
    }

    fn push(&mut self, named: &str, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        self.event(named, None, kind, f, value, error);
    }

    fn event(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        let error = error.map(str::to_owned);
        let event = event(self.events.len(), self.now, who, number, kind, f, value);
        self.events.push(Event { error, ..event });
    }
}

fn field((key, text): (&str, &str)) -> (String, Value) {
    let czxid = || text.parse::<i64>().expect("a number");
    let all = || text.split(',').filter(|one| !one.is_empty());
    let znode = |(path, czxid): (&str, &str)| json!({ "path": path, "czxid": czxid.parse::<i64>().expect("a number") });
    let value = match key {
        _ if text == "null" => Value::Null,
        "ack" if text == "none" => Value::Null,
        "ack" => json!({ "path": "/election-ack/x", "czxid": czxid() }),
        "removed" => json!({ "path": "/removed/x", "czxid": czxid() }),
        "sessions" | "cannot" | "sites" => all().collect(),
        "group" => all().map(group_member).collect(),
        "registered" => group_member(text),
        "znodes" => all().filter_map(|one| one.split_once('@')).map(znode).collect(),
        _ => serde_json::from_str::<i64>(text)
            .map(Value::from)
            .unwrap_or_else(|_| text.parse::<bool>().map_or(json!(text), Value::from)),
    };
    let key = if key == "group" { "members" } else { key };
    (key.to_owned(), value)
}

/// `m1@5/7:17`: the member `m1`, whose znode was created by transaction 5 and written by 7, with the value 17. What is
/// left out is null.
fn group_member(text: &str) -> Value {
    let (text, value) = text.split_once(':').unwrap_or((text, ""));
    let (text, mzxid) = text.split_once('/').unwrap_or((text, ""));
    let (member, czxid) = text.split_once('@').unwrap_or((text, ""));
    let number = |text: &str| text.parse::<i64>().ok();
    let path = format!("/members/{member}");
    json!({
        "member": member, "path": path, "czxid": number(czxid), "mzxid": number(mzxid), "value": number(value)
    })
}

fn merged(mut value: Value, fields: Map<String, Value>) -> Value {
    value.as_object_mut().expect("an object").extend(fields);
    value
}
