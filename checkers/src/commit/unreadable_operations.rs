//! Operations on transactions whose fields cannot be read: they may mean anything.

use crate::analysis::{Analysis, Op};
use zooquake_history::operation::commit::{Decision, SITES, f};
use zooquake_history::{Event, EventType};

/// Events whose transaction, sites, vote or decision cannot be read, and what they are; and whether a transaction
/// without a name that can be read was begun, or may have been.
pub fn unreadable_operations(run: &Analysis<'_>) -> (Vec<(usize, String)>, bool) {
    let (mut events, mut begun) = (Vec::new(), false);
    for op in &run.ops.work {
        if let Some((at, what)) = unread(run, op) {
            begun |= op.f == f::BEGIN && what == UNNAMED && op.failed(run.events).is_none();
            events.push((at, format!("the `{}` of {}, which {what}", op.f, op.node)));
        }
    }
    (events, begun)
}

const UNNAMED: &str = "names no transaction";

/// The event whose fields cannot be read or contradict the request, and why; `None` if all of the operation is
/// readable.
fn unread(run: &Analysis<'_>, op: &Op<'_>) -> Option<(usize, &'static str)> {
    let events = run.events;
    if !matches!(op.f, f::BEGIN | f::DECIDE | f::VOTE | f::DECIDED) {
        return None;
    }
    let done = op.end.filter(|&end| events[end].kind == EventType::Ok);
    let named = |at: Option<usize>| events[at?].tx();
    match (named(op.invoke), named(done)) {
        (None, None) => return Some((op.invoke.or(op.end)?, UNNAMED)),
        (Some(asked), Some(answered)) if asked != answered => {
            return Some((done?, "answers about another transaction"));
        }
        _ => {}
    }
    match op.f {
        f::BEGIN => Some((
            op.invoke.filter(|&at| sites(&events[at]).is_none())?,
            "names no sites that can be read",
        )),
        f::VOTE => {
            let voted = |&at: &usize| matches!(events[at].voted(), Some("yes" | "no"));
            Some((done.filter(|at| !voted(at))?, "is neither yes nor no"))
        }
        _ => {
            let decided = |&at: &usize| events[at].decision().and_then(Decision::read);
            Some((done.filter(|at| decided(at).is_none())?, "is neither commit nor abort"))
        }
    }
}

/// The sites that a `begin` names; `None` if there is what cannot be read.
pub fn sites(event: &Event) -> Option<Vec<&str>> {
    if event.get(SITES.any()).is_none() {
        return Some(Vec::new());
    }
    event.sites()?.iter().map(|site| site.as_str()).collect()
}
