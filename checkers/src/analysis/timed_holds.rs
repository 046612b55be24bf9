//! Holds of leases that last for a time: from when to when a client certainly holds one, by the orchestrator's clock.
//!
//! The client's clock begins a lease between the sending of its request and the reading of its grant. So it is certain
//! from that reading until its duration has passed since that sending, less the margin of the clocks, and no longer. It
//! is certain for a shorter time only where
//!
//! - its release was sent;
//! - its client denies that it holds: by `lost`, or by `not-held` or `"holds":false` to a request sent before that end.
//!   Then it may have ended before the denial was written, but not before the sending of the last request that its
//!   client answered as holder, as belief in a grant ends once. To a request sent later the clock alone is enough of an
//!   answer, and who gives up a lease before its end reports it at once;
//! - its client's process ended: it lived when the last request was sent that it answered;
//! - it names a session, with which it ends: that lived when the last `confirm` was sent that its client answered as
//!   holder ([`super::grants`] has the argument).

use super::{Analysis, Grant, first_after, nanos, ops};
use std::collections::HashMap;
use zooquake_history::operation::control;
use zooquake_history::plan::LeaseTerm;
use zooquake_history::{EventType, Process};

/// The span in which a client certainly holds a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedHold {
    /// Its grant, by number.
    pub grant: usize,
    /// Where its request was sent.
    pub asked: usize,
    /// Where its grant was read, which begins the span.
    pub read: usize,
    /// When it ends, in nanoseconds since the run began.
    pub until: u64,
}

impl Analysis<'_> {
    /// The certain holds of leases that last for a time, in the order in which they began; none of other grants. In
    /// time nearly linear in the events.
    pub(crate) fn timed_holds(&self) -> Vec<TimedHold> {
        if self.term.is_none() {
            return Vec::new();
        }
        let denials = Denials::new(self);
        let answered = AnsweredRequests::new(self);
        let read = self.grants.read().into_iter();
        read.filter_map(|number| hold(self, number, &denials, &answered))
            .collect()
    }

    /// Until when the lease of a grant lasts by the clock alone, for certain; `None` if that is not known.
    pub(crate) fn certain_end(&self, grant: &Grant<'_>) -> Option<u64> {
        let least = self.term?.least();
        Some(self.time(grant.requested?).saturating_add(nanos(least)))
    }

    /// Until when a lease may last at most whose grant was read at this event.
    pub(crate) fn latest_end(&self, term: LeaseTerm, read: usize) -> u64 {
        self.time(read).saturating_add(nanos(term.most()))
    }
}

fn hold(
    run: &Analysis<'_>,
    number: usize,
    denials: &Denials<'_>,
    answered: &AnsweredRequests<'_>,
) -> Option<TimedHold> {
    let grant = &run.grants.all[number];
    let (asked, read, end) = (grant.requested?, grant.read?, run.certain_end(grant)?);
    if grant.release_unasked {
        return None;
    }
    let mut until = grant.release.map_or(end, |release| end.min(run.time(release)));
    if let Some(denied) = denials.first(run, grant, (read, end)) {
        let before = grant.answers.iter().filter(|answer| answer.read < denied);
        until = until.min(run.time(before.map(|answer| answer.sent).max()?));
    }
    let exits = run.clients.exits.get(grant.node);
    if let Some(exit) = exits.and_then(|exits| first_after(exits, read)) {
        until = until.min(run.time(answered.last(grant.node, exit)?));
    }
    if grant.session.is_some() {
        until = until.min(run.time(grant.confirms.last()?.sent));
    }
    (run.time(read) < until).then_some(TimedHold {
        grant: number,
        asked,
        read,
        until,
    })
}

/// What denies that clients hold, by events.
#[derive(Default)]
struct Denials<'a> {
    /// By client and grant: where each request was sent that was answered so, 0 of a notice and of an unknown request,
    /// and where that was read.
    of_grant: HashMap<(&'a str, &'a str), Vec<(usize, usize)>>,
    /// By client: where it was read that it holds no more, though it is not certain by what grant.
    unnamed: HashMap<&'a str, Vec<usize>>,
    /// By client: where each `confirm` was sent that it answered with `"holds":false`, and where that was read.
    disclaimed: HashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Denials<'a> {
    fn new(run: &Analysis<'a>) -> Self {
        let mut denials = Self::default();
        for (at, event) in run.events.iter().enumerate() {
            let node = ops::node(event);
            let control = matches!(event.process, Process::Name(_));
            match (event.f.as_str(), event.kind) {
                ("lost", EventType::Info) if control => denials.add(node, event.grant(), (at, 0)),
                (control::f::CONFIRM, EventType::Ok) if event.holds() == Some(false) => {
                    let sent = run.ops.completes[at].and_then(|op| run.ops.control[op].sent());
                    match sent {
                        Some(sent) => denials.disclaimed.entry(node).or_default().push((sent, at)),
                        None => denials.add(node, None, (at, 0)),
                    }
                }
                _ if !control && ops::is_not_held(event) => {
                    let op = run.ops.completes[at].map(|op| &run.ops.work[op]);
                    let sent = op.and_then(|op| op.sent());
                    let asked = sent.and_then(|sent| run.events[sent].grant());
                    denials.add(node, event.grant().or(asked), (at, sent.unwrap_or(0)));
                }
                _ => {}
            }
        }
        for sent in denials.disclaimed.values_mut() {
            sent.sort_unstable();
        }
        denials
    }

    fn add(&mut self, node: &'a str, grant: Option<&'a str>, (at, sent): (usize, usize)) {
        match grant {
            Some(grant) => self.of_grant.entry((node, grant)).or_default().push((sent, at)),
            None => self.unnamed.entry(node).or_default().push(at),
        }
    }

    /// Where the first of them was read that may deny that a lease was held until its certain end.
    fn first(&self, run: &Analysis<'_>, grant: &Grant<'_>, (read, end): (usize, u64)) -> Option<usize> {
        let released = grant.release.unwrap_or(usize::MAX);
        let early = |sent: usize| run.time(sent) < end;
        let named = self.of_grant.get(&(grant.node, grant.name));
        let named = named.and_then(|all| all.iter().find(|(sent, _)| early(*sent)));
        let named = named.map(|&(_, at)| at);
        let unnamed = self.unnamed.get(grant.node).and_then(|all| first_after(all, read));
        let disclaimed = self.disclaimed.get(grant.node);
        let disclaimed = disclaimed.and_then(|all| all.get(all.partition_point(|&(sent, _)| sent <= read)));
        let disclaimed = disclaimed
            .filter(|(sent, _)| *sent < released && early(*sent))
            .map(|&(_, at)| at);
        [named, unnamed, disclaimed].into_iter().flatten().min()
    }
}

/// By client: where each answer was read to a request whose sending is certain, in their order, and the latest of these
/// sendings up to it.
struct AnsweredRequests<'a>(HashMap<&'a str, Vec<(usize, usize)>>);

impl<'a> AnsweredRequests<'a> {
    fn new(run: &Analysis<'a>) -> Self {
        let mut by_client: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for op in run.ops.work.iter().chain(&run.ops.control) {
            // Who drives the clients writes `info` for one that has died.
            let said = |&end: &usize| matches!(run.events[end].kind, EventType::Ok | EventType::Fail);
            if let (Some(sent), Some(end)) = (op.sent(), op.end.filter(said)) {
                by_client.entry(op.node).or_default().push((end, sent));
            }
        }
        for answers in by_client.values_mut() {
            answers.sort_unstable();
            let mut latest = 0;
            for (_, sent) in answers {
                latest = latest.max(*sent);
                *sent = latest;
            }
        }
        Self(by_client)
    }

    /// Where the last request was sent that a client answered before an event.
    fn last(&self, node: &str, before: usize) -> Option<usize> {
        let answers = self.0.get(node)?;
        let last = answers.partition_point(|&(end, _)| end < before).checked_sub(1)?;
        Some(answers[last].1)
    }
}
