//! Events in words.

use crate::text;
use zooquake_checkers::{Event, EventType};

/// What an event says, as the rest of a sentence that begins with its client.
pub fn event(event: &Event) -> String {
    let known = match event.f.as_str() {
        "write" => write(event),
        "confirm" => confirm(event),
        "lost" => Some(format!("loses {}: {}", grant(event), field(event, "why"))),
        "exit" => Some("process has ended".into()),
        "hello" => Some(format!("process has started, session {}", field(event, "session"))),
        "session" => Some(format!("session {} {}", field(event, "session"), field(event, "state"))),
        _ if event.on_lane("nemesis") => Some(fault(event)),
        "acquire" | "release" => granted(event, "the lock"),
        "elect" | "resign" => granted(event, "the leadership"),
        _ => None,
    };
    let error = event
        .error
        .as_deref()
        .map(|e| format!(" ({})", text::clip(e, 120)))
        .unwrap_or_default();
    known.unwrap_or_else(|| plain(event)) + &error
}

fn grant(event: &Event) -> String {
    text::clip(event.str("grant").unwrap_or("a grant"), 40)
}

fn field(event: &Event, name: &str) -> String {
    text::value(event.value.get(name).unwrap_or(&serde_json::Value::Null), 120)
}

/// Of asking for a grant of `thing`, and of giving it back.
fn granted(event: &Event, thing: &str) -> Option<String> {
    let grant = grant(event);
    Some(match (event.f.as_str(), event.kind) {
        ("acquire" | "elect", EventType::Invoke) => format!("asks for {thing} ({grant})"),
        ("acquire" | "elect", EventType::Ok) => {
            let age = event.int("token").map(|t| format!("token {t:#x}"));
            let age = age.or_else(|| event.int("czxid").map(|z| format!("czxid {z:#x}")));
            format!(
                "is granted {thing}: {grant}{}",
                age.map(|a| format!(", {a}")).unwrap_or_default()
            )
        }
        ("release" | "resign", EventType::Invoke) => format!("gives {grant} back"),
        ("release" | "resign", EventType::Ok) => match event.value.get("removed").and_then(|r| r.get("path")) {
            Some(path) => format!("has released {grant}: removed {}", text::value(path, 80)),
            None => format!("has released {grant}"),
        },
        _ => return None,
    })
}

fn write(event: &Event) -> Option<String> {
    let (value, grant) = (field(event, "value"), grant(event));
    Some(match (event.kind, event.bool("accepted")) {
        (EventType::Invoke, _) => {
            let work = event.int("work_ms").unwrap_or(0).max(0).unsigned_abs();
            format!(
                "works {} under {grant}, to write {value}",
                text::duration(work.saturating_mul(1_000_000))
            )
        }
        (EventType::Ok, Some(true)) => format!("writes {value} under {grant}: accepted by the resource"),
        (EventType::Ok, _) => match event.int("mzxid") {
            Some(zxid) => format!("writes {value} under {grant}, as zxid {zxid:#x}"),
            None => format!("writes {value} under {grant}"),
        },
        (EventType::Fail, Some(false)) => format!("writes {value} under {grant}: not accepted"),
        (EventType::Fail, _) => format!("does not write under {grant}"),
        _ => return None,
    })
}

fn confirm(event: &Event) -> Option<String> {
    Some(match (event.kind, event.bool("holds")) {
        (EventType::Invoke, _) => "is asked whether it holds".into(),
        (EventType::Ok, Some(true)) => format!("confirms that it holds {}, after a quorum write", grant(event)),
        (EventType::Ok, _) => "says that it holds no more".into(),
        _ => "does not confirm anything".into(),
    })
}

fn fault(event: &Event) -> String {
    let kind = text::clip(&event.f, 40);
    let target = field(event, "target");
    match event.str("phase") {
        Some("on") => format!("{kind} of {target} is in effect"),
        Some("off") => format!("{kind} of {target} is healed"),
        Some(phase) => format!("{kind}: {}", text::clip(phase, 40)),
        None => kind,
    }
}

fn plain(event: &Event) -> String {
    let kind = match event.kind {
        EventType::Invoke => "is asked for",
        EventType::Ok => "has done",
        EventType::Fail => "has not done",
        EventType::Info => "notes",
    };
    format!("{kind} {} {}", text::clip(&event.f, 40), text::value(&event.value, 120))
        .trim_end()
        .to_owned()
}
