//! Of control requests, of the life of a client, and of the run's phases.

use super::{EventContext, grant, shown};
use crate::text;
use zooquake_history::operation::{
    SESSION,
    control::{STATE, UNASKED, f},
    nemesis::UNREACHABLE,
};
use zooquake_history::{
    Event,
    EventType::{self, Info, Invoke, Ok},
    Value,
};

/// The predicate of an event of a client's life, or of the run.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    Some(match context.what() {
        (f::CONFIRM, _) => confirm(context),
        (f::QUIESCE, kind) => quiesce(context, kind),
        (f::PING, Invoke) => "is asked whether it answers".into(),
        (f::PING, Ok) => "answers".into(),
        ("exit", _) => "process has ended".into(),
        ("hello", _) => {
            let session = context.told(Event::session, |session| {
                format!(", session {}", text::clip(session, 40))
            });
            format!("process has started{session}")
        }
        ("session", Info) => session(context),
        ("running", Info) => "is seen running, in place of an answer that it cannot give now".into(),
        (UNASKED, Info) => {
            let request = context.told(Event::request_id, |id| format!(" {id}"));
            format!("answers request{request}, which was not open")
        }
        ("stall", Info) if context.event.is_of("run") => {
            let length = context.told(Event::stalled_ms, |ms| {
                format!(" for {}", text::millis(ms.unsigned_abs()))
            });
            format!("stood still itself{length}")
        }
        (UNREACHABLE, Info) if context.event.is_of("run") => unreachable(context),
        ("phase", _) if context.event.is_of("run") => phase(context),
        _ => return None,
    })
}

fn unreachable(context: EventContext<'_>) -> String {
    let engines: Vec<&str> = context.event.unreachable().into_iter().flatten().collect();
    match engines.is_empty() {
        true => "reaches all Docker engines again".into(),
        false => format!("does not reach {}", text::clip(&engines.join(", "), 120)),
    }
}

fn confirm(context: EventContext<'_>) -> String {
    match (context.event.kind, context.event.holds()) {
        (Invoke, _) => "is asked to write to a quorum, and whether it holds".into(),
        (Ok, Some(true)) => format!("confirms that it holds {}, after a quorum write", grant::grant(context)),
        (Ok, _) => "reports that it holds nothing, after a quorum write".into(),
        _ => "does not confirm anything".into(),
    }
}

fn quiesce(context: EventContext<'_>, kind: EventType) -> String {
    let many = |list: Option<&[Value]>, noun| text::count(list.map_or(0, <[Value]>::len), noun);
    match kind {
        Invoke => "is asked to finish its background work, and to name its znodes".into(),
        Ok => format!(
            "has come to rest, with {} and {}",
            many(context.event.sessions(), "session"),
            many(context.event.znodes(), "znode")
        ),
        _ => "does not come to rest".into(),
    }
}

fn session(context: EventContext<'_>) -> String {
    let server = context.told(Event::server, |s| format!(" to {}", text::clip(s, 24)));
    format!("session {} {}{server}", context.field(SESSION), context.field(STATE))
}

/// The run's phases; the subject of the step is the run itself.
fn phase(context: EventContext<'_>) -> String {
    let known = match context.event.entered() {
        Some("ops") => "begins with operations and faults",
        Some("heal") => "has all faults healed from here on",
        Some("recover") => "waits for the ensemble and the clients to recover",
        Some("recovered") => "has recovered: from here on waiting counts",
        Some("calm") => "asks all for their views of the group, before the final operations",
        Some("not-recovered") => "has not recovered",
        Some("final") => "asks for the final operations",
        Some("views") => "asks all for their views of the group",
        Some("drained") => "has drained the queue: it was found empty three times in a row",
        Some("audit") => "reads the tree for the audit",
        Some("done") => "is done",
        Some("interrupted") => "was stopped by its user",
        _ => return format!("enters the phase {}", shown(&context.event.value, 40)),
    };
    known.to_owned()
}
