//! Holds: spans in which a client has what others wait for, from the answer that gave it to the first sign of its end.
//!
//! A grant of a lock, a term, a claim of an item, a stay in a round; and of a site, that it has voted yes and must wait
//! for the decision.

use super::{Lanes, Role, Subject};
use std::collections::HashMap;
use zooquake_checkers::{Event, EventType};
use zooquake_history::operation;

/// A span in which a client held.
#[derive(Debug)]
pub struct Hold<'a> {
    /// Row of the client.
    pub lane: usize,
    /// What it held.
    pub what: Option<Subject<'a>>,
    /// When its beginning was read.
    pub from: u64,
    /// When it ended; `None` if nothing says that it did.
    pub until: Option<u64>,
    /// What ended it, in a word or two.
    pub ended_by: &'static str,
}

/// The holds of a history, by their beginnings.
pub fn find<'a>(events: &'a [Event], lanes: &Lanes) -> Vec<Hold<'a>> {
    let mut holds: Vec<Hold> = Vec::new();
    let mut held: HashMap<usize, Vec<usize>> = HashMap::new();
    for event in events {
        let Some(lane) = lanes.row(event) else { continue };
        if begins(event) {
            held.entry(lane).or_default().push(holds.len());
            holds.push(Hold {
                lane,
                what: Subject::of(event),
                from: event.time,
                until: None,
                ended_by: "",
            });
        } else if let Some(ended_by) = ends(event)
            && let Some(open) = held.get_mut(&lane)
        {
            let what = Subject::of(event);
            open.retain(|&i| {
                let hold = &mut holds[i];
                let ended = match what {
                    Some(_) => what == hold.what,
                    None => ends_unnamed(event, hold.what),
                };
                if ended {
                    hold.until = Some(event.time);
                    hold.ended_by = ended_by;
                }
                !ended
            });
        }
    }
    holds
}

/// Whether the event is the answer that begins a hold.
fn begins(event: &Event) -> bool {
    event.kind == EventType::Ok
        && match event.f.as_str() {
            // Only a claim has a znode; elsewhere an item is delivered as soon as it is taken.
            "dequeue" => event.item().is_some() && event.path().is_some(),
            "vote" => event.voted() == Some("yes"),
            "join" => event.round().is_some(),
            "decide" | "decided" => false,
            f => operation::role(f) == Role::Wait,
        }
}

/// What an event says of the end of a hold, if it says so.
fn ends(event: &Event) -> Option<&'static str> {
    match (event.f.as_str(), event.kind) {
        ("acknowledge", EventType::Invoke) => Some("acknowledged"),
        ("leave" | "close", EventType::Invoke) => Some("left"),
        (f, EventType::Invoke) if operation::role(f) == Role::Leave => Some("released"),
        ("decided", EventType::Ok) => Some(match event.decision() {
            Some("commit") => "told to commit",
            _ => "told to abort",
        }),
        ("lost", EventType::Info) => Some("lost"),
        ("exit", EventType::Info) => Some("process died"),
        ("confirm", EventType::Ok) if event.holds() == Some(false) => Some("says that it holds no more"),
        ("write", EventType::Fail) if event.error.as_deref() == Some("not-held") => Some("says that it holds no more"),
        _ => None,
    }
}

/// Whether an event that names nothing ends a hold.
fn ends_unnamed(event: &Event, what: Option<Subject<'_>>) -> bool {
    match what {
        // A vote is in the site's log: its process may die, and it is bound all the same.
        Some(Subject::Transaction(_)) => false,
        // That a client holds no more is said of grants.
        Some(Subject::Item(_) | Subject::Round(_)) => event.f == "exit",
        Some(Subject::Grant(_)) | None => true,
    }
}
