//! Of locks, elections and semaphores: grants and terms.

use super::Told;
use crate::text;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::Mode;
use zooquake_history::operation::control::WHY;
use zooquake_history::operation::grant::{GRANT, VALUE};

/// What the event says of a grant.
pub fn tell(told: Told<'_>) -> Option<String> {
    match told.event.f.as_str() {
        "acquire" | "release" if told.thing.is_empty() => granted(told, "the lock"),
        "acquire" | "release" => granted(told, told.thing),
        "elect" | "resign" => granted(told, "the leadership"),
        "read" if told.get(GRANT).is_some() => read(told),
        "write" if told.get(GRANT).is_some() => write(told),
        "work" => Some(work(told)),
        "lost" => Some(format!("loses {}: {}", grant(told), told.field(WHY))),
        _ => None,
    }
}

/// The name of the grant.
pub fn grant(told: Told<'_>) -> String {
    text::clip(told.of(Event::grant).unwrap_or("a grant"), 40)
}

/// Of asking for a grant of `thing`, and of giving it back.
fn granted(told: Told<'_>, thing: &str) -> Option<String> {
    let grant = grant(told);
    let shared = if told.of(Event::mode) == Some(Mode::Shared) {
        ", shared"
    } else {
        ""
    };
    Some(match told.what() {
        ("acquire" | "elect", Invoke) => format!("asks for {thing}{shared} ({grant})"),
        ("acquire" | "elect", Ok) => {
            let age = told.of(Event::token).map(|t| format!(", token {t:#x}"));
            let age = age.unwrap_or_else(|| told.czxid());
            format!("is granted {thing}: {grant}{shared}{age}")
        }
        ("acquire" | "elect", Fail) => format!("is not granted {thing} ({grant})"),
        ("acquire" | "elect", Info) => format!("does not know whether it left anything of {grant} behind"),
        ("release" | "resign", Invoke) => format!("gives {grant} back"),
        ("release" | "resign", Ok) => match told.removed() {
            Some(path) => format!("has released {grant}: removed {}", text::value(path, 80)),
            None => format!("has released {grant}"),
        },
        ("release" | "resign", Fail) => format!("has not released {grant}"),
        _ => format!("may or may not have released {grant}"),
    })
}

fn work(told: Told<'_>) -> String {
    let grant = grant(told);
    match told.event.kind {
        Invoke => match told.work() {
            Some(work) => format!("works {work} under {grant}"),
            None => format!("works under {grant}"),
        },
        Ok => format!("has worked under {grant}"),
        Fail => format!("does not work under {grant}"),
        Info => format!("may or may not have worked under {grant}"),
    }
}

fn read(told: Told<'_>) -> Option<String> {
    let grant = grant(told);
    Some(match told.event.kind {
        Invoke => match told.work() {
            Some(work) => format!("works {work} under {grant}, to read"),
            None => format!("asks for the value under {grant}"),
        },
        Ok => format!("reads {} under {grant}", told.field(VALUE)),
        Fail | Info => format!("reads nothing under {grant}"),
    })
}

fn write(told: Told<'_>) -> Option<String> {
    let (value, grant) = (told.field(VALUE), grant(told));
    Some(match (told.event.kind, told.event.accepted()) {
        (Invoke, _) => match told.work() {
            Some(work) => format!("works {work} under {grant}, to write {value}"),
            None => format!("writes {value} under {grant}"),
        },
        (Ok, Some(true)) => format!("writes {value} under {grant}: accepted by the resource"),
        (Ok, _) => match told.of(Event::mzxid) {
            Some(zxid) => format!("writes {value} under {grant}, as zxid {zxid:#x}"),
            None => format!("writes {value} under {grant}"),
        },
        (Fail, Some(false)) => format!("writes {value} under {grant}: not accepted"),
        (Fail, _) => format!("does not write under {grant}"),
        (Info, _) => format!("may or may not have written {value} under {grant}"),
    })
}
