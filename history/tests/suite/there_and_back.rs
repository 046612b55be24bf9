//! Histories written in another notation and read again.

use fastrand::Rng;
use serde_json::{Map, Value, json};
use zooquake_history::edn::{Edn, from_json, parse, parse_edn, to_edn, to_json};
use zooquake_history::textlog::{parse_log, to_log};
use zooquake_history::{Event, EventType, History, Process};

const TIMES: usize = 20_000;

/// Strings that might be taken for something else, and some that might not.
const WORDS: [&str; 24] = [
    "",
    "a",
    "value",
    "two words",
    ":a",
    "::a",
    ":",
    "\"a\"",
    "\":a\"",
    "\"\\\":a\\\"\"",
    "nil",
    "true",
    "17",
    "-1.5",
    "7N",
    "[1 2]",
    "(1 2)",
    "#{1}",
    "#t 1",
    "\\a",
    "line\nbreak",
    "tab\t\u{7}",
    "ü/–",
    "'quoted'",
];

fn word(rng: &mut Rng) -> String {
    WORDS[rng.usize(0..WORDS.len())].to_owned()
}

fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(0..if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => rng.bool().into(),
        2 => rng.i64(-5..5).into(),
        3 => [json!(rng.u64(..)), json!(i64::MIN), json!(rng.f64()), json!(1e300)][rng.usize(0..4)].clone(),
        4 | 5 => word(rng).into(),
        6 => (0..rng.usize(0..4)).map(|_| value(rng, depth - 1)).collect(),
        _ => {
            let entries = (0..rng.usize(0..4)).map(|_| (word(rng), value(rng, depth - 1)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// A history of ours that holds anything.
fn ours(rng: &mut Rng) -> History {
    let kinds = [EventType::Invoke, EventType::Ok, EventType::Fail, EventType::Info];
    let events = (0..TIMES).map(|index| Event {
        index,
        time: 1_000 * index as u64,
        process: match rng.bool() {
            true => Process::Number(rng.u64(..)),
            false => Process::Name(word(rng).into()),
        },
        kind: kinds[rng.usize(0..4)],
        f: word(rng).into(),
        value: value(rng, 3).into(),
        error: rng.bool().then(|| word(rng)),
        node: rng.bool().then(|| word(rng).into()),
    });
    History {
        events: events.collect(),
    }
}

#[test]
fn text_logs_keep_all_but_times_and_nodes() {
    let history = ours(&mut Rng::with_seed(6));
    let text = to_log(&history);
    let (again, damage) = parse_log(text.as_bytes());
    assert_eq!(damage, None);
    assert_eq!(again.events.len(), TIMES);
    for ((before, after), line) in history.events.iter().zip(&again.events).zip(text.lines()) {
        let told = Event {
            time: before.index as u64,
            node: None,
            ..before.clone()
        };
        assert_eq!(told, *after, "{line}");
    }
}

#[test]
fn ours_come_back_from_edn_as_they_were() {
    let history = ours(&mut Rng::with_seed(4));
    let (again, damage) = parse_edn(to_edn(&history).as_bytes());
    assert_eq!(damage, None);
    for (before, after) in history.events.iter().zip(&again.events) {
        assert_eq!(
            before,
            after,
            "{}",
            to_edn(&History {
                events: vec![before.clone()]
            })
        );
    }
    assert_eq!(again.events.len(), TIMES);
    let found = parse_edn(to_edn(&History::default()).as_bytes());
    assert_eq!(found, (History::default(), None));
}

fn edn(rng: &mut Rng, depth: usize) -> Edn {
    let many = |rng: &mut Rng| (0..rng.usize(0..4)).map(|_| edn(rng, depth - 1)).collect::<Vec<_>>();
    match rng.u8(0..if depth == 0 { 8 } else { 13 }) {
        0 => Edn::Nil,
        1 => Edn::Bool(rng.bool()),
        2 => Edn::Int(rng.i64(..)),
        3 => Edn::Float(rng.f64()),
        4 => Edn::Number(["7N", "1.5M", "1/3", "##NaN", "18446744073709551615"][rng.usize(0..5)].into()),
        5 => Edn::Char(["a", "newline", "("][rng.usize(0..3)].into()),
        6 => Edn::Str(word(rng)),
        7 => Edn::Keyword(["a", "a/b", "1", "timed-out", "nil"][rng.usize(0..5)].into()),
        8 => Edn::List(many(rng)),
        9 => Edn::Vector(many(rng)),
        10 => Edn::Set(many(rng)),
        11 => Edn::Tagged("tag/x".into(), Box::new(edn(rng, depth - 1))),
        _ => {
            let mut entries: Vec<(Edn, Edn)> = Vec::new();
            for _ in 0..rng.usize(0..4) {
                entries.push((edn(rng, depth - 1), edn(rng, depth - 1)));
            }
            entries.sort_by_key(|(key, _)| key.to_string());
            entries.dedup_by_key(|(key, _)| key.to_string());
            Edn::Map(entries)
        }
    }
}

#[test]
fn values_come_back_from_text_and_from_json() {
    let mut rng = Rng::with_seed(5);
    for _ in 0..TIMES {
        let value = edn(&mut rng, 3);
        assert_eq!(parse(&value.to_string()).as_ref(), Ok(&value));
        // JSON keeps no order of keys.
        let again = from_json(&to_json(&value));
        let found = sorted(again).to_string();
        assert_eq!(found, sorted(value.clone()).to_string(), "{}", to_json(&value));
    }
}

/// The value with the entries of its maps in the order of their text, apart from what JSON holds as text.
fn sorted(value: Edn) -> Edn {
    match value {
        Edn::Vector(values) => Edn::Vector(values.into_iter().map(sorted).collect()),
        Edn::Map(entries) => {
            let mut entries: Vec<_> = entries.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by_key(|(key, _)| key.to_string());
            Edn::Map(entries)
        }
        other => other,
    }
}
