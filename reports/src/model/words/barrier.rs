//! Of barriers: rounds that all members enter, and leave, together.

use super::Told;
use crate::text;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::barrier::ROUND;

/// What the event says of a round.
pub fn tell(told: Told<'_>) -> Option<String> {
    let round = || format!("round {}", told.field(ROUND));
    Some(match told.what() {
        ("join", Invoke) => format!("joins {}{}{}", round(), member(told), members(told)),
        ("join", Ok) => format!("has joined {}{}{}", round(), member(told), told.czxid()),
        ("join", Fail | Info) => told.failed(&format!("joined {}{}", round(), member(told)))?,
        ("enter", Invoke) => format!("enters {}, and waits{}", round(), members(told)),
        ("enter", Ok) => format!("is let into {}: its barrier has opened{}", round(), told.czxid()),
        ("enter", Fail) => format!("has not entered {}", round()),
        ("enter", Info) => format!("gives up entering {}, and may have left its znode", round()),
        ("leave", Invoke) => format!("leaves {}, and waits for the others", round()),
        ("leave", Ok) => left(told, &round()),
        ("leave", Fail | Info) => told.failed(&format!("left {}", round()))?,
        ("close", Invoke) => format!("is told that {} is over, and closes its session", round()),
        ("close", Ok) => format!("has closed its session of {}", round()),
        ("close", Fail | Info) => told.failed(&format!("closed its session of {}", round()))?,
        _ => return None,
    })
}

/// ` as member 2`.
fn member(told: Told<'_>) -> String {
    let member = told.of(Event::member).map(|n| format!(" as member {n}"));
    member.unwrap_or_default()
}

/// ` for all 5 members`.
fn members(told: Told<'_>) -> String {
    let members = told.of(Event::members).map(|n| format!(" for all {n} members"));
    members.unwrap_or_default()
}

fn left(told: Told<'_>, round: &str) -> String {
    match told.removed() {
        Some(path) => format!("has left {round}: removed {}", text::value(path, 80)),
        None => format!("has left {round}"),
    }
}
