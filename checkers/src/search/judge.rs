//! From a history to a verdict by search.

use super::calls::{Call, calls};
use super::lease::LeaseMutex;
use super::mutex::Mutex;
use super::reading::{self, Notation, Reading};
use super::register::Register;
use super::{Budget, Limit, Model, Outcome, prefix, search, shrink};
use crate::history::{History, Process};
use crate::results::{Anomaly, Results};
use crate::verdict::verdict;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;

/// What a history is judged as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A register with read, write and compare-and-set.
    Register,
    /// A mutex that rests on a lease, which may be lost.
    Mutex,
    /// A textbook mutex, held until a release succeeds.
    MutexStrict,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "register" | "cas-register" => Ok(Self::Register),
            "mutex" => Ok(Self::Mutex),
            "mutex-strict" => Ok(Self::MutexStrict),
            _ => Err(format!(
                "there is no model `{name}`; there are register, cas-register, mutex and mutex-strict"
            )),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Register => "register",
            Self::Mutex => "mutex",
            Self::MutexStrict => "mutex-strict",
        })
    }
}

impl Kind {
    /// What the operations of a history are of, by their names; `None` if they are of nothing that can be searched.
    pub fn of(history: &History) -> Option<Self> {
        let any = |names: &[&str]| {
            let mut work = history
                .events
                .iter()
                .filter(|event| matches!(event.process, Process::Number(_)));
            work.any(|event| names.contains(&event.f.as_str()))
        };
        // Under a lock things are written too.
        if any(&["acquire", "release"]) {
            Some(Self::Mutex)
        } else {
            any(&["read", "write", "cas"]).then_some(Self::Register)
        }
    }
}

/// Judges a history by search. `damage` says what of it could not be read: then it can be convicted, but is not valid.
pub fn judge(
    history: &History,
    damage: Vec<String>,
    kind: Kind,
    notation: Notation,
    budget: &mut Budget<'_>,
) -> Results {
    let (calls, problem) = calls(&history.events);
    let mut reasons = damage;
    reasons.extend(problem);
    if calls.is_empty() {
        reasons.push(format!("the history holds no operation of a {kind}"));
    }
    let found = match kind {
        Kind::Register => reading::register(&calls, notation)
            .map(|(reading, initial)| decide(&Register { initial }, reading, kind, budget)),
        Kind::Mutex => reading::lease(&calls).map(|reading| decide(&LeaseMutex, reading, kind, budget)),
        Kind::MutexStrict => reading::mutex(&calls).map(|reading| decide(&Mutex, reading, kind, budget)),
    };
    let mut anomalies = Vec::new();
    match found {
        Ok(found) => {
            anomalies.extend(found.anomaly);
            reasons.extend(found.reasons);
        }
        Err(what) => reasons.push(what),
    }
    Results {
        verdict: verdict(&anomalies, &reasons),
        anomalies,
        reasons,
        checkers: [(
            "linearizability".to_owned(),
            json!({ "looked_at": calls.len(), "model": kind.to_string() }),
        )]
        .into(),
        stats: [("events".to_owned(), Value::from(history.events.len()))].into(),
        ..Results::default()
    }
}

/// What a search found.
struct Found {
    anomaly: Option<Anomaly>,
    reasons: Vec<String>,
}

fn decide<M: Model>(model: &M, reading: Reading<'_, M::Input>, kind: Kind, budget: &mut Budget<'_>) -> Found
where
    M::Input: Clone,
{
    let Reading {
        ops,
        calls,
        told_by,
        notes: mut reasons,
    } = reading;
    let before = budget.steps;
    let anomaly = match search(model, &ops, budget) {
        Outcome::Linearizable { .. } => None,
        Outcome::Not { stuck } => {
            // The witness is worth some multiple of the search, but not all of the budget.
            budget.steps = budget.steps.min(20 * (before - budget.steps) + 1_000_000);
            let fits = prefix(model, &ops, stuck, budget).map(|order| order.len());
            let mut witness = shrink(model, &ops, stuck, budget);
            let later: Vec<usize> = witness.iter().filter_map(|op| told_by.get(op).copied()).collect();
            witness.extend(later);
            witness.sort_unstable();
            witness.dedup();
            let witness: Vec<&Call<'_>> = witness.iter().map(|&op| &calls[op]).collect();
            Some(anomaly(kind, &calls[stuck], &witness, fits))
        }
        Outcome::GaveUp(limit) => {
            reasons.push(gave_up(limit));
            None
        }
    };
    Found { anomaly, reasons }
}

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

fn anomaly(kind: Kind, stuck: &Call<'_>, witness: &[&Call<'_>], fits: Option<usize>) -> Anomaly {
    let (name, property, claim) = match kind {
        Kind::Register => (
            "not-linearizable",
            "linearizability",
            "no order of the register's operations fits",
        ),
        Kind::Mutex => (
            "double-grant",
            "mutual exclusion",
            "two held the mutex at once, although holds count only as far as they are certain",
        ),
        Kind::MutexStrict => (
            "double-grant",
            "mutual exclusion",
            "no order fits in which the mutex is held from each acquire to the next release that succeeded",
        ),
    };
    let mut why = format!("{claim}: {} cannot have its answer.", told(stuck));
    if let Some(fits) = fits {
        why += &match fits {
            0 => " Nothing else had happened.".to_owned(),
            fits => format!(" What was answered before it fits together ({fits} in a row)."),
        };
    }
    why += &contradiction(stuck, witness);
    // The first letter of a sentence.
    why[..1].make_ascii_uppercase();
    let mut events: Vec<usize> = witness
        .iter()
        .flat_map(|call| [Some(call.invoke.index), call.end_index()])
        .flatten()
        .collect();
    events.sort_unstable();
    Anomaly {
        kind: name.to_owned(),
        property: property.to_owned(),
        advisory: false,
        accepted: false,
        witness: events,
        why,
    }
}

/// What the operation that is stuck contradicts; of much, what was invoked last.
fn contradiction(stuck: &Call<'_>, witness: &[&Call<'_>]) -> String {
    const SHOWN: usize = 6;
    let mut others: Vec<&Call<'_>> = witness.to_vec();
    others.retain(|call| call.invoke.index != stuck.invoke.index);
    others.sort_by_key(|call| call.invoke.index);
    let hidden = others.len().saturating_sub(SHOWN);
    let shown: Vec<String> = others[hidden..].iter().map(|call| told(call)).collect();
    let before = match hidden {
        0 => String::new(),
        _ => format!(", and {hidden} operations before these"),
    };
    match shown.len() {
        0 => " This alone proves it: nothing that was invoked before it ended explains its answer.".to_owned(),
        _ => format!(
            " It contradicts {}{before}, even if of everything else nobody knew whether it happened.",
            shown.join("; ")
        ),
    }
}

/// `the read of 3 by process 1 (events 2 to 5)`.
fn told(call: &Call<'_>) -> String {
    let (process, from) = (call.process(), call.invoke.index);
    let value = match (call.f(), call.end) {
        ("read", Some(end)) => &end.value,
        _ => &call.invoke.value,
    };
    let of = match value {
        Value::Null if call.f() != "read" => String::new(),
        value => format!(" of {value}"),
    };
    let how = match call.outcome() {
        crate::EventType::Fail => ", which failed,",
        _ => "",
    };
    let to = call.end_index().map_or("the end".to_owned(), |end| end.to_string());
    format!("the {}{of} by process {process}{how} (events {from} to {to})", call.f())
}
