//! Events in words, and what each family calls what pictures show; one family a file.

mod barrier;
mod commit;
mod consensus;
mod context;
mod control;
mod counter;
mod election;
mod ensemble;
mod fault;
mod grant;
mod lock;
mod membership;
mod mends;
mod protocol_mends;
mod queue;
mod recipe_mends;
mod register;
mod rwlock;
mod semaphore;

pub use consensus::round_word;
pub use context::EventContext;
pub use fault::lost;
pub use mends::Mend;

use super::DrawnOperation;
use super::terms::{self, Terms};
use crate::text;
use zooquake_history::operation::{self, Family};
use zooquake_history::{Event, EventType};

/// A family and its words.
#[derive(Debug)]
struct FamilyWords {
    /// Its name and operations.
    spec: &'static Family,
    /// Words for legends and labels, by the operations that are drawn.
    terms: fn(&[DrawnOperation<'_>]) -> &'static Terms,
    /// The predicate of an event of the family; `None` if it is none of its own.
    predicate: fn(EventContext<'_>) -> Option<String>,
}

/// The families, as in [`zooquake_history::operation::FAMILIES`].
const FAMILIES: &[FamilyWords; operation::FAMILIES.len()] = &[
    lock::FAMILY,
    rwlock::FAMILY,
    election::FAMILY,
    semaphore::FAMILY,
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::FAMILY,
    counter::FAMILY,
    membership::FAMILY,
    ensemble::FAMILY,
    consensus::FAMILY,
];

/// What a family calls what these operations of its clients are drawn as; general words for an unknown one.
pub fn terms(family: &str, ops: &[DrawnOperation<'_>]) -> &'static Terms {
    let found = FAMILIES.iter().find(|words| words.spec.name == family);
    found.map_or(&terms::GENERAL, |words| (words.terms)(ops))
}

/// The predicate of an event: the rest of a sentence that begins with its client.
pub fn event(context: EventContext<'_>) -> String {
    let event = context.event;
    let families = FAMILIES.iter().map(|family| family.predicate);
    let mut predicates = [fault::predicate, control::predicate].into_iter().chain(families);
    let known = predicates.find_map(|predicate| predicate(context));
    let error = event
        .error
        .as_deref()
        .map(|e| format!(" ({})", text::clip(e, 120)))
        .unwrap_or_default();
    known.unwrap_or_else(|| plain(event)) + &error
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_of_histories_has_words() {
        let all = zooquake_history::operation::FAMILIES.iter().map(|family| family.name);
        assert!(all.eq(FAMILIES.iter().map(|words| words.spec.name)));
    }
}
