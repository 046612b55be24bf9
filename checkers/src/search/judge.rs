//! From a history to a verdict by search.

use super::Budget;
use super::calls::{Call, calls, unclear};
use super::keys::{Keyed, Keys, keyed};
use super::kinds::{Judgement, Kind};
use super::reading::Notation;
use crate::text::count;
use crate::verdict::{NOTE, verdict};
use crate::{Anomaly, History, Results, Value};
use serde_json::json;

/// Judges a history by search. `damage` says what of it could not be read: then it can be convicted, but is not valid.
pub fn judge(
    history: &History,
    damage: Vec<String>,
    kind: Kind,
    notation: Notation,
    budget: &mut Budget<'_>,
) -> Results {
    let (calls, problem) = calls(&history.events, kind.operations());
    let mut reasons = damage;
    reasons.extend(problem);
    if calls.is_empty() {
        reasons.push(format!("the history holds no operation of a {kind}"));
    }
    let mut one = |calls: &[Call<'_>]| one(calls, kind, notation, budget);
    let mut found = Judgement::default();
    let keys = unclear(&calls).map_or_else(|| keyed(&calls), Err);
    match keys {
        Err(what) => found.reasons.push(what),
        Ok(Keyed::No) => found = one(&calls),
        Ok(Keyed::Yes(keys)) => found = each(&keys, kind, &mut one),
        Ok(Keyed::Maybe(keys)) => {
            found = one(&calls);
            let apart = each(&keys, kind, &mut one);
            if found.anomalies.is_empty() != apart.anomalies.is_empty() {
                found = Judgement::default();
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

/// Judges the operations of each key by themselves.
fn each(keys: &Keys<'_>, kind: Kind, one: &mut impl FnMut(&[Call<'_>]) -> Judgement) -> Judgement {
    let mut all = Judgement::default();
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
fn one(calls: &[Call<'_>], kind: Kind, notation: Notation, budget: &mut Budget<'_>) -> Judgement {
    kind.judge(calls, notation, budget).unwrap_or_else(|what| Judgement {
        reasons: vec![what],
        ..Judgement::default()
    })
}
