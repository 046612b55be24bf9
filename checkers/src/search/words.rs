//! Verdicts of a search in words.

use super::Limit;
use super::calls::Call;
use super::judge::Kind;
use super::prove::Proof;
use crate::Value;
use crate::history::EventType;
use crate::results::Anomaly;
use crate::text::count;

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
pub fn anomaly(kind: Kind, calls: &[Call<'_>], proof: &Proof) -> Anomaly {
    let stuck = &calls[proof.stuck];
    let witness: Vec<&Call<'_>> = proof.witness.iter().map(|&op| &calls[op]).collect();
    let (name, property, claim) = match kind {
        Kind::Register => (
            "not-linearizable",
            "linearizability",
            "no order of the register's operations fits",
        ),
        Kind::Kv => (
            "not-linearizable",
            "linearizability",
            "no order of the operations on the text fits",
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
    let mut why = format!("{claim}: {} cannot have its answer.", described(stuck));
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
    let mut events: Vec<usize> = witness
        .iter()
        .flat_map(|call| [Some(call.invoke.index), call.end_index()])
        .flatten()
        .collect();
    // Two holds that were both released overlap by when they were granted, and not by when that was asked for.
    if let (Kind::Mutex, [_, _, _, _]) = (kind, witness.as_slice()) {
        events.retain(|at| {
            !witness
                .iter()
                .any(|call| call.f() == "acquire" && call.invoke.index == *at)
        });
    }
    events.sort_unstable();
    Anomaly {
        kind: name.to_owned(),
        property: property.to_owned(),
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
    let hidden = others.len().saturating_sub(SHOWN);
    let shown: Vec<String> = others[hidden..].iter().map(|call| described(call)).collect();
    let before = match hidden {
        0 => String::new(),
        _ => format!(", and {} before these", count(hidden, "operation")),
    };
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
        ("read" | "get", Some(_)) => call.answered,
        _ => call.asked,
    };
    let of = match value {
        Value::Null if !matches!(call.f(), "read" | "get") => String::new(),
        value => format!(" of {}", clipped(&value.to_string())),
    };
    let how = match call.outcome() {
        EventType::Fail => ", which failed,",
        _ => "",
    };
    let to = call.end_index().map_or("the end".to_owned(), |end| end.to_string());
    format!("the {}{of} by process {process}{how} (events {from} to {to})", call.f())
}

/// The end of a text that is too long for a sentence, as what was written last tells most.
fn clipped(text: &str) -> String {
    const LONGEST: usize = 200;
    let characters = text.chars().count();
    match characters.checked_sub(LONGEST) {
        None | Some(0) => text.to_owned(),
        Some(left_out) => {
            let end: String = text.chars().skip(left_out).collect();
            format!("…{end} ({characters} characters)")
        }
    }
}
