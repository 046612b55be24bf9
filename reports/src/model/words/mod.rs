//! Events in words, and what each family calls what pictures show.

mod barrier;
mod commit;
mod consensus;
mod control;
mod fault;
mod grant;
mod membership;
mod mends;
mod queue;
mod register;

use super::{DrawnHold, DrawnOperation, Mark, Role};
use crate::text;
pub use consensus::round_word;
pub use fault::lost;
pub use mends::Mend;
use zooquake_history::operation::{self, Family, Field, PATH, REMOVED, ensemble};
use zooquake_history::plan::ConsensusGoal;
use zooquake_history::{Event, EventType, Value};

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
    grant::LOCK,
    grant::RWLOCK,
    grant::ELECTION,
    grant::SEMAPHORE,
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::REGISTER,
    register::COUNTER,
    membership::FAMILY,
    ENSEMBLE,
    consensus::FAMILY,
];

/// What a family calls what these operations of its clients are drawn as; general words for an unknown one.
pub fn terms(family: &str, ops: &[DrawnOperation<'_>]) -> &'static Terms {
    let found = FAMILIES.iter().find(|words| words.spec.name == family);
    found.map_or(&GENERAL, |words| (words.terms)(ops))
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

/// How a family calls what legends and labels show; `None` for what it does not have.
#[derive(Debug)]
pub struct Terms {
    /// What begins the label of a hold, before what is held.
    pub holds: &'static str,
    /// A hold in a legend.
    pub hold: Option<&'static str>,
    /// Operations that wait for others.
    pub wait: Option<&'static str>,
    /// Operations that change something.
    pub work: &'static str,
    /// Operations that ask for something.
    pub take: Option<&'static str>,
    /// Operations that give up what the client had.
    pub leave: Option<&'static str>,
    /// The mark of what was taken.
    pub took: &'static str,
    /// The mark of what the resource refused.
    pub refused: Option<&'static str>,
    /// The mark of a lawful no.
    pub no: Option<&'static str>,
}

/// Of a family that has no words of its own.
const GENERAL: Terms = Terms {
    holds: "holds",
    hold: Some("holds"),
    wait: Some("waits"),
    work: "works",
    take: Some("takes"),
    leave: Some("gives back"),
    took: "accepted",
    refused: Some("refused"),
    no: Some("no"),
};

impl Terms {
    /// Holds that are here: whether they are shared, with the family's words for them.
    pub fn holds<'h>(&self, holds: impl Iterator<Item = &'h DrawnHold<'h>>) -> Vec<(bool, String)> {
        let Some(words) = self.hold else { return Vec::new() };
        let mut here = [false; 2];
        holds.for_each(|hold| here[usize::from(hold.shared)] = true);
        let all = [(false, words.to_owned()), (true, format!("{words} shared"))];
        all.into_iter()
            .filter(|(shared, _)| here[usize::from(*shared)])
            .collect()
    }

    /// Roles that operations have here, with the family's words for them.
    pub fn roles(&self, ops: &[&DrawnOperation<'_>]) -> Vec<(Role, &'static str)> {
        let roles = [
            (Role::Wait, self.wait),
            (Role::Work, Some(self.work)),
            (Role::Take, self.take),
            (Role::Leave, self.leave),
        ];
        let here = |role| ops.iter().any(|op| op.role == role && !op.control);
        let named = roles.into_iter().filter_map(|(role, words)| Some((role, words?)));
        named.filter(|(role, _)| here(*role)).collect()
    }

    /// Marks that answers have here, with the family's words for them.
    pub fn marks(&self, ops: &[&DrawnOperation<'_>]) -> Vec<(Mark, &'static str)> {
        let marks = [
            (Mark::Took, Some(self.took)),
            (Mark::Refused, self.refused),
            (Mark::No, self.no),
        ];
        let here = |mark| ops.iter().any(|op| op.mark() == mark);
        let named = marks.into_iter().filter_map(|(mark, words)| Some((mark, words?)));
        named.filter(|(mark, _)| here(*mark)).collect()
    }
}

/// The family `ensemble`, whose runs have no clients.
const ENSEMBLE: FamilyWords = FamilyWords {
    spec: &ensemble::FAMILY,
    terms: |_| &GENERAL,
    predicate: |_| None,
};

/// An event with its invocation, because a completion may leave out fields of that.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'a> {
    pub event: &'a Event,
    /// What it answers, if it is a completion.
    pub invoke: Option<&'a Event>,
    /// What the run's family grants; empty if nothing is known to be granted.
    pub thing: &'static str,
    /// What the run's consensus protocol is for.
    pub goal: ConsensusGoal,
    /// What that is called in which its nodes vote for a value.
    pub voting: &'static str,
}

impl<'a> EventContext<'a> {
    /// The operation and how far it is.
    pub fn what(&self) -> (&'a str, EventType) {
        (&self.event.f, self.event.kind)
    }

    /// A field of the value, whatever it is; of the invocation's where the event has none.
    pub fn get<T: ?Sized>(&self, field: Field<T>) -> Option<&'a Value> {
        let own = self.event.get(field.any());
        own.or_else(|| self.invoke.and_then(|invoke| invoke.get(field.any())))
    }

    /// A field as it is shown; `…` if there is none.
    pub fn field<T: ?Sized>(&self, field: Field<T>) -> String {
        self.get(field).map_or("…".into(), |value| shown(value, 120))
    }

    /// A field of the event; that of the invocation where the event has none.
    pub fn read<T>(&self, field: fn(&'a Event) -> Option<T>) -> Option<T> {
        field(self.event).or_else(|| field(self.invoke?))
    }

    /// The same in words; nothing where neither has the field.
    pub fn told<T>(&self, field: fn(&'a Event) -> Option<T>, words: impl Fn(T) -> String) -> String {
        self.read(field).map(words).unwrap_or_default()
    }

    /// `, czxid 0x100000007`, if the event has one.
    pub fn czxid(&self) -> String {
        self.told(Event::czxid, |zxid| format!(", czxid {zxid:#x}"))
    }

    /// `, mzxid 0x100000007`, if the event has one.
    pub fn mzxid(&self) -> String {
        self.told(Event::mzxid, |zxid| format!(", mzxid {zxid:#x}"))
    }

    /// The path of the znode that it removed, as it stands there.
    pub fn removed(&self) -> Option<&'a Value> {
        PATH.any().read_from(self.get(REMOVED)?)
    }

    /// What it has done, and which znode it removed by that, if that is known.
    pub fn with_removed(&self, done: String) -> String {
        match self.removed() {
            Some(path) => format!("{done}: removed {}", text::value(path, 80)),
            None => done,
        }
    }

    /// How long it is to work before it does what it is asked for; `None` if not at all.
    pub fn work(&self) -> Option<String> {
        let ms = self.read(Event::work_ms).filter(|ms| *ms > 0)?;
        Some(text::millis(ms.unsigned_abs()))
    }

    /// What became of an operation of which nothing more is known than its failure.
    pub fn failed(&self, doing: &str) -> Option<String> {
        match self.event.kind {
            EventType::Fail => Some(format!("has certainly not {doing}")),
            EventType::Info => Some(format!("may or may not have {doing}")),
            EventType::Invoke | EventType::Ok => None,
        }
    }
}

/// A value on one line; `nothing` for null, which would be invisible.
fn shown(value: &Value, max: usize) -> String {
    match value {
        Value::Null => "nothing".into(),
        value => text::value(value, max),
    }
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
