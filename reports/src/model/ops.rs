//! Operations and holds as they are drawn: the checkers', each in the row of its client.

use super::Lanes;
use crate::text;
use zooquake_checkers::analysis::{self, Analysis, OperationOutcome, OperationSubject};
pub use zooquake_history::operation::Role;
use zooquake_history::operation::{self, Mode, barrier, commit, queue};
use zooquake_history::{Event, EventType};

/// What the answer to an operation means, where a picture marks it.
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

#[derive(Debug)]
pub struct DrawnOperation<'a> {
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
    pub outcome: OperationOutcome,
    /// The event that sent it.
    pub invoke: &'a Event,
    /// The event that ended it.
    pub answer: Option<&'a Event>,
}

impl<'a> DrawnOperation<'a> {
    /// What it is about: of a dequeue that is what it was given.
    pub fn subject(&self) -> Option<OperationSubject<'a>> {
        OperationSubject::from_event(self.invoke).or_else(|| self.answer.and_then(OperationSubject::from_event))
    }

    /// What its answer means.
    pub fn mark(&self) -> Mark {
        let Some(answer) = self.answer.filter(|_| !self.control) else {
            return Mark::Nothing;
        };
        let yes = match self.f {
            commit::f::DECIDE | commit::f::DECIDED => answer.decision().map(|d| d == "commit"),
            commit::f::VOTE => answer.voted().map(|v| v == "yes"),
            queue::f::DEQUEUE => answer.item().map(|_| true),
            commit::f::BEGIN => None,
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

/// What an operation is about, or what was held, by its name.
pub fn subject_name(subject: OperationSubject<'_>) -> String {
    match subject {
        OperationSubject::Grant(name) | OperationSubject::Transaction(name) => text::clip(name, 24),
        OperationSubject::Item(n) => format!("item {n}"),
        OperationSubject::Round(n) => format!("round {n}"),
    }
}

/// Whether the resource took the write that an operation brought; [`Mark::Nothing`] if the answer does not show that
/// one arrived.
fn arrived(answer: &Event) -> Mark {
    match (answer.kind, answer.accepted()) {
        (_, Some(false)) => Mark::Refused,
        (EventType::Ok, _) | (_, Some(true)) => Mark::Took,
        (_, None) => Mark::Nothing,
    }
}

/// The operations of a history that were sent, in the order in which they were.
pub fn operations<'a>(analysis: &Analysis<'a>, lanes: &Lanes) -> Vec<DrawnOperation<'a>> {
    let op = |op: &analysis::Op<'a>, control: bool| {
        let invoke = &analysis.events[op.invoke?];
        let answer = op.end.map(|end| &analysis.events[end]);
        Some(DrawnOperation {
            lane: lanes.row(invoke)?,
            f: op.f,
            role: if control { Role::Other } else { operation::role(op.f) },
            control,
            start: invoke.time,
            end: answer.map(|answer| answer.time),
            outcome: op.outcome(analysis.events),
            invoke,
            answer,
        })
    };
    let work = analysis.ops.work.iter().filter_map(|work| op(work, false));
    let control = analysis.ops.control.iter().filter_map(|control| op(control, true));
    let mut ops: Vec<DrawnOperation<'a>> = work.chain(control).collect();
    ops.sort_by_key(|op| op.invoke.index);
    ops
}

/// A span in which a client held.
#[derive(Debug)]
pub struct DrawnHold<'a> {
    /// Row of the client.
    pub lane: usize,
    /// What it held.
    pub what: OperationSubject<'a>,
    /// Whether others may hold it beside it in the same way.
    pub shared: bool,
    /// When its beginning was read.
    pub from: u64,
    /// When it ended; `None` if no event ends it.
    pub until: Option<u64>,
    /// What ended it, in a word or two.
    pub ended_by: &'static str,
}

impl DrawnHold<'_> {
    /// What it held, by its name, and that it is shared, if it is.
    pub fn name(&self) -> String {
        subject_name(self.what) + if self.shared { ", shared" } else { "" }
    }
}

/// The holds of a history, by their beginnings, with words for their ends.
pub fn holds<'a>(analysis: &Analysis<'a>, lanes: &Lanes) -> Vec<DrawnHold<'a>> {
    let hold = |hold: analysis::Hold<'a>| {
        Some(DrawnHold {
            lane: lanes.row(&analysis.events[hold.from])?,
            what: hold.subject,
            shared: hold.mode == Some(Mode::Shared),
            from: analysis.time(hold.from),
            until: hold.until.map(|at| analysis.time(at)),
            ended_by: hold.until.map_or("", |at| ended_by(&analysis.events[at])),
        })
    };
    analysis.holds().into_iter().filter_map(hold).collect()
}

/// The end of a hold in words, by the event that ended it.
fn ended_by(event: &Event) -> &'static str {
    match (event.f.as_str(), event.kind) {
        (queue::f::ACKNOWLEDGE, _) => "acknowledged",
        (barrier::f::LEAVE | barrier::f::CLOSE, _) => "left",
        (commit::f::DECIDED, _) if event.decision() == Some("commit") => "received commit",
        (commit::f::DECIDED, _) => "received abort",
        ("session", _) => "its session was over",
        ("lost", _) => "lost",
        ("exit", _) => "process died",
        (_, EventType::Invoke) => "released",
        _ => "reports that it no longer holds",
    }
}
