//! What the engine knows of one client.

use super::Deadline;
use super::restart::Restart;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::operation::{self, Field, FieldType, Mode, Role};

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
    pub fn of(family: &str, f: &str) -> Self {
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

/// A grant that a client was given and that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Its name.
    pub grant: String,
    /// How it is held.
    pub mode: Mode,
}

/// What a client that holds owes before it gives back: an answer to a `confirm`, since a window was seen to be healed.
#[derive(Debug, Clone, Copy)]
pub struct Owed {
    /// Number of the last request that was sent to anybody before the last healing.
    pub after: u64,
    /// When it may give back all the same.
    pub(super) by: Deadline,
    /// How many of its answers to a `confirm` were `info` since it was last asked to work.
    pub unknown: u32,
}

/// An operation of the recipe that was sent and is not answered.
#[derive(Debug, Clone)]
pub struct Op {
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

/// Operations of one name that a client was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// How many.
    pub count: u64,
    /// When the last one was sent.
    pub since: Duration,
    /// Milliseconds of work in the last one.
    pub work_ms: u64,
}

/// How an operation ended.
#[derive(Debug, Clone)]
pub struct End {
    /// The type of its completion.
    pub kind: EventType,
    /// Its value.
    pub value: Value,
    /// Why it failed or is unknown.
    pub error: Option<String>,
}

impl End {
    /// Whether it happened.
    pub fn is_ok(&self) -> bool {
        self.kind == EventType::Ok
    }

    /// What a field of its value says; `None` if it is missing or of another type.
    pub fn get<T: FieldType + ?Sized>(&self, field: Field<T>) -> Option<T::Read<'_, Value>> {
        field.of(&self.value)
    }
}

/// One client. All times are the engine's.
#[derive(Debug)]
pub struct Worker {
    /// `c1`, ….
    pub name: String,
    /// How often its process was started.
    pub incarnation: u64,
    /// Its logical process at the moment.
    pub process: u64,
    /// Whether its process takes requests; false while it is dead.
    pub connected: bool,
    /// Whether its process has said hello.
    pub greeted: bool,
    /// Whether its death was ordered by the nemesis.
    pub killed: bool,
    /// Whether its process, having ended by itself, is started again.
    pub(super) restart: Restart,
    /// How often its process has ended by itself while some window was on that still is.
    pub deaths: u32,
    /// The nemesis's report of a kill that waits for its process to run.
    pub killing: Option<u64>,
    /// When it does its next operation; `None` if something else has to happen first.
    pub due: Option<Duration>,
    /// Whether that is only the latest moment: it is looked at also when an operation of another ends.
    pub awaits: bool,
    /// The recipe's operation in flight.
    pub op: Option<Op>,
    /// The operation that was answered `ok` last, and when; `None` once another one was sent, or its process has ended.
    pub answered: Option<(&'static str, Duration)>,
    /// What it was asked for so far, by name.
    pub sent: HashMap<&'static str, Sent>,
    /// Control requests in flight: number and operation.
    pub control: HashMap<u64, &'static str>,
    /// How the grant is to be held that it asked for last.
    pub mode: Mode,
    /// The grant that it was given and that has not ended.
    pub hold: Option<Hold>,
    /// Number of the last request that was sent to anybody before that grant was read.
    pub held_after: u64,
    /// What it owes before it gives that back.
    pub owed: Option<Owed>,
    /// Whether its release is due, and waits for that.
    pub withheld: bool,
    /// When it was last sent a `confirm`.
    pub confirmed: Option<Duration>,
    /// Whether it answers control requests while an operation is pending.
    pub beside: bool,
    /// Number of the `quiesce` sent last.
    pub quiesce: Option<u64>,
    /// Whether it answered that one, or was seen running instead.
    pub quiesced: bool,
    /// How its last operation ended.
    pub last: Option<End>,
    /// Whether its last operation since the phase `final` began was not answered `ok`.
    pub failing: bool,
    /// How its last `confirm` ended.
    pub last_confirm: Option<EventType>,
    /// The nemesis's report that is answered when its restarted process says hello.
    pub awaited: Option<u64>,
}

impl Worker {
    /// A client before its process was started; `number` counts from 0.
    pub fn new(number: usize) -> Self {
        Self {
            name: format!("c{}", number + 1),
            incarnation: 0,
            process: number as u64,
            connected: false,
            greeted: false,
            killed: false,
            restart: Restart::None,
            deaths: 0,
            killing: None,
            due: None,
            awaits: false,
            op: None,
            answered: None,
            sent: HashMap::new(),
            control: HashMap::new(),
            mode: Mode::Exclusive,
            hold: None,
            held_after: 0,
            owed: None,
            withheld: false,
            confirmed: None,
            beside: true,
            quiesce: None,
            quiesced: false,
            last: None,
            failing: false,
            last_confirm: None,
            awaited: None,
        }
    }

    /// Whether its process runs and has said hello.
    pub fn runs(&self) -> bool {
        self.greeted && self.connected
    }

    /// Whether it holds this grant.
    pub fn holds(&self, grant: &str) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.grant == grant)
    }

    /// Whether it can be given an operation.
    pub fn idle(&self) -> bool {
        self.runs() && self.op.is_none()
    }

    /// Whether it can answer a control request now.
    pub fn answers(&self) -> bool {
        self.beside || self.op.is_none()
    }

    /// Whether a control request of this kind is in flight.
    pub fn asked(&self, f: &str) -> bool {
        self.control.values().any(|asked| *asked == f)
    }
}
