//! Verdicts of a search in words.

use super::calls::Call;
use super::prove::Proof;
use super::{Claim, Limit};
use crate::text::{count, if_any};
use crate::{Anomaly, EventType, Value};

/// What ran out before a search ended, and what to do.
pub fn gave_up(limit: Limit) -> String {
    let more = match limit {
        Limit::Steps => "allow more steps",
        Limit::Memory => "allow more memory (--memory)",
        Limit::Time => "allow more time (--budget)",
    };
    format!(
        "the search ran out of {limit} before it found an order or excluded all: {more}, or check a shorter history"
    )
}

/// What a search found, of the operations `calls`.
/// `broken` is what they break where nothing is known more closely.
pub fn anomaly(broken: &Claim, calls: &[Call<'_>], proof: &Proof) -> Anomaly {
    let broken = proof.claim.unwrap_or(broken);
    let stuck = &calls[proof.stuck];
    let witness: Vec<&Call<'_>> = proof.witness.iter().map(|&op| &calls[op]).collect();
    let mut why = format!("{}: {} cannot have its answer.", broken.says, described(stuck));
    if let Some(fits) = proof.fits {
        why += &match fits {
            0 => " Before it nothing is known to have happened.".to_owned(),
            fits => format!(" What was answered before it fits together ({fits} in a row)."),
        };
    }
    why += &contradiction(stuck, &witness);
    if !proof.least {
        why += " The budget ran out before it was known whether all of these are needed.";
    }
    // The first letter of a sentence.
    why[..1].make_ascii_uppercase();
    let both = |call: &&Call<'_>| [Some(call.invoke.index), call.end_index()];
    let mut events: Vec<usize> = witness.iter().flat_map(both).flatten().collect();
    events.sort_unstable();
    events.dedup();
    Anomaly {
        kind: broken.kind.to_owned(),
        property: broken.property.to_owned(),
        advisory: false,
        accepted: false,
        witness: events,
        span: None,
        why,
    }
}

/// What the operation that is stuck contradicts; of much, what was invoked last.
fn contradiction(stuck: &Call<'_>, witness: &[&Call<'_>]) -> String {
    const SHOWN: usize = 6;
    let mut others: Vec<&Call<'_>> = witness.to_vec();
    others.retain(|call| call.invoke.index != stuck.invoke.index);
    others.sort_by_key(|call| call.invoke.index);
    others.dedup_by_key(|call| call.invoke.index);
    let hidden = others.len().saturating_sub(SHOWN);
    let shown: Vec<String> = others[hidden..].iter().map(|call| described(call)).collect();
    let before = if_any(hidden, |_| format!(", and {} before these", count(hidden, "operation")));
    match shown.len() {
        0 => " This alone proves it: nothing that was invoked before it ended explains its answer.".to_owned(),
        _ => format!(
            " It contradicts {}{before}, even if of everything else that did not fail nobody knew whether it happened.",
            shown.join("; ")
        ),
    }
}

/// `the read of 3 by process 1 (events 2 to 5)`.
fn described(call: &Call<'_>) -> String {
    let (process, from) = (call.process(), call.invoke.index);
    let value = match (call.f(), call.end) {
        ("read" | "get" | "decided", Some(_)) => call.answered,
        (_, Some(_)) if call.asked.is_null() => call.answered,
        _ => call.asked,
    };
    let of = match value {
        Value::Null if call.f() == "dequeue" && call.outcome() == EventType::Ok => " of nothing".to_owned(),
        Value::Null if !matches!(call.f(), "read" | "get") => String::new(),
        value => format!(" of {}", short(value)),
    };
    let how = match call.outcome() {
        EventType::Fail => ", which failed,",
        _ => "",
    };
    let to = call.end_index().map_or("the end".to_owned(), |end| end.to_string());
    format!("the {}{of} by process {process}{how} (events {from} to {to})", call.f())
}

/// A value for a sentence: the first ones of a long list and how many there are, the end of a long text, as what was written
/// last tells most.
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
