//! Rounds of a barrier: who was sent to it, who passed it, who left.

use crate::analysis::{Analysis, Op, ops};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use zooquake_history::operation::{
    Field,
    barrier::{MEMBER, MEMBERS, ROUND, f},
};
use zooquake_history::{EventType, Process};

/// Whom a round waits for. A member that is sent its operation again is the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoundMember<'a> {
    /// Where members enter for themselves: the client.
    Client(&'a str),
    /// Where members join: the number that the request names, since one client may join for several.
    Number(i64),
    /// Of the operation at this position in [`Ops::work`](crate::analysis::ops::Ops) it is not known: it may be any.
    Unknown(usize),
}

/// One round. Operations are positions in [`Ops::work`](crate::analysis::ops::Ops).
#[derive(Debug, Default)]
pub struct BarrierRound {
    /// What members are sent, in the order in which they were: `enter`, or `join` where another one waits.
    pub members: Vec<usize>,
    /// The enters, in the order in which they were sent.
    pub enters: Vec<usize>,
    /// The leaves, in the order in which they were sent.
    pub leaves: Vec<usize>,
}

/// The rounds of a history.
#[derive(Debug, Default)]
pub struct Rounds<'a> {
    /// The rounds by their numbers.
    pub all: BTreeMap<i64, BarrierRound>,
    /// What members are sent.
    pub member: &'static str,
    /// By client: the events that report that a session is over.
    over: Moments<&'a str>,
    /// The same by client and session; `None` for all sessions that the client had.
    over_of: Moments<(&'a str, Option<&'a str>)>,
    /// By client: where a `close` of its session was sent.
    closes: Moments<&'a str>,
    /// By client and round: where a leave of it ended.
    left: Moments<(&'a str, i64)>,
    /// Where the first member was sent to a round that cannot be read.
    pub hidden: Option<usize>,
    /// By client: where a leave of a round that cannot be read ended.
    left_any: Moments<&'a str>,
    /// The leaves of rounds that cannot be read.
    pub hidden_leaves: Vec<usize>,
    /// All events whose round or number of members cannot be read, and what they are.
    pub unread: Vec<(usize, String)>,
}

/// Events by what they concern.
#[derive(Debug, Default)]
struct Moments<K>(HashMap<K, Vec<usize>>);

impl<K: Eq + Hash> Moments<K> {
    fn push(&mut self, key: K, at: usize) {
        self.0.entry(key).or_default().push(at);
    }

    /// The first one from `from` on; the greatest number if there is none.
    fn first(&self, key: &K, from: usize) -> usize {
        let all = self.0.get(key).map_or(&[][..], Vec::as_slice);
        all.get(all.partition_point(|&at| at < from))
            .copied()
            .unwrap_or(usize::MAX)
    }
}

impl<'a> Rounds<'a> {
    /// Reads the rounds out of a history; `member` is the operation that members are sent.
    pub fn new(run: &Analysis<'a>, member: &'static str) -> Self {
        let mut rounds = Self {
            member,
            ..Self::default()
        };
        for (at, op) in run.ops.work.iter().enumerate() {
            if let (f::CLOSE, Some(sent)) = (op.f, op.invoke) {
                rounds.closes.push(op.node, sent);
            }
            let Some(number) = told(run, op, ROUND) else {
                rounds.unread(at, op);
                continue;
            };
            if let (f::ENTER, Some(asked), None) = (op.f, op.invoke, told(run, op, MEMBERS)) {
                let what = format!(
                    "the `enter` of {}, which names no number of members that can be read",
                    op.node
                );
                rounds.unread.push((asked, what));
            }
            let round = rounds.all.entry(number).or_default();
            if op.f == member {
                round.members.push(at);
                if let (f::JOIN, Some(asked), None) = (member, op.invoke, told(run, op, MEMBER)) {
                    let what = format!("the `join` of {}, which names no member that can be read", op.node);
                    rounds.unread.push((asked, what));
                }
            }
            match op.f {
                f::ENTER => round.enters.push(at),
                f::LEAVE => {
                    round.leaves.push(at);
                    if let Some(end) = op.end {
                        rounds.left.push((op.node, number), end);
                        // The answer may be that to another leave.
                        if op.doubtful {
                            rounds.left_any.push(op.node, end);
                        }
                    }
                }
                _ => {}
            }
        }
        rounds.left.0.values_mut().for_each(|ends| ends.sort_unstable());
        rounds.left_any.0.values_mut().for_each(|ends| ends.sort_unstable());
        for (at, event) in run.events.iter().enumerate() {
            let Process::Name(name) = &event.process else { continue };
            let state = event.state().unwrap_or_default();
            let over = match event.f.as_str() {
                "exit" if !ops::is_harness(name) => None,
                "session" if matches!(state, "expired" | "closed") => event.session(),
                _ => continue,
            };
            rounds.over.push(name, at);
            rounds.over_of.push((name, over), at);
        }
        rounds
    }

    /// The member that the operation at a position in [`Ops::work`](crate::analysis::ops::Ops) is of.
    pub fn member_of(&self, run: &Analysis<'a>, op: usize) -> RoundMember<'a> {
        let of = &run.ops.work[op];
        let named = |at: usize| run.events[at].node.is_some();
        match self.member {
            f::JOIN => told(run, of, MEMBER).map_or(RoundMember::Unknown(op), RoundMember::Number),
            _ if of.invoke.or(of.end).is_some_and(named) => RoundMember::Client(of.node),
            _ => RoundMember::Unknown(op),
        }
    }

    /// Whether a member was sent before an event to a round that cannot be read, so that it may be any.
    pub fn hidden_before(&self, at: usize) -> bool {
        self.hidden.is_some_and(|sent| sent < at)
    }

    fn unread(&mut self, number: usize, op: &Op<'a>) {
        if op.f == f::LEAVE {
            self.hidden_leaves.push(number);
        }
        if let Some(end) = op.end.filter(|_| op.f == f::LEAVE) {
            self.left_any.push(op.node, end);
        }
        let Some(at) = op
            .invoke
            .or(op.end)
            .filter(|_| matches!(op.f, f::ENTER | f::JOIN | f::LEAVE))
        else {
            return;
        };
        if op.f == self.member {
            let sent = op.invoke.unwrap_or(0);
            self.hidden = Some(self.hidden.map_or(sent, |first| first.min(sent)));
        }
        self.unread.push((
            at,
            format!("the `{}` of {}, which names no round that can be read", op.f, op.node),
        ));
    }

    /// The last event up to which the history shows the member that an operation sent in the round; 0 if the operation
    /// is doubtful.
    ///
    /// One that waits is, while its process lives: to be there is its operation's business. One that was answered is
    /// until its process or its session ends, a `close` of that session is sent, or its leave is answered. One that
    /// pairs with no answer for certain may have left.
    pub fn stays(&self, run: &Analysis<'a>, op: &Op<'a>) -> usize {
        if op.doubtful {
            return 0;
        }
        let sent = op.invoke.or(op.end).unwrap_or(0);
        let waiting = self.over_of.first(&(op.node, None), sent);
        let Some(end) = op.end else { return waiting };
        let over = match run.events[end].session() {
            Some(session) => waiting.min(self.over_of.first(&(op.node, Some(session)), sent)),
            None => self.over.first(&op.node, sent),
        };
        let left = told(run, op, ROUND).map_or(usize::MAX, |round| self.left.first(&(op.node, round), sent + 1));
        let left = left.min(self.left_any.first(&op.node, sent + 1));
        let closed = self.closes.first(&op.node, sent + 1);
        match over.min(left).min(closed) {
            over if over > end && run.events[end].kind == EventType::Ok => over,
            _ => waiting.min(end),
        }
    }
}

/// The value of `field` in an operation's invocation, else in its answer.
pub fn told(run: &Analysis<'_>, op: &Op<'_>, field: Field<i64>) -> Option<i64> {
    let told = |at: Option<usize>| run.events[at?].get(field);
    told(op.invoke).or_else(|| told(op.end))
}

/// Where an operation was certainly answered with `ok`.
pub fn answered(run: &Analysis<'_>, op: &Op<'_>) -> Option<usize> {
    op.end
        .filter(|end| run.events[*end].kind == EventType::Ok && !run.ops.disputed.contains(end))
}
