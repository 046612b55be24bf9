//! Which answers finish an operation, and what makes up for one that did not. Of an operation that no family has, `ok`
//! finishes it, and any other one makes up for it.

use crate::analysis::{Analysis, Op};
use zooquake_history::operation::{self, FinishRule, Replacement};
use zooquake_history::{Event, EventType};

/// What an operation is about, where an attempt at one does not make up for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationSubject<'a> {
    /// Nothing in particular.
    None,
    Transaction(&'a str),
    Round(i64),
}

/// What makes up for an attempt at an operation of this name that did not finish.
pub fn again(f: &str) -> Replacement {
    operation::op(f).map_or(Replacement::Any, |op| op.again)
}

/// Whether this answer finishes its operation.
pub fn finishes(answer: &Event) -> bool {
    let code = || answer.error.as_deref().unwrap_or_default();
    let finishes = operation::op(&answer.f).map_or(FinishRule::Ok, |op| op.finishes);
    match (finishes, answer.kind) {
        (FinishRule::WithOthers, _) => false,
        (_, EventType::Ok) | (FinishRule::OkOrFail, EventType::Fail) => true,
        (FinishRule::OkOrRefused, EventType::Fail) => answer.accepted() == Some(false) || code().starts_with("refused"),
        (FinishRule::OkOrMismatch, EventType::Fail) => matches!(code(), "" | "mismatch" | "bad-version"),
        _ => false,
    }
}

/// The round or the transaction that an operation is about.
pub fn unit<'a>(run: &Analysis<'a>, op: &Op<'_>) -> OperationSubject<'a> {
    let events = || op.invoke.into_iter().chain(op.end).map(|at| &run.events[at]);
    let transaction = events().find_map(|event| event.tx()).map(OperationSubject::Transaction);
    let round = || events().find_map(|event| event.round()).map(OperationSubject::Round);
    transaction.or_else(round).unwrap_or(OperationSubject::None)
}
