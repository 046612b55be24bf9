//! Of barriers: rounds that all members enter, and leave, together.

use super::EventContext;
use crate::text;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::barrier::ROUND;

/// The predicate of a round's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    let round = || format!("round {}", context.field(ROUND));
    Some(match context.what() {
        ("join", Invoke) => format!("joins {}{}{}", round(), member(context), members(context)),
        ("join", Ok) => format!("has joined {}{}{}", round(), member(context), context.czxid()),
        ("join", Fail | Info) => context.failed(&format!("joined {}{}", round(), member(context)))?,
        ("enter", Invoke) => format!("enters {}, and waits{}", round(), members(context)),
        ("enter", Ok) => format!("is let into {}: its barrier has opened{}", round(), context.czxid()),
        ("enter", Fail) => format!("has not entered {}", round()),
        ("enter", Info) => format!("gives up entering {}, and may have left its znode", round()),
        ("leave", Invoke) => format!("leaves {}, and waits for the others", round()),
        ("leave", Ok) => left(context, &round()),
        ("leave", Fail | Info) => context.failed(&format!("left {}", round()))?,
        ("close", Invoke) => format!("is told that {} is over, and closes its session", round()),
        ("close", Ok) => format!("has closed its session of {}", round()),
        ("close", Fail | Info) => context.failed(&format!("closed its session of {}", round()))?,
        _ => return None,
    })
}

/// ` as member 2`.
fn member(context: EventContext<'_>) -> String {
    let member = context.read(Event::member).map(|n| format!(" as member {n}"));
    member.unwrap_or_default()
}

/// ` for all 5 members`.
fn members(context: EventContext<'_>) -> String {
    let members = context.read(Event::members).map(|n| format!(" for all {n} members"));
    members.unwrap_or_default()
}

fn left(context: EventContext<'_>, round: &str) -> String {
    match context.removed() {
        Some(path) => format!("has left {round}: removed {}", text::value(path, 80)),
        None => format!("has left {round}"),
    }
}
