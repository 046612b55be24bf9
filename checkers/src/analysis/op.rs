//! An operation: an invocation and its completion as one.

use zooquake_history::{Event, EventType};

/// One operation of a client, or one control request to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op<'a> {
    /// The client that was asked, such as `c1`.
    pub node: &'a str,
    /// The operation's name, such as `acquire`.
    pub f: &'a str,
    /// Where it was invoked; `None` if that is not in the history.
    pub invoke: Option<usize>,
    /// Where it was completed; `None` while it is pending.
    pub end: Option<usize>,
    /// Where the stream of its process ended while it was pending.
    pub cut: Option<usize>,
    /// Whether what completed it, or that nothing did, may be a matter of another operation ([`Misfit`]).
    pub doubtful: bool,
}

impl Op<'_> {
    /// Where it was sent; `None` if that is not in the history, or if its answer may be that to an earlier request.
    pub fn sent(&self) -> Option<usize> {
        self.invoke.filter(|_| !self.doubtful)
    }

    /// The event of the answer `fail`, which shows that it certainly did not happen; `None` also where that may be the
    /// answer to another operation.
    pub fn failed(&self, events: &[Event]) -> Option<usize> {
        self.end
            .filter(|&end| events[end].kind == EventType::Fail && !self.doubtful)
    }

    /// What came of it.
    pub fn outcome(&self, events: &[Event]) -> OperationOutcome {
        match self.end.map(|end| events[end].kind) {
            Some(EventType::Ok) => OperationOutcome::Ok,
            Some(EventType::Fail) => OperationOutcome::Fail,
            Some(EventType::Info) => OperationOutcome::Info,
            Some(EventType::Invoke) | None => OperationOutcome::Pending,
        }
    }

    /// Itself; or its request and its answer, each alone, where they may not belong together.
    pub fn apart(&self) -> Vec<Self> {
        if !self.doubtful || self.invoke.is_none() || self.end.is_none() {
            return vec![self.clone()];
        }
        let (mut request, mut answer) = (self.clone(), self.clone());
        (request.end, answer.invoke) = (None, None);
        vec![request, answer]
    }

    /// Whether it was in flight at some moment between the events `from` and `to`.
    pub fn in_flight(&self, from: usize, to: usize) -> bool {
        let begin = self.invoke.unwrap_or(0);
        let end = self.end.into_iter().chain(self.cut).min().unwrap_or(usize::MAX);
        begin <= to && end >= from
    }
}

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationOutcome {
    /// It happened.
    Ok,
    /// It certainly did not.
    Fail,
    /// It may or may not have.
    Info,
    /// It was not answered by the end.
    Pending,
}

impl OperationOutcome {
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
