//! Operations: an invocation and what came of it.

use super::{Lanes, Subject};
use std::collections::HashMap;
use zooquake_checkers::{Event, EventType, Process};
use zooquake_history::operation;
pub use zooquake_history::operation::Role;

/// What the answer to an operation says, where a picture marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The resource refused the write.
    Refused,
    /// It took the write, or the item; or all is well so far: a vote for yes, a decision to commit.
    Took,
    /// Nothing to mark.
    Nothing,
    /// A lawful no: a vote for no, a decision to abort.
    No,
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
    /// What it is about: of a dequeue that is what it was given.
    pub fn subject(&self) -> Option<Subject<'a>> {
        Subject::of(self.invoke).or_else(|| self.answer.and_then(Subject::of))
    }

    /// What its answer says.
    pub fn mark(&self) -> Mark {
        let Some(answer) = self.answer.filter(|_| !self.control) else {
            return Mark::Nothing;
        };
        let given = || answer.item().map(|_| true);
        let yes = match self.f {
            "decide" | "decided" => answer.decision().map(|d| d == "commit"),
            "vote" => answer.voted().map(|v| v == "yes"),
            "dequeue" => given(),
            "begin" => None,
            _ if self.role == Role::Work => return arrived(answer),
            _ => None,
        };
        match yes.filter(|_| answer.kind == EventType::Ok) {
            Some(true) => Mark::Took,
            Some(false) => Mark::No,
            None => Mark::Nothing,
        }
    }

    /// How long it took.
    pub fn latency(&self) -> Option<u64> {
        Some(self.end?.saturating_sub(self.start))
    }
}

/// Whether the resource took the write that an operation brought; nothing if none arrived, as far as is known.
fn arrived(answer: &Event) -> Mark {
    match (answer.kind, answer.accepted()) {
        (_, Some(false)) => Mark::Refused,
        (EventType::Ok, _) | (_, Some(true)) => Mark::Took,
        (_, None) => Mark::Nothing,
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
                    role: if control {
                        Role::Other
                    } else {
                        operation::role(&event.f)
                    },
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
