//! Of the families that grant something, which are locks, read-write locks, elections and semaphores: grants and terms.

use super::{EventContext, FamilyWords, Terms};
use crate::text;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::control::WHY;
use zooquake_history::operation::grant::{GRANT, VALUE, f};
use zooquake_history::operation::{Mode, election, lock, rwlock, semaphore};

const LOCK_TERMS: Terms = Terms {
    holds: "holds",
    hold: Some("holds"),
    wait: Some("waits"),
    work: "works, then writes",
    take: Some("reads"),
    leave: Some("releases"),
    took: "write accepted",
    refused: Some("refused"),
    no: None,
};

/// The family `lock`.
pub(super) const LOCK: FamilyWords = FamilyWords {
    spec: &lock::FAMILY,
    terms: |_| &LOCK_TERMS,
    predicate,
};

/// The family `rwlock`, in the words of a lock.
pub(super) const RWLOCK: FamilyWords = FamilyWords {
    spec: &rwlock::FAMILY,
    terms: |_| &LOCK_TERMS,
    predicate,
};

const ELECTION_TERMS: Terms = Terms {
    holds: "leads under",
    hold: Some("leads"),
    wait: Some("stands for election"),
    leave: Some("resigns"),
    ..LOCK_TERMS
};

/// The family `election`.
pub(super) const ELECTION: FamilyWords = FamilyWords {
    spec: &election::FAMILY,
    terms: |_| &ELECTION_TERMS,
    predicate,
};

const SEMAPHORE_TERMS: Terms = Terms {
    work: "works",
    took: "has worked",
    refused: None,
    ..LOCK_TERMS
};

/// The family `semaphore`.
pub(super) const SEMAPHORE: FamilyWords = FamilyWords {
    spec: &semaphore::FAMILY,
    terms: |_| &SEMAPHORE_TERMS,
    predicate,
};

/// The predicate of a grant's event.
fn predicate(context: EventContext<'_>) -> Option<String> {
    match context.event.f.as_str() {
        f::ACQUIRE | f::RELEASE if context.thing.is_empty() => granted(context, "the lock"),
        f::ACQUIRE | f::RELEASE => granted(context, context.thing),
        f::ELECT | f::RESIGN => granted(context, "the leadership"),
        f::READ if context.get(GRANT).is_some() => read(context),
        f::WRITE if context.get(GRANT).is_some() => write(context),
        f::WORK => Some(work(context)),
        "lost" => Some(format!("loses {}: {}", grant(context), context.field(WHY))),
        _ => None,
    }
}

/// The name of the grant.
pub fn grant(context: EventContext<'_>) -> String {
    text::clip(context.read(Event::grant).unwrap_or("a grant"), 40)
}

/// Of asking for a grant of `thing`, and of giving it back.
fn granted(context: EventContext<'_>, thing: &str) -> Option<String> {
    let grant = grant(context);
    let shared = if context.read(Event::mode) == Some(Mode::Shared) {
        ", shared"
    } else {
        ""
    };
    Some(match context.what() {
        (f::ACQUIRE | f::ELECT, Invoke) => format!("asks for {thing}{shared} ({grant})"),
        (f::ACQUIRE | f::ELECT, Ok) => {
            let age = context.read(Event::token).map(|t| format!(", token {t:#x}"));
            let age = age.unwrap_or_else(|| context.czxid());
            format!("is granted {thing}: {grant}{shared}{age}")
        }
        (f::ACQUIRE | f::ELECT, Fail) => format!("is not granted {thing} ({grant})"),
        (f::ACQUIRE | f::ELECT, Info) => format!("may or may not have left something of {grant} behind"),
        (f::RELEASE | f::RESIGN, Invoke) => format!("gives {grant} back"),
        (f::RELEASE | f::RESIGN, Ok) => context.with_removed(format!("has released {grant}")),
        (f::RELEASE | f::RESIGN, Fail) => format!("has not released {grant}"),
        _ => format!("may or may not have released {grant}"),
    })
}

fn work(context: EventContext<'_>) -> String {
    let grant = grant(context);
    match context.event.kind {
        Invoke => match context.work() {
            Some(work) => format!("works {work} under {grant}"),
            None => format!("works under {grant}"),
        },
        Ok => format!("has worked under {grant}"),
        Fail => format!("does not work under {grant}"),
        Info => format!("may or may not have worked under {grant}"),
    }
}

fn read(context: EventContext<'_>) -> Option<String> {
    let grant = grant(context);
    Some(match context.event.kind {
        Invoke => match context.work() {
            Some(work) => format!("works {work} under {grant}, to read"),
            None => format!("asks for the value under {grant}"),
        },
        Ok => format!("reads {} under {grant}", context.field(VALUE)),
        Fail | Info => format!("reads nothing under {grant}"),
    })
}

fn write(context: EventContext<'_>) -> Option<String> {
    let (value, grant) = (context.field(VALUE), grant(context));
    Some(match (context.event.kind, context.event.accepted()) {
        (Invoke, _) => match context.work() {
            Some(work) => format!("works {work} under {grant}, to write {value}"),
            None => format!("writes {value} under {grant}"),
        },
        (Ok, Some(true)) => format!("writes {value} under {grant}: accepted by the resource"),
        (Ok, _) => match context.read(Event::mzxid) {
            Some(zxid) => format!("writes {value} under {grant}, as zxid {zxid:#x}"),
            None => format!("writes {value} under {grant}"),
        },
        (Fail, Some(false)) => format!("writes {value} under {grant}: not accepted"),
        (Fail, _) => format!("does not write under {grant}"),
        (Info, _) => format!("may or may not have written {value} under {grant}"),
    })
}
