//! Histories judged by a search for a linearization, by `zooquake-linearizability`: types without a checker of their
//! own, and histories of others.
//!
//! [`judge`] is the whole way from a history to its verdict, and what was found in words. `calls` pairs the events of
//! a history and translates what they hold; [`picture`] is what a page shows of it.

mod calls;
pub mod picture;

use crate::text::{count, if_any};
use crate::verdict::{NOTE, verdict};
use crate::{Anomaly, Results};
use calls::{Calls, searched, to_edn};
use serde_json::json;
use std::collections::HashSet;
use std::str::FromStr;
use zooquake_history::edn::{parse, to_json};
use zooquake_history::{EventType, History, Process, Value};
use zooquake_linearizability::equality::canonical;
use zooquake_linearizability::keys::{KeyedObject, Partition, partition};
use zooquake_linearizability::{Call, CallOutcome, Conventions, InputError, Limit, Remark, Violation};

pub(crate) use calls::{is_of_named_process, recorded};
pub use zooquake_linearizability::{Budget, ListedModel, ModelKind};

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
    fn conventions(self) -> Conventions<'a> {
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
    let objects = unclear.map_or_else(|| partition(&calls).map_err(|error| unjudged(&error)), Err);
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
            anomalies: found.violations.into_iter().map(anomaly).collect(),
            reasons: found.remarks.iter().map(reason).collect(),
        },
        Err(error) => Findings {
            anomalies: Vec::new(),
            reasons: vec![unjudged(&error)],
        },
    }
}

/// What ran out before a search ended, and what to do.
fn gave_up(limit: Limit) -> String {
    let more = match limit {
        Limit::Steps => "allow more steps",
        Limit::Memory => "allow more memory (--memory)",
        Limit::Time => "allow more time (--budget)",
    };
    format!(
        "the search ran out of {limit} before it found an order or excluded all: {more}, or check a shorter history"
    )
}

/// Why operations cannot be judged.
fn unjudged(error: &InputError) -> String {
    error.words(|value| recorded(value).to_string(), |value| to_edn(value).to_string())
}

/// A remark as a reason.
fn reason(remark: &Remark<'_>) -> String {
    match remark {
        Remark::GaveUp(limit) => gave_up(*limit),
        Remark::Unjudged(error) => unjudged(error),
        Remark::NoTokens(grants) => {
            format!("the answers to {grants} of the grants name no token that is a number")
        }
        Remark::DrainUnordered => {
            "a drain took several items out, and their order among each other was not judged".to_owned()
        }
        Remark::LossesUnjudged { enqueue } => format!(
            "whether items were lost was not judged, as no drain was sent after all deliveries were answered, and after what was put \
             in (that of event {} did not come out)",
            enqueue.invoke
        ),
        Remark::ClientShared { first, other } => format!(
            "which holds of a client end with its releases is not known, as several processes name one: process {} at event \
             {}, process {} at event {}",
            first.process, first.invoke, other.process, other.invoke
        ),
        Remark::Repeated(deliveries) => format!(
            "{NOTE}{} repeated an item that had come out already",
            count(*deliveries, "delivery")
        ),
        Remark::LeaseLost { grant, release } => format!(
            "{NOTE}lease lost: process {} was granted at event {}, and no longer held when it released at event {} \
             ({}); when the hold ended is not known",
            grant.process,
            grant.complete.unwrap_or(grant.invoke),
            release.complete.unwrap_or(release.invoke),
            release.error.unwrap_or_default(),
        ),
    }
}

/// What a search found.
fn anomaly(found: Violation<'_>) -> Anomaly {
    let broken = found.claim;
    let mut why = format!("{}: {} cannot have its answer.", broken.says, described(found.stuck));
    if let Some(fits) = found.fits {
        why += &match fits {
            0 => " Before it nothing is known to have happened.".to_owned(),
            fits => format!(" What was answered before it fits together ({fits} in a row)."),
        };
    }
    why += &contradiction(found.stuck, &found.witness);
    if !found.minimal {
        why += " The budget ran out before it was known whether all of these are needed.";
    }
    // The first letter of a sentence.
    why[..1].make_ascii_uppercase();
    Anomaly {
        kind: broken.kind.to_owned(),
        property: broken.property.to_owned(),
        advisory: false,
        accepted: false,
        witness: found.events,
        span: None,
        stuck: Some(found.stuck.invoke),
        cause: None,
        why,
    }
}

/// What the operation that is stuck contradicts; of much, what was invoked last.
fn contradiction(stuck: &Call<'_>, witness: &[&Call<'_>]) -> String {
    const SHOWN: usize = 6;
    let mut others: Vec<&Call<'_>> = witness.to_vec();
    others.retain(|call| call.invoke != stuck.invoke);
    others.sort_by_key(|call| call.invoke);
    others.dedup_by_key(|call| call.invoke);
    let hidden = others.len().saturating_sub(SHOWN);
    let shown: Vec<String> = others[hidden..].iter().map(|call| described(call)).collect();
    let before = if_any(hidden, |_| format!(", and {} before these", count(hidden, "operation")));
    match shown.len() {
        0 => " This alone proves it: nothing that was invoked before it ended explains its answer.".to_owned(),
        _ => format!(
            " It contradicts {}{before}, even if every other operation that did not fail had an unknown outcome.",
            shown.join("; ")
        ),
    }
}

/// `the read of 3 by process 1 (events 2 to 5)`.
fn described(call: &Call<'_>) -> String {
    let value = match (call.f, call.complete) {
        ("read" | "get" | "decided", Some(_)) => &call.answered,
        (_, Some(_)) if call.asked.is_nil() => &call.answered,
        _ => &call.asked,
    };
    let of = match recorded(value) {
        Value::Null if call.f == "dequeue" && call.outcome == CallOutcome::Ok => " of nothing".to_owned(),
        Value::Null if !matches!(call.f, "read" | "get") => String::new(),
        value => format!(" of {}", short(&value)),
    };
    let how = match call.outcome {
        CallOutcome::Fail => ", which failed,",
        CallOutcome::Ok | CallOutcome::Info => "",
    };
    let to = call.complete.map_or("the end".to_owned(), |end| end.to_string());
    format!(
        "the {}{of} by process {}{how} (events {} to {to})",
        call.f, call.process, call.invoke
    )
}

/// A value for a sentence: the first ones of a long list and how many there are, the end of a long text, as what was
/// written last matters most.
fn short(value: &Value) -> String {
    const SHOWN: usize = 8;
    const LONGEST: usize = 200;
    if let Some(values) = value.as_array().filter(|values| values.len() > SHOWN) {
        let first: Vec<String> = values[..SHOWN].iter().map(Value::to_string).collect();
        return format!("[{},… {} in all]", first.join(","), values.len());
    }
    let text = value.to_string();
    let characters = text.chars().count();
    match characters.checked_sub(LONGEST) {
        None | Some(0) => text,
        Some(left_out) => {
            let end: String = text.chars().skip(left_out).collect();
            format!("…{end} ({characters} characters)")
        }
    }
}
