//! Holds: from the answer that gave a client what others wait for, to the first event that ends that for certain.
//!
//! A grant of a lock, a term, a claim of an item, a stay in a round; and of a site, that it has voted yes and must wait
//! for the decision.

use super::{Analysis, Grant, Op, first_after};
use std::collections::HashMap;
use zooquake_history::operation::{Mode, barrier, commit, queue};
use zooquake_history::{Event, EventType};

/// What an operation is about: the same name links its events across clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationSubject<'a> {
    /// A grant of a lock, or a term of a leader.
    Grant(&'a str),
    /// An item of a queue.
    Item(i64),
    /// A round of a barrier.
    Round(i64),
    Transaction(&'a str),
}

impl<'a> OperationSubject<'a> {
    /// What the event names; `None` if it names nothing of the kind.
    pub fn from_event(event: &'a Event) -> Option<Self> {
        let grant = || event.grant().map(Self::Grant);
        let item = || event.item().map(Self::Item);
        let round = || event.round().map(Self::Round);
        let transaction = || event.tx().map(Self::Transaction);
        grant().or_else(item).or_else(round).or_else(transaction)
    }
}

/// A span in which a client held, by events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold<'a> {
    /// The client.
    pub node: &'a str,
    /// What it held.
    pub subject: OperationSubject<'a>,
    /// The mode of a grant, as in [`Grant::mode`](super::Grant::mode); `None` for any other subject.
    pub mode: Option<Mode>,
    /// The answer that began it.
    pub from: usize,
    /// The event that ended it; `None` if no event shows its end.
    pub until: Option<usize>,
}

impl<'a> Analysis<'a> {
    /// The holds of a history in the order in which they began, in time nearly linear in its events. None begins with a
    /// disputed answer.
    ///
    /// A grant ends at [`Grant::end`](super::Grant::end), a lease that lasts for a time with the last event before its
    /// certain end at the latest. A claim ends when its acknowledgement is sent or the client's
    /// stream ends; a stay in a round when its leave, or a close, is sent, or the client's session or stream ends. A
    /// vote for yes binds a site, whatever becomes of its process, until it reads the decision.
    pub fn holds(&self) -> Vec<Hold<'a>> {
        let grant = |grant: usize| {
            let grant = &self.grants.all[grant];
            Some(Hold {
                node: grant.node,
                subject: OperationSubject::Grant(grant.name),
                mode: grant.mode,
                from: grant.read?,
                until: grant.end.into_iter().chain(self.over(grant)).min(),
            })
        };
        let mut holds: Vec<Hold<'a>> = self.grants.read().into_iter().filter_map(grant).collect();
        let ends = Ends::new(self);
        let give = [queue::f::DEQUEUE, commit::f::VOTE, self.member()];
        let answered = self.answered(&give);
        let answered = answered.filter(|(_, from)| !self.ops.disputed.contains(from));
        holds.extend(answered.filter_map(|(op, from)| {
            let subject = begins(self.events, op, from)?;
            Some(Hold {
                node: op.node,
                subject,
                mode: None,
                from,
                until: ends.first_end(self, op.node, subject, from),
            })
        }));
        holds.sort_by_key(|hold| hold.from);
        holds
    }

    /// The last event before the certain end of a lease that lasts for a time, but none before its grant was read.
    fn over(&self, grant: &Grant<'a>) -> Option<usize> {
        let end = self.certain_end(grant)?;
        let over = self.events.partition_point(|event| event.time < end);
        (over < self.events.len()).then_some(over.saturating_sub(1).max(grant.read?))
    }

    /// The operation by which a member arrives at a round. Where members join, somebody else enters; else they enter
    /// themselves.
    pub(crate) fn member(&self) -> &'static str {
        match self.ops.work.iter().any(|op| op.f == barrier::f::JOIN) {
            true => barrier::f::JOIN,
            false => barrier::f::ENTER,
        }
    }
}

/// What an answer gave to its client.
fn begins<'a>(events: &'a [Event], op: &Op<'a>, from: usize) -> Option<OperationSubject<'a>> {
    let answer = &events[from];
    match op.f {
        // Only a claim has a znode; elsewhere an item is delivered as soon as it is taken.
        queue::f::DEQUEUE => answer.path().and(answer.item()).map(OperationSubject::Item),
        commit::f::VOTE => answer
            .tx()
            .filter(|_| answer.voted() == Some("yes"))
            .map(OperationSubject::Transaction),
        _ => answer
            .round()
            .or_else(|| op.invoke.and_then(|at| events[at].round()))
            .map(OperationSubject::Round),
    }
}

/// The events that end holds other than grants, by what they end, each list in their order.
#[derive(Default)]
struct Ends<'a> {
    /// By client and what it held.
    of: HashMap<(&'a str, OperationSubject<'a>), Vec<usize>>,
    /// By client: where a `close` of its session was sent.
    closes: HashMap<&'a str, Vec<usize>>,
    /// By client and session: where a notice reported the session as expired or closed.
    sessions: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Ends<'a> {
    fn new(analysis: &Analysis<'a>) -> Self {
        let mut ends = Self::default();
        for (at, event) in analysis.events.iter().enumerate() {
            let node = super::ops::node(event);
            let subject = match (event.f.as_str(), event.kind) {
                (queue::f::ACKNOWLEDGE, EventType::Invoke) => event.item().map(OperationSubject::Item),
                (barrier::f::LEAVE, EventType::Invoke) => event.round().map(OperationSubject::Round),
                (commit::f::DECIDED, EventType::Ok) => event.tx().map(OperationSubject::Transaction),
                (barrier::f::CLOSE, EventType::Invoke) => {
                    ends.closes.entry(node).or_default().push(at);
                    None
                }
                ("session", _) if matches!(event.state(), Some("expired" | "closed")) => {
                    let session = event.session().into_iter();
                    session.for_each(|session| ends.sessions.entry((node, session)).or_default().push(at));
                    None
                }
                _ => None,
            };
            if let Some(subject) = subject {
                ends.of.entry((node, subject)).or_default().push(at);
            }
        }
        ends
    }

    /// The first event after the answer that gave it which ended the hold of a client.
    fn first_end(
        &self,
        analysis: &Analysis<'a>,
        node: &'a str,
        subject: OperationSubject<'a>,
        from: usize,
    ) -> Option<usize> {
        let exits = analysis.clients.exits.get(node);
        let session = || self.sessions.get(&(node, analysis.events[from].session()?));
        let also = match subject {
            OperationSubject::Round(_) => [exits, self.closes.get(node), session()],
            OperationSubject::Grant(_) | OperationSubject::Item(_) => [exits, None, None],
            OperationSubject::Transaction(_) => [None; 3],
        };
        let lists = also.into_iter().chain([self.of.get(&(node, subject))]).flatten();
        lists.filter_map(|list| first_after(list, from)).min()
    }
}
