//! Of faults, and of what they took from whom.

use super::EventContext;
use crate::text;
use zooquake_history::fault::{HELD, LOST, OP};
use zooquake_history::operation::control::ZXID;
use zooquake_history::operation::{Field, PATH};
use zooquake_history::{Event, FaultKind};

/// The predicate of a fault's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    let event = context.event;
    if !event.is_of("nemesis") {
        return None;
    }
    let kind = text::clip(&event.f, 40);
    let target = context.told(Event::target, |t| format!(" of {}", text::clip(t, 60)));
    let detail = context.told(Event::detail, |d| format!(": {}", text::clip(d, 160)));
    Some(match event.phase() {
        Some("begin") => format!("{kind}{target} {}", FaultKind::by_name(&event.f).begins),
        Some("on") => {
            let effect = lost(event).map_or(detail, |lost| format!(": {lost}"));
            format!("{kind}{target} is in effect{effect}")
        }
        Some("heal") => format!("{kind}{target} is being healed"),
        Some("off") if event.verified() == Some(true) => format!("{kind}{target} is healed"),
        Some("off") => format!("{kind}{target} was not seen healed{detail}"),
        Some("skipped") => format!("{kind}{target} never began{detail}"),
        Some(phase) => format!("{kind}: {}", text::clip(phase, 40)),
        None => kind,
    })
}

/// Which request a fault on the wire took, or whose reply it took or kept back, from its `evidence`; `None` if it has
/// none.
///
/// The two look alike to the client; what differs is whether the servers applied the request.
pub fn lost(event: &Event) -> Option<String> {
    let evidence = event.evidence()?;
    let text = |field: Field<str>| field.read_from(evidence).map(|v| text::clip(v, 80));
    let path = text(PATH).map(|path| format!(" {path}")).unwrap_or_default();
    let request = format!("{}{path}", text(OP).unwrap_or_else(|| "a request".into()));
    let zxid = ZXID.read_from(evidence);
    if text(HELD).is_some() {
        let applied = zxid.map(|zxid| format!(", applied as zxid {zxid:#x}"));
        return Some(format!(
            "the reply to {request} was kept back{}",
            applied.unwrap_or_default()
        ));
    }
    Some(match (text(LOST).as_deref(), zxid) {
        (Some("reply"), Some(zxid)) => format!("the reply to {request} was lost, applied as zxid {zxid:#x}"),
        (Some("reply"), None) => format!("the reply to {request} was lost"),
        (Some("request"), _) => format!("{request} was lost on its way and never applied"),
        _ => format!("{request} was lost"),
    })
}
