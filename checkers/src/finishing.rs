//! Which answers finish an operation, and what makes up for one that did not.

use crate::analysis::Analysis;
use crate::history::{Event, EventType};
use crate::ops::Op;

/// Which answers finish an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finishes {
    /// `ok`, whatever it says: a dequeue that finds nothing has finished too.
    Ok,
    /// `ok`, and `fail`: to be refused is what was asked for.
    OkOrFail,
    /// `ok`, and the refusal of the resource: `fail` with `"accepted":false`, or with the code `refused`.
    OkOrRefused,
    /// `ok`, and a mismatch of the compare-and-set: `fail` with that code or with none.
    OkOrMismatch,
    /// None of its own: it finishes with its round or its transaction.
    WithOthers,
}

/// What makes up for an attempt that did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// An operation of the same client and name, about the same round or transaction.
    Same,
    /// Any operation of the same client.
    Any,
}

/// What holds for each operation that clients are asked for; for one that is not named here an `ok` finishes, and any
/// other operation makes up for it.
const RULES: &[(&str, Finishes, Again)] = &[
    // Locks and elections.
    ("acquire", Finishes::Ok, Again::Same),
    ("elect", Finishes::Ok, Again::Same),
    ("try-acquire", Finishes::OkOrFail, Again::Same),
    ("write", Finishes::OkOrRefused, Again::Any),
    ("release", Finishes::Ok, Again::Any),
    ("resign", Finishes::Ok, Again::Any),
    // Queues and barriers.
    ("enqueue", Finishes::Ok, Again::Same),
    ("dequeue", Finishes::Ok, Again::Same),
    ("acknowledge", Finishes::Ok, Again::Any),
    ("enter", Finishes::Ok, Again::Same),
    ("leave", Finishes::Ok, Again::Any),
    ("join", Finishes::Ok, Again::Any),
    ("close", Finishes::Ok, Again::Any),
    // Two-phase commits.
    ("begin", Finishes::WithOthers, Again::Any),
    ("vote", Finishes::WithOthers, Again::Any),
    ("decide", Finishes::Ok, Again::Same),
    ("decided", Finishes::Ok, Again::Same),
    // Registers; their `write` is as above.
    ("read", Finishes::Ok, Again::Any),
    ("cas", Finishes::OkOrMismatch, Again::Any),
];

/// What an operation is about, where an attempt at one does not make up for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit<'a> {
    /// Nothing in particular.
    None,
    /// A transaction.
    Transaction(&'a str),
    /// A round.
    Round(i64),
}

fn rule(f: &str) -> (Finishes, Again) {
    let rule = RULES.iter().find(|(name, _, _)| *name == f);
    rule.map_or((Finishes::Ok, Again::Any), |&(_, finishes, again)| (finishes, again))
}

/// What makes up for an attempt at an operation of this name that did not finish.
pub fn again(f: &str) -> Again {
    rule(f).1
}

/// Whether this answer finishes its operation.
pub fn finishes(answer: &Event) -> bool {
    let code = || answer.error.as_deref().unwrap_or_default();
    match (rule(&answer.f).0, answer.kind) {
        (Finishes::WithOthers, _) => false,
        (_, EventType::Ok) | (Finishes::OkOrFail, EventType::Fail) => true,
        (Finishes::OkOrRefused, EventType::Fail) => answer.accepted() == Some(false) || code().starts_with("refused"),
        (Finishes::OkOrMismatch, EventType::Fail) => matches!(code(), "" | "mismatch" | "bad-version"),
        _ => false,
    }
}

/// The round or the transaction that an operation is about.
pub fn unit<'a>(run: &Analysis<'a>, op: &Op<'_>) -> Unit<'a> {
    let events = || op.invoke.into_iter().chain(op.end).map(|at| &run.events[at]);
    let transaction = events().find_map(|event| event.tx()).map(Unit::Transaction);
    let round = || events().find_map(|event| event.round()).map(Unit::Round);
    transaction.or_else(round).unwrap_or(Unit::None)
}
