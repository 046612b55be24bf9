//! Operations of the recipes: what they are for, those in flight, and how they ended.

use serde_json::Value;
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::{self, Field, FieldType, Role};
use zooquake_history::protocol::Outcome;

/// What an operation is for holds and for triggers, whatever its family calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Asks for a grant.
    Acquire,
    /// Works under a grant, and reads.
    Read,
    /// Works under a grant, and writes where its family does.
    Write,
    /// Gives a grant back: the hold ends when it is sent.
    Release,
    /// Waits for other clients.
    Meet,
    /// Anything else.
    Single,
}

impl OpKind {
    /// What an operation of a family is for.
    pub fn in_family(family: &str, f: &str) -> Self {
        let grants = operation::family(family).is_some_and(|family| family.grants);
        match operation::op(f).map(|op| (op.role, op.waits)) {
            Some((Role::Wait, _)) if grants => Self::Acquire,
            Some((Role::Take, _)) if grants => Self::Read,
            Some((Role::Work, _)) if grants => Self::Write,
            Some((Role::Leave, _)) if grants => Self::Release,
            Some((_, true)) => Self::Meet,
            _ => Self::Single,
        }
    }
}

/// An operation of the recipe that was sent and is not answered.
#[derive(Debug, Clone)]
pub struct PendingOp {
    /// Number of the request.
    pub id: u64,
    /// What its family calls it.
    pub f: &'static str,
    /// What it is.
    pub kind: OpKind,
    /// The grant it is about.
    pub grant: String,
    /// Milliseconds of work in it.
    pub work_ms: u64,
    /// When it was sent.
    pub since: Duration,
    /// How long since recovery a grant of the client's mode could have been given, when it was sent.
    pub free_at: Duration,
}

impl PendingOp {
    /// Adds its duration to those of answered operations, if it was answered `ok` at this moment and was no work under
    /// a grant.
    pub fn measure(&self, end: &Completion, now: Duration, answered: &mut AnsweredDurations) {
        if end.is_ok() && !matches!(self.kind, OpKind::Read | OpKind::Write) {
            answered.add(self.f, now.saturating_sub(self.since));
        }
    }
}

/// Operations of one name that a client was asked for.
#[derive(Debug, Clone, Copy)]
pub struct SentTally {
    /// How many.
    pub count: u64,
    /// When the last one was sent.
    pub since: Duration,
    /// Milliseconds of work in the last one.
    pub work_ms: u64,
}

/// How an operation ended.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The type of its completion.
    pub kind: EventType,
    pub value: Value,
    /// Why it failed or is unknown.
    pub error: Option<String>,
}

impl Completion {
    pub fn from_reply(outcome: Outcome, value: Value, error: Option<String>) -> Self {
        let kind = match outcome {
            Outcome::Ok => EventType::Ok,
            Outcome::Fail => EventType::Fail,
            Outcome::Info => EventType::Info,
        };
        Self { kind, value, error }
    }

    /// Whether it happened.
    pub fn is_ok(&self) -> bool {
        self.kind == EventType::Ok
    }

    /// A field of its value; `None` if it is missing or of another type.
    pub fn get<T: FieldType + ?Sized>(&self, field: Field<T>) -> Option<T::Read<'_, Value>> {
        field.read_from(&self.value)
    }
}
