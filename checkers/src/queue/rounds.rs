//! Rounds of a barrier: who was sent to it, who passed it, who left.

use super::items::outcome;
use crate::history::{EventType, Process};
use crate::ops::{self, Op};
use crate::run::Run;
use std::collections::{BTreeMap, HashMap};

/// One round. Operations are positions in [`Ops::work`](crate::ops::Ops).
#[derive(Debug, Default)]
pub struct Round {
    /// What members are sent, in the order in which they were: `enter`, or `join` where another one waits.
    pub members: Vec<usize>,
    /// The enters, in the order in which they were sent.
    pub enters: Vec<usize>,
    /// The leaves, in the order in which they were sent.
    pub leaves: Vec<usize>,
}

/// The rounds of a history.
#[derive(Debug)]
pub struct Rounds<'a> {
    /// Each by its number.
    pub all: BTreeMap<i64, Round>,
    /// What members are sent.
    pub member: &'static str,
    /// By client: the events that say that a session is over, and which; `None` for all that the client had.
    over: HashMap<&'a str, Vec<(usize, Option<&'a str>)>>,
    /// By client: where it was told to close its session.
    closes: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Rounds<'a> {
    /// Reads the rounds out of a history; `member` is the operation that members are sent.
    pub fn new(run: &Run<'a>, member: &'static str) -> Self {
        let mut rounds = Self {
            all: BTreeMap::new(),
            member,
            over: HashMap::new(),
            closes: HashMap::new(),
        };
        for (at, op) in run.ops.work.iter().enumerate() {
            if let ("close", Some(sent)) = (op.f, op.invoke) {
                rounds.closes.entry(op.node).or_default().push(sent);
            }
            let Some(number) = told(run, op, "round") else { continue };
            let round = rounds.all.entry(number).or_default();
            if op.f == member {
                round.members.push(at);
            }
            match op.f {
                "enter" => round.enters.push(at),
                "leave" => round.leaves.push(at),
                _ => {}
            }
        }
        for (at, event) in run.events.iter().enumerate() {
            let Process::Name(lane) = &event.process else { continue };
            let state = event.str("state").unwrap_or_default();
            if event.f == "exit" && !ops::is_harness(lane) {
                rounds.over.entry(lane).or_default().push((at, None));
            } else if event.f == "session" && matches!(state, "expired" | "closed") {
                rounds.over.entry(lane).or_default().push((at, event.str("session")));
            }
        }
        rounds
    }

    /// Whether the member that an operation sent is in the round, as far as anybody can tell, up to the event `until`.
    ///
    /// One that waits is, while its process lives: to be there is its operation's business. One that was answered is until
    /// its process or its session ends, or it is told to close that, or its leave is answered.
    pub fn lives(&self, run: &Run<'a>, round: &Round, op: &Op<'a>, until: usize) -> bool {
        let answered = op.end.filter(|&end| end < until);
        let sent = op.invoke.or(op.end).unwrap_or(0);
        let over = self.over.get(op.node).map_or(&[][..], Vec::as_slice);
        let after = &over[over.partition_point(|&(at, _)| at < sent)..];
        let before_until = || after.iter().take_while(|&&(at, _)| at < until);
        let Some(end) = answered else {
            return self.member == "enter" && before_until().all(|(_, session)| session.is_some());
        };
        if run.events[end].kind != EventType::Ok {
            return false;
        }
        let session = run.events[end].str("session");
        let ended = |&(_, other): &(usize, Option<&str>)| other.is_none() || session.is_none() || other == session;
        let closed = self
            .closes
            .get(op.node)
            .is_some_and(|all| all.iter().any(|&at| sent < at && at < until));
        let left = round.leaves.iter().map(|&leave| &run.ops.work[leave]).any(|leave| {
            let after = leave.end.is_some_and(|end| sent < end && end < until);
            leave.node == op.node && after
        });
        !before_until().any(ended) && !closed && !left
    }
}

/// A number that an operation's invocation tells, or its answer.
pub fn told(run: &Run<'_>, op: &Op<'_>, name: &str) -> Option<i64> {
    let told = |at: Option<usize>| run.events[at?].int(name);
    told(op.invoke).or_else(|| told(op.end))
}

/// Where an operation was answered with `ok`.
pub fn answered(run: &Run<'_>, op: &Op<'_>) -> Option<usize> {
    op.end.filter(|_| outcome(run, op) == Some(EventType::Ok))
}
