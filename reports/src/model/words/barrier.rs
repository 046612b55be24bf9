//! Of barriers: rounds that all members enter, and leave, together; and gates, at which clients wait.

use super::{EventContext, FamilyWords, Terms};
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::barrier::{self, ROUND};

/// Of a barrier that members join.
const JOINING: Terms = Terms {
    holds: "is in",
    hold: Some("is in the round"),
    wait: Some("waits for the start"),
    work: "joins",
    take: None,
    leave: Some("closes its session"),
    took: "joined",
    refused: None,
    no: None,
};

/// Of a barrier that all enter together.
const ENTERING: Terms = Terms {
    wait: Some("enters: waits for the others"),
    leave: Some("leaves: waits for the others"),
    ..JOINING
};

/// Of a gate.
const GATE: Terms = Terms {
    hold: None,
    wait: Some("waits at the gate"),
    work: "raises the gate",
    leave: Some("lifts the gate"),
    took: "raised",
    ..JOINING
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &barrier::FAMILY,
    terms: |ops| {
        let asks = |names: &[&str]| ops.iter().any(|op| !op.control && names.contains(&op.f));
        match () {
            () if asks(&[barrier::f::JOIN, barrier::f::CLOSE]) => &JOINING,
            () if asks(&[barrier::f::RAISE, barrier::f::WAIT, barrier::f::LIFT]) => &GATE,
            () => &ENTERING,
        }
    },
    predicate,
};

/// The predicate of a round's event.
fn predicate(context: EventContext<'_>) -> Option<String> {
    let round = || format!("round {}", context.field(ROUND));
    Some(match context.what() {
        (barrier::f::JOIN, Invoke) => format!("joins {}{}{}", round(), member(context), members(context)),
        (barrier::f::JOIN, Ok) => format!("has joined {}{}{}", round(), member(context), context.czxid()),
        (barrier::f::JOIN, Fail | Info) => context.failed(&format!("joined {}{}", round(), member(context)))?,
        (barrier::f::ENTER, Invoke) => format!("enters {}, and waits{}", round(), members(context)),
        (barrier::f::ENTER, Ok) => format!("is let into {}: its barrier has opened{}", round(), context.czxid()),
        (barrier::f::ENTER, Fail) => format!("has not entered {}", round()),
        (barrier::f::ENTER, Info) => format!("gives up entering {}, and may have left its znode", round()),
        (barrier::f::LEAVE, Invoke) => format!("leaves {}, and waits for the others", round()),
        (barrier::f::LEAVE, Ok) => context.with_removed(format!("has left {}", round())),
        (barrier::f::LEAVE, Fail | Info) => context.failed(&format!("left {}", round()))?,
        (barrier::f::CLOSE, Invoke) => format!("is asked to close its session, as {} is over", round()),
        (barrier::f::CLOSE, Ok) => format!("has closed its session of {}", round()),
        (barrier::f::CLOSE, Fail | Info) => context.failed(&format!("closed its session of {}", round()))?,
        (barrier::f::RAISE, Invoke) => format!("raises the gate of {}", round()),
        (barrier::f::RAISE, Ok) => format!("has raised the gate of {}", round()),
        (barrier::f::RAISE, Fail | Info) => context.failed(&format!("raised the gate of {}", round()))?,
        (barrier::f::WAIT, Invoke) => format!("waits at the gate of {}", round()),
        (barrier::f::WAIT, Ok) => format!("goes on: the gate of {} does not stand", round()),
        (barrier::f::WAIT, Fail | Info) => format!("gives up waiting at the gate of {}", round()),
        (barrier::f::LIFT, Invoke) => format!("lifts the gate of {}", round()),
        (barrier::f::LIFT, Ok) => format!("has lifted the gate of {}", round()),
        (barrier::f::LIFT, Fail | Info) => context.failed(&format!("lifted the gate of {}", round()))?,
        _ => return None,
    })
}

/// ` as member 2`.
fn member(context: EventContext<'_>) -> String {
    context.told(Event::member, |n| format!(" as member {n}"))
}

/// ` for all 5 members`.
fn members(context: EventContext<'_>) -> String {
    context.told(Event::members, |n| format!(" for all {n} members"))
}
