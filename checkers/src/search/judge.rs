//! From a history to a verdict by search.

use super::calls::{Call, calls};
use super::keys::{Keyed, Keys, keyed};
use super::lease::LeaseMutex;
use super::mutex::Mutex;
use super::prove::prove;
use super::reading::{self, Notation, Reading};
use super::register::{Register, Unset};
use super::texts;
use super::words::{anomaly, gave_up};
use super::{Budget, Model};
use crate::Value;
use crate::history::{History, Process};
use crate::results::{Anomaly, Results};
use crate::text::count;
use crate::verdict::{NOTE, verdict};
use serde_json::json;
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
    /// Texts under keys, with get, put and append.
    Kv,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "register" | "cas-register" => Ok(Self::Register),
            "mutex" => Ok(Self::Mutex),
            "mutex-strict" => Ok(Self::MutexStrict),
            "kv" => Ok(Self::Kv),
            _ => Err(format!(
                "there is no model `{name}`; there are register, cas-register, mutex, mutex-strict and kv"
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
            Self::Kv => "kv",
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
        } else if any(&["read", "write", "cas"]) {
            Some(Self::Register)
        } else {
            any(&["get", "put", "append"]).then_some(Self::Kv)
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
    let mut one = |calls: &[Call<'_>]| one(calls, kind, notation, budget);
    let mut found = Found::default();
    match keyed(&calls) {
        Err(what) => found.reasons.push(what),
        Ok(Keyed::No) => found = one(&calls),
        Ok(Keyed::Yes(keys)) => found = each(&keys, kind, &mut one),
        Ok(Keyed::Maybe(keys)) => {
            found = one(&calls);
            let apart = each(&keys, kind, &mut one);
            if found.anomalies.is_empty() != apart.anomalies.is_empty() {
                found = Found::default();
                found.reasons.push(format!(
                    "nothing tells whether the values are those of one {kind}, or pairs of a key and a value, and the verdict \
                     depends on it"
                ));
            }
        }
    }
    reasons.extend(found.reasons);
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

/// What a search found.
#[derive(Debug, Default)]
struct Found {
    anomalies: Vec<Anomaly>,
    reasons: Vec<String>,
}

/// Judges the operations of each key by themselves.
fn each(keys: &Keys<'_>, kind: Kind, one: &mut impl FnMut(&[Call<'_>]) -> Found) -> Found {
    let mut all = Found::default();
    for calls in keys.values() {
        let found = one(calls);
        let key = calls.first().map_or(&Value::Null, |call| &call.invoke.value[0]);
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
        count(keys.len(), "key")
    ));
    all
}

/// Judges operations of one object.
fn one(calls: &[Call<'_>], kind: Kind, notation: Notation, budget: &mut Budget<'_>) -> Found {
    let found = match kind {
        Kind::Register => reading::register(calls, notation).map(|accesses| match accesses.initial {
            Some(initial) => decide(&Register { initial }, accesses.reading, kind, budget),
            None => decide(&Unset { never: accesses.never }, accesses.reading, kind, budget),
        }),
        Kind::Mutex => reading::lease(calls).map(|reading| decide(&LeaseMutex, reading, kind, budget)),
        Kind::MutexStrict => reading::mutex(calls).map(|reading| decide(&Mutex, reading, kind, budget)),
        Kind::Kv => texts::kv(calls).map(|(kv, reading)| decide(&kv, reading, kind, budget)),
    };
    found.unwrap_or_else(|what| Found {
        reasons: vec![what],
        ..Found::default()
    })
}

fn decide<M: Model>(model: &M, reading: Reading<'_, M::Input>, kind: Kind, budget: &mut Budget<'_>) -> Found
where
    M::Input: Clone,
{
    let mut found = Found {
        anomalies: Vec::new(),
        reasons: reading.notes.clone(),
    };
    match prove(model, &reading, budget) {
        Ok(proof) => found
            .anomalies
            .extend(proof.map(|proof| anomaly(kind, &reading.calls, &proof))),
        Err(limit) => found.reasons.push(gave_up(limit)),
    }
    found
}
