//! Operations: an invocation and what came of it.

use super::Lanes;
use std::collections::HashMap;
use zooquake_checkers::{Event, EventType, Process};

/// What an operation is for, in any family of recipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Waits for others: acquire, elect, enter, decided.
    Wait,
    /// Works on the resource: write.
    Work,
    /// Gives up what it had: release, resign, leave.
    Leave,
    /// Anything else.
    Other,
}

impl Role {
    /// The role of an operation by its name.
    pub fn of(f: &str) -> Self {
        match f {
            "acquire" | "try-acquire" | "elect" | "enter" | "join" | "decided" => Self::Wait,
            "write" | "work" => Self::Work,
            "release" | "resign" | "leave" => Self::Leave,
            _ => Self::Other,
        }
    }
}

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It happened.
    Ok,
    /// It certainly did not.
    Fail,
    /// Nobody knows.
    Info,
    /// It was not answered by the end.
    Pending,
}

impl Outcome {
    /// All of them, in the order of legends.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Fail, Self::Info, Self::Pending];

    /// Its name in legends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fail => "fail",
            Self::Info => "info",
            Self::Pending => "pending",
        }
    }
}

/// One operation.
#[derive(Debug)]
pub struct Op<'a> {
    /// Row of its client.
    pub lane: usize,
    /// Its name.
    pub f: &'a str,
    /// What it is for.
    pub role: Role,
    /// Whether it is a control request, which runs beside the client's operations.
    pub control: bool,
    /// When it was sent.
    pub start: u64,
    /// When its answer was read, or it was given up.
    pub end: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
    /// The event that sent it.
    pub invoke: &'a Event,
    /// The event that ended it.
    pub answer: Option<&'a Event>,
}

impl<'a> Op<'a> {
    /// The grant it is about.
    pub fn grant(&self) -> Option<&'a str> {
        self.invoke.str("grant")
    }

    /// Whether the resource took the write that the operation brought; `None` if none arrived, as far as is known.
    pub fn accepted(&self) -> Option<bool> {
        let answer = self.answer.filter(|_| self.role == Role::Work)?;
        match (answer.kind, answer.bool("accepted")) {
            (EventType::Ok, accepted) => Some(accepted.unwrap_or(true)),
            (_, accepted) => accepted,
        }
    }

    /// How long it took.
    pub fn latency(&self) -> Option<u64> {
        Some(self.end?.saturating_sub(self.start))
    }
}

/// Pairs invocations with their ends.
pub fn pair<'a>(events: &'a [Event], lanes: &Lanes) -> Vec<Op<'a>> {
    let mut ops: Vec<Op> = Vec::new();
    let mut open: HashMap<(&Process, &str), usize> = HashMap::new();
    for event in events {
        let Some(lane) = lanes.row(event) else { continue };
        let control = matches!(event.process, Process::Name(_));
        // A numbered process does one thing at a time; on a client's lane requests are told apart by their names.
        let key = (&event.process, if control { event.f.as_str() } else { "" });
        let outcome = match event.kind {
            EventType::Invoke => {
                open.insert(key, ops.len());
                ops.push(Op {
                    lane,
                    f: &event.f,
                    role: if control { Role::Other } else { Role::of(&event.f) },
                    control,
                    start: event.time,
                    end: None,
                    outcome: Outcome::Pending,
                    invoke: event,
                    answer: None,
                });
                continue;
            }
            EventType::Ok => Outcome::Ok,
            EventType::Fail => Outcome::Fail,
            EventType::Info => Outcome::Info,
        };
        if let Some(op) = open.remove(&key).map(|i| &mut ops[i]) {
            op.end = Some(event.time);
            op.outcome = outcome;
            op.answer = Some(event);
        }
    }
    ops
}
