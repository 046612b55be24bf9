//! From a history to a verdict by search.

use super::calls::Calls;
use super::values::{recorded, searched};
use super::words;
use crate::text::count;
use crate::verdict::{NOTE, verdict};
use crate::{Anomaly, Results};
use serde_json::json;
use std::collections::HashSet;
use std::str::FromStr;
use zooquake_history::edn::{parse, to_json};
use zooquake_history::{EventType, History, Process};
use zooquake_linearizability::equality::canonical;
use zooquake_linearizability::keys::{KeyedObject, Partition, partition};
use zooquake_linearizability::{Budget, Call, Conventions, ModelKind};

/// How a history was written down, which decides what a register's values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Maps: ours, or Jepsen's EDN. Ours have values in fields (`{"value":17}`): the register begins as `null`.
    /// Jepsen's have bare values: with what the register begins is not known, and an answer of `nil` means that the
    /// value is unknown. A failed compare-and-set proves nothing.
    Maps,
    /// Jepsen's text log: with what the register begins is not known, `nil` is a value, and a compare-and-set that
    /// failed without an error, or with one that names a mismatch, found another value.
    Log,
}

/// How a history is to be read.
#[derive(Debug, Clone, Copy)]
pub struct HistoryTerms<'a> {
    /// How it was written down.
    pub notation: Notation,
    /// The value with which each object begins, where somebody states that.
    pub initial: Option<&'a InitialValue>,
}

impl From<Notation> for HistoryTerms<'_> {
    fn from(notation: Notation) -> Self {
        Self {
            notation,
            initial: None,
        }
    }
}

impl<'a> HistoryTerms<'a> {
    pub(super) fn conventions(self) -> Conventions<'a> {
        Conventions {
            nil_is_unknown: self.notation == Notation::Maps,
            failed_cas_is_mismatch: self.notation == Notation::Log,
            initial: self.initial.map(|InitialValue(value)| value),
        }
    }
}

/// A value with which objects begin, as JSON or EDN writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct InitialValue(zooquake_linearizability::Value);

impl FromStr for InitialValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) => to_json(&parse(text).map_err(|error| format!("it is neither JSON nor EDN: {error}"))?),
        };
        let value = searched(&value);
        match canonical(&value) {
            Some(_) => Ok(Self(value)),
            None => Err("it equals nothing that can be compared".to_owned()),
        }
    }
}

/// What was found of one object, or of several, in words.
#[derive(Debug, Default)]
struct Findings {
    anomalies: Vec<Anomaly>,
    reasons: Vec<String>,
}

/// What the operations of a history are of, by their names and answers; `None` if they are of nothing that is judged,
/// or of more than one thing.
pub fn infer(history: &History) -> Option<ModelKind> {
    let events = || history.events.iter();
    let of_clients = events().filter(|event| matches!(event.process, Process::Number(_)));
    let names: HashSet<&str> = of_clients.map(|event| event.f.as_str()).collect();
    let any = |f: &str, kind: EventType, like: fn(&zooquake_linearizability::Value) -> bool| {
        let mut those = events().filter(|event| event.f == f && event.kind == kind);
        those.any(|event| like(&searched(&event.value)))
    };
    ModelKind::infer(
        |name| names.contains(name),
        |like| any("acquire", EventType::Invoke, like),
        |like| any("read", EventType::Ok, like),
    )
}

/// Judges a history by search. `damage` names what of it could not be read: then it can be convicted, but is not valid.
pub fn judge<'a>(
    history: &History,
    damage: Vec<String>,
    kind: ModelKind,
    terms: impl Into<HistoryTerms<'a>>,
    budget: &mut Budget<'_>,
) -> Results {
    let terms = terms.into();
    let Calls {
        all: calls,
        problem,
        unclear,
        remarks,
    } = Calls::new(&history.events, kind.operations());
    let mut reasons = damage;
    reasons.extend(problem);
    if calls.is_empty() {
        reasons.push(format!("the history holds no operation of a {kind}"));
    }
    let mut one = |calls: &[Call<'_>]| one(calls, kind, terms, budget);
    let mut found = Findings::default();
    let objects = unclear.map_or_else(|| partition(&calls).map_err(|error| words::unjudged(&error)), Err);
    match objects {
        Err(what) => found.reasons.push(what),
        Ok(Partition::Single) => found = one(&calls),
        Ok(Partition::Keyed(objects)) => found = each(&objects, kind, &mut one),
        Ok(Partition::Ambiguous(objects)) => {
            found = one(&calls);
            let apart = each(&objects, kind, &mut one);
            if found.anomalies.is_empty() != apart.anomalies.is_empty() {
                found = Findings::default();
                found.reasons.push(format!(
                    "nothing shows whether the values are those of one {kind}, or pairs of a key and a value, and the \
                     verdict depends on it"
                ));
            }
        }
    }
    reasons.extend(found.reasons);
    reasons.extend(remarks.map(|remarks| format!("{NOTE}{remarks}")));
    Results {
        verdict: verdict(&found.anomalies, &reasons),
        anomalies: found.anomalies,
        reasons,
        checkers: [(
            "linearizability".to_owned(),
            json!({ "looked_at": calls.len(), "model": kind.to_string() }),
        )]
        .into(),
        stats: [("events".to_owned(), json!(history.events.len()))].into(),
        ..Results::default()
    }
}

/// Judges the operations of each key by themselves.
fn each(objects: &[KeyedObject<'_>], kind: ModelKind, one: &mut impl FnMut(&[Call<'_>]) -> Findings) -> Findings {
    let mut all = Findings::default();
    for object in objects {
        let found = one(&object.calls);
        let key = recorded(&object.key);
        all.anomalies.extend(found.anomalies.into_iter().map(|anomaly| Anomaly {
            why: format!("Key {key}: {}", anomaly.why),
            ..anomaly
        }));
        all.reasons.extend(found.reasons);
    }
    all.anomalies.sort_by(|a, b| a.witness.cmp(&b.witness));
    all.reasons.sort_by_key(|reason| reason.starts_with(NOTE));
    all.reasons.dedup();
    all.reasons.push(format!(
        "{NOTE}values are pairs of a key and a value, with {}: each was judged as a {kind} of its own",
        count(objects.len(), "key")
    ));
    all
}

/// Judges operations of one object.
fn one(calls: &[Call<'_>], kind: ModelKind, terms: HistoryTerms<'_>, budget: &mut Budget<'_>) -> Findings {
    match kind.judge(calls, terms.conventions(), budget) {
        Ok(found) => Findings {
            anomalies: found.violations.into_iter().map(words::anomaly).collect(),
            reasons: found.remarks.iter().map(words::reason).collect(),
        },
        Err(error) => Findings {
            anomalies: Vec::new(),
            reasons: vec![words::unjudged(&error)],
        },
    }
}
