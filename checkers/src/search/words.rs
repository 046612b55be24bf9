//! Verdicts of a search in words.

use super::values::{recorded, to_edn};
use crate::Anomaly;
use crate::text::{count, if_any};
use crate::verdict::NOTE;
use zooquake_history::Value;
use zooquake_linearizability::{Call, CallOutcome, InputError, Limit, Remark, Violation};

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
pub fn unjudged(error: &InputError) -> String {
    error.words(|value| recorded(value).to_string(), |value| to_edn(value).to_string())
}

/// A remark as a reason.
pub fn reason(remark: &Remark<'_>) -> String {
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
pub fn anomaly(found: Violation<'_>) -> Anomaly {
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
pub fn short(value: &Value) -> String {
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
