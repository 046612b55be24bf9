//! Texts under keys: the model against texts as they are.

use super::agree::proven;
use super::decided::DecisionCounts;
use super::drawn::history;
use super::{brute, histories, search, with_budget};
use fastrand::Rng;
use zooquake_linearizability::models::kv::Kv;
use zooquake_linearizability::{Model, Op, SearchOutcome, shrink};

/// The text itself as the state.
struct PlainKv;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Did {
    Got(String),
    Put(String),
    Appended(String),
}

impl Model for PlainKv {
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
    let ops = ops.iter().map(|op| op.with_input(input(&op.input))).collect();
    (kv, ops)
}

#[test]
fn the_model_agrees_with_texts_as_they_are() {
    let mut rng = Rng::with_seed(12);
    let mut counts = DecisionCounts::default();
    for _ in 0..histories() {
        let ops = history(&mut rng, &drawn);
        let (kv, same) = modelled(&ops);
        match search(&kv, &same) {
            SearchOutcome::Linearizable { order } => {
                counts.good += 1;
                assert!(brute::fits(&PlainKv, &ops, &order), "{order:?} does not fit {ops:?}");
            }
            SearchOutcome::Not { stuck } => {
                counts.bad += 1;
                assert!(!brute::linearizable(&PlainKv, &ops), "an order fits {ops:?}");
                if counts.bad.is_multiple_of(10) {
                    let witness = with_budget(|budget| shrink(&kv, &same, stuck, budget));
                    assert!(witness.least, "the budget suffices");
                    proven(&PlainKv, &ops, stuck, &witness.ops);
                }
            }
            SearchOutcome::GaveUp(limit) => panic!("{limit} ran out on {ops:?}"),
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
