//! Texts under keys: the model against texts as they are, and histories as porcupine writes them.

use super::decided::Counts;
use super::{agree, brute, search, with_budget};
use crate::expect::{says_first, tells};
use fastrand::Rng;
use zooquake_checkers::edn::{parse_edn, to_keyed};
use zooquake_checkers::history::parse_jsonl;
use zooquake_checkers::search::models::kv::Kv;
use zooquake_checkers::search::{Kind, Model, Notation, Op, Outcome, judge, shrink};
use zooquake_checkers::{History, Results, Verdict};

/// The text itself as the state.
struct Plain;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Did {
    Got(String),
    Put(String),
    Appended(String),
}

impl Model for Plain {
    type State = String;
    type Input = Did;

    fn initial(&self) -> String {
        String::new()
    }

    fn step(&self, state: &String, input: &Did) -> Option<String> {
        match input {
            Did::Got(text) => (text == state).then(|| state.clone()),
            Did::Put(text) => Some(text.clone()),
            Did::Appended(text) => Some(format!("{state}{text}")),
        }
    }

    fn is_read(&self, input: &Did) -> bool {
        matches!(input, Did::Got(_))
    }

    fn after(&self, input: &Did) -> Option<String> {
        match input {
            Did::Got(text) | Did::Put(text) => Some(text.clone()),
            Did::Appended(_) => None,
        }
    }
}

/// Texts of two letters, so that different operations make the same one.
fn drawn(rng: &mut Rng) -> Did {
    let text = |rng: &mut Rng, most| {
        (0..rng.usize(0..=most))
            .map(|_| *rng.choice(&['a', 'é']).unwrap_or(&'a'))
            .collect()
    };
    match rng.u8(0..6) {
        0..2 => Did::Got(text(rng, 3)),
        2 => Did::Put(text(rng, 2)),
        _ => Did::Appended(text(rng, 2)),
    }
}

/// The same operations for the model.
fn modelled(ops: &[Op<Did>]) -> (Kv, Vec<Op<<Kv as Model>::Input>>) {
    let (mut texts, mut found) = (Vec::new(), Vec::new());
    for op in ops {
        match &op.input {
            Did::Got(text) => found.push(text.clone()),
            Did::Put(text) | Did::Appended(text) => texts.push(text.clone()),
        }
    }
    let kv = Kv::new(texts, found);
    let input = |did: &Did| match did {
        Did::Got(text) => kv.get(text),
        Did::Put(text) => kv.put(text),
        Did::Appended(text) => kv.append(text),
    };
    let ops = ops.iter().map(|op| op.of(input(&op.input))).collect();
    (kv, ops)
}

#[test]
fn the_model_agrees_with_texts_as_they_are() {
    let mut rng = Rng::with_seed(12);
    let mut counts = Counts::default();
    for _ in 0..agree::histories() {
        let ops = agree::history(&mut rng, &drawn);
        let (kv, same) = modelled(&ops);
        match search(&kv, &same) {
            Outcome::Linearizable { order } => {
                counts.good += 1;
                assert!(brute::fits(&Plain, &ops, &order), "{order:?} does not fit {ops:?}");
            }
            Outcome::Not { stuck } => {
                counts.bad += 1;
                assert!(!brute::linearizable(&Plain, &ops), "an order fits {ops:?}");
                if counts.bad.is_multiple_of(10) {
                    let witness = with_budget(|budget| shrink(&kv, &same, stuck, budget));
                    assert!(witness.least, "the budget suffices");
                    agree::proven(&Plain, &ops, stuck, &witness.ops);
                }
            }
            Outcome::GaveUp(limit) => panic!("{limit} ran out on {ops:?}"),
        }
    }
    counts.balanced();
}

#[test]
fn a_text_that_is_no_beginning_of_another_is_left_only_by_a_put() {
    let found = ["ab".to_owned(), "abc".to_owned()];
    let kv = Kv::new(vec!["x".into(), "ab".into(), "c".into()], found.to_vec());
    let after = |ops: &[_]| ops.iter().try_fold(kv.initial(), |state, op| kv.step(&state, op));
    let (x, ab, c) = (kv.append("x"), kv.append("ab"), kv.append("c"));
    assert_eq!(after(&[ab, c]), after(&[x, kv.put("ab"), kv.get("ab"), c]));
    assert_eq!(after(&[ab, x]), after(&[x, ab]));
    assert_eq!(after(&[ab, x, kv.get("ab")]), None);
    assert_eq!(after(&[kv.get("never found")]), None);
}

/// A history of a key `x` and one of a key `y`.
const FITS: &str = r#"{:process 0, :type :invoke, :f :append, :key "x", :value ":a"}
{:process 1, :type :invoke, :f :append, :key "x", :value "b"}
{:process 0, :type :ok, :f :append, :key "x", :value ":a"}
{:process 1, :type :ok, :f :append, :key "x", :value "b"}
{:process 0, :type :invoke, :f :get, :key "x", :value nil}
{:process 1, :type :invoke, :f :put, :key "y", :value "1"}
{:process 0, :type :ok, :f :get, :key "x", :value "b:a"}
{:process 1, :type :ok, :f :put, :key "y", :value "1"}
"#;

fn read(text: &str) -> History {
    let (history, damage) = parse_edn(text.as_bytes());
    assert_eq!(damage, None);
    history
}

fn judged(text: &str) -> Results {
    let history = read(text);
    assert_eq!(Kind::of(&history), Some(Kind::KV));
    with_budget(|budget| judge(&history, Vec::new(), Kind::KV, Notation::Maps, budget))
}

#[test]
fn histories_of_porcupine_are_judged_key_by_key() {
    let valid = judged(FITS);
    assert_eq!(valid.verdict, Verdict::Valid, "{:?}", valid.reasons);
    says_first(&valid, &["with 2 keys"]);

    // What was appended second is gone.
    let lost = judged(&FITS.replace("\"b:a\"", "\":a\""));
    assert_eq!(lost.verdict, Verdict::Invalid);
    assert_eq!(lost.anomalies[0].witness, [1, 3, 4, 6], "{}", lost.anomalies[0].why);
    tells(&lost.anomalies[0], "get of \"\\\":a\\\"\"");

    // A value that is no text is unknown.
    let nil = judged(&FITS.replace("\"b:a\"", "nil"));
    assert_eq!(nil.verdict, Verdict::Unknown);
    says_first(&nil, &["the get of event 4 has no text"]);

    // An append without an answer may have happened, or not.
    let mut unanswered = FITS.replace(r#"{:process 1, :type :ok, :f :append, :key "x", :value "b"}"#, "");
    for put in [":type :invoke, :f :put", ":type :ok, :f :put"] {
        unanswered = unanswered.replace(&format!(":process 1, {put}"), &format!(":process 2, {put}"));
    }
    for (found, fits) in [("b:a", true), (":a", true), ("bb", false)] {
        let verdict = if fits { Verdict::Valid } else { Verdict::Invalid };
        assert_eq!(judged(&unanswered.replace("b:a", found)).verdict, verdict, "{found}");
    }
}

#[test]
fn a_key_beside_a_value_is_read_from_json_lines_too() {
    let lines = |found: &str| {
        let line =
            |(index, rest): (usize, &str)| format!("{{\"index\":{index},\"time\":{index},\"process\":0,{rest}}}\n");
        let found = format!(r#""type":"ok","f":"get","key":"y","value":"{found}""#);
        let events = [
            r#""type":"invoke","f":"put","key":"x","value":"a""#,
            r#""type":"ok","f":"put","key":"x","value":"a""#,
            r#""type":"invoke","f":"get","key":"y","value":null"#,
            &found,
        ];
        events.into_iter().enumerate().map(line).collect::<String>()
    };
    for (found, verdict) in [("", Verdict::Valid), ("a", Verdict::Invalid)] {
        let (history, damage) = parse_jsonl(lines(found).as_bytes());
        assert_eq!(damage, None);
        assert_eq!(Kind::of(&history), Some(Kind::KV));
        let results = with_budget(|budget| judge(&history, Vec::new(), Kind::KV, Notation::Maps, budget));
        assert_eq!(results.verdict, verdict, "{found:?}: {results:?}");
    }
}

#[test]
fn histories_of_porcupine_are_written_as_they_were() {
    assert_eq!(to_keyed(&read(FITS)).as_deref(), Ok(FITS));
    let failed = FITS.replacen(":ok", ":fail", 1);
    assert!(to_keyed(&read(&failed)).is_err_and(|what| what.starts_with("event 2: ")));
    let write = FITS.replacen(":append", ":write", 1);
    assert!(to_keyed(&read(&write)).is_err_and(|what| what.starts_with("event 0: ")));
}
