//! Holds: from the reading of a grant to the first sign of its end.

use super::{Lanes, Role};
use std::collections::HashMap;
use zooquake_checkers::{Event, EventType};

/// A span in which a client held.
#[derive(Debug)]
pub struct Hold<'a> {
    /// Row of the client.
    pub lane: usize,
    /// Name of the grant.
    pub grant: &'a str,
    /// When the grant was read.
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
        if event.kind == EventType::Ok && Role::of(&event.f) == Role::Wait {
            held.entry(lane).or_default().push(holds.len());
            let grant = event.str("grant").unwrap_or("");
            holds.push(Hold {
                lane,
                grant,
                from: event.time,
                until: None,
                ended_by: "",
            });
        } else if let Some(ended_by) = ends(event)
            && let Some(open) = held.get_mut(&lane)
        {
            let grant = event.str("grant");
            open.retain(|&i| {
                let hold = &mut holds[i];
                let ended = grant.is_none_or(|g| g == hold.grant);
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

/// What an event says of the end of a hold, if it says so.
fn ends(event: &Event) -> Option<&'static str> {
    match (event.f.as_str(), event.kind) {
        (f, EventType::Invoke) if Role::of(f) == Role::Leave => Some("released"),
        ("lost", EventType::Info) => Some("lost"),
        ("exit", EventType::Info) => Some("process died"),
        ("confirm", EventType::Ok) if event.bool("holds") == Some(false) => Some("says that it holds no more"),
        ("write", EventType::Fail) if event.error.as_deref() == Some("not-held") => Some("says that it holds no more"),
        _ => None,
    }
}
