//! Of consensus protocols: what clients ask for, and what nodes make public.

use super::FamilyWords;
use super::context::EventContext;
use crate::model::terms::{GENERAL, Terms};
use zooquake_history::EventType::{Info, Invoke, Ok};
use zooquake_history::operation::consensus::{self, CONTENT, f};

const TERMS: Terms = Terms {
    work: "proposes or appends",
    took: "answered",
    ..GENERAL
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &consensus::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// The predicate of an event of a consensus protocol.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    let value = |name: &str| match context.event.value.get(name) {
        Some(value) => value.to_string().replace('"', ""),
        None => "?".to_owned(),
    };
    let round = || value("round");
    Some(match context.what() {
        (f::PROPOSE, Invoke) => format!("proposes {}", context.field(CONTENT)),
        (f::PROPOSE, Ok) => format!("is answered that {} is chosen", context.field(CONTENT)),
        (f::APPEND, Invoke) => format!("has message {} appended", context.field(CONTENT)),
        (f::APPEND, Ok) => format!("has message {} acknowledged", context.field(CONTENT)),
        (consensus::NODES, Info) => "names its nodes".to_owned(),
        ("learned", Info) => format!("learns that {} is chosen, in round {}", value("value"), round()),
        ("credentials", Info) => format!("has epoch {} and zxid {}", value("epoch"), value("zxid")),
        ("looking", Info) => format!("looks for a leader, in round {}", round()),
        ("elected", Info) => format!("is elected in round {} by {}", round(), value("voters")),
        ("leading", Info) => format!("leads, in round {}", round()),
        ("following", Info) => format!("follows {}, in round {}", value("leader"), round()),
        ("resigned", Info) => format!("leads and follows no longer, after round {}", round()),
        ("stored", Info) => format!("stores message {} at offset {}", value("value"), value("offset")),
        ("truncated", Info) => format!("cuts its log off at offset {}", value("offset")),
        _ => return None,
    })
}
