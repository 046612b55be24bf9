//! By what a znode came to be left: the window that lost the reply to its creation, the release that did not remove it,
//! or the operations that can have made it.

use super::{Cause, CauseZnode};
use crate::analysis::clients::session;
use crate::analysis::transaction_log::{TransactionBounds, named_zxids};
use crate::analysis::{Analysis, Op, ops};
use crate::text::seconds;
use std::collections::HashMap;
use zooquake_history::operation::grant::f;
use zooquake_history::operation::{CZXID, Role, membership, queue, role};
use zooquake_history::{EventType, Process, evidence::Znode};

/// How many operations are named, if it may be any of them.
const NAMED: usize = 3;

/// The evidence on the creation of znodes.
pub struct OrphanCauses<'r, 'a> {
    run: &'r Analysis<'a>,
    /// The last answer or notice of a client that names each transaction.
    named: HashMap<i64, usize>,
    bounds: TransactionBounds,
}

impl<'r, 'a> OrphanCauses<'r, 'a> {
    /// Reads the evidence out of a run, in time nearly linear in its events.
    pub fn new(run: &'r Analysis<'a>) -> Self {
        let of_client = |event: &zooquake_history::Event| match &event.process {
            Process::Number(_) => true,
            Process::Name(name) => !ops::is_harness(name),
        };
        let events = run.events.iter().enumerate().filter(|(_, event)| of_client(event));
        let named = events.flat_map(|(at, event)| named_zxids(event).into_iter().map(move |zxid| (zxid, at)));
        Self {
            run,
            named: named.collect(),
            bounds: TransactionBounds::new(run),
        }
    }

    /// What left a znode of a session of the client `node`, and the faults that were on meanwhile; `None` where too
    /// many operations can have. `first` is the moment before which the znode was not made, in nanoseconds since the
    /// run began.
    pub fn cause(&self, node: &str, znode: &Znode, first: Option<u64>) -> Option<Cause> {
        let cause = self
            .lost_reply(znode)
            .or_else(|| self.kept(node, znode))
            .or_else(|| self.made(node, znode, first))?;
        Some(Cause {
            znode: Some(CauseZnode::new(&znode.path, znode.czxid)),
            session: znode.owner.clone(),
            sentence: cause.sentence + &self.last_named(node, znode),
            ..cause
        })
    }

    /// Until when its client named the znode as its own entry of a group; empty where it never did, and of other
    /// families.
    fn last_named(&self, node: &str, znode: &Znode) -> String {
        let run = self.run;
        let group = run.record.plan.workload.family == membership::FAMILY.name;
        let named = |event: &&zooquake_history::Event| {
            let registered = event.registered().and_then(|entry| CZXID.read_from(entry));
            event.node.as_deref() == Some(node)
                && event.kind == EventType::Ok
                && (registered == Some(znode.czxid) || event.czxid() == Some(znode.czxid))
        };
        let last = run.events.iter().filter(|_| group).rfind(named);
        last.map_or_else(String::new, |event| {
            format!(
                " {node} last named it as its own in the answer to `{}` at {}.",
                event.f,
                seconds(event.time)
            )
        })
    }

    /// The window that lost the reply to its creation, if no client named the znode after that.
    fn lost_reply(&self, znode: &Znode) -> Option<Cause> {
        let run = self.run;
        let request = run.applied.of_transaction(znode.czxid)?;
        if self.named.get(&znode.czxid).is_some_and(|&at| at > request.begin) {
            return None;
        }
        let window = run.events[request.on].window()?;
        let within = |op: &&Op<'_>| {
            let sent = op.invoke.is_some_and(|sent| sent < request.on);
            op.node == request.node && sent && op.end.or(op.cut).is_none_or(|end| end > request.begin)
        };
        let mut during = run.ops.work.iter().filter(within);
        let op = during.next().filter(|_| during.next().is_none());
        let during = op
            .map(|op| format!(" during its {}", named(run, op)))
            .unwrap_or_default();
        let sentence = format!(
            "Window {window} ({} of {}) {} the reply to the request of {} that created it (transaction 0x{:x}){during}, and no client \
             named the znode after that.",
            run.injected.get(&window).map_or("a fault", |injected| injected.fault),
            request.node,
            request.deed(),
            request.node,
            znode.czxid,
        );
        let mut events: Vec<usize> = [request.begin, request.on]
            .into_iter()
            .chain(op.and_then(|op| op.invoke))
            .collect();
        events.sort_unstable();
        Some(Cause {
            proven: true,
            window: Some(window),
            transaction: Some(znode.czxid),
            events,
            sentence,
            ..Cause::default()
        })
    }

    /// The release of the grant that rests on it.
    fn kept(&self, node: &str, znode: &Znode) -> Option<Cause> {
        let run = self.run;
        let grants = run.grants.all.iter();
        let mut own = grants.filter(|grant| grant.node == node && grant.czxid == Some(znode.czxid));
        let grant = own.next()?;
        let release = grant.release;
        let release = release.and_then(|at| run.ops.work.iter().find(|op| op.invoke == Some(at)));
        let sentence = match release {
            Some(op) => format!(
                "Grant {} rests on it. What left it there: {}.",
                grant.name,
                described(run, op)
            ),
            None => format!(
                "Grant {} rests on it, which was never sent its `{}`.",
                grant.name, run.names.ops.gives
            ),
        };
        let events = grant.read.into_iter().chain(release.map(ends).into_iter().flatten());
        Some(Cause {
            proven: true,
            events: events.collect(),
            sentence,
            ..Cause::default()
        })
    }

    /// The operations that can have made it.
    fn made(&self, node: &str, znode: &Znode, first: Option<u64>) -> Option<Cause> {
        let run = self.run;
        let mut makers = self.makers(node, znode, first);
        let sure = makers.len() == 1 && run.log.whole();
        // Of too many, those that ask for something: few recipes make a znode where they give it up.
        if makers.len() > NAMED {
            makers.retain(|op| role(op.f) != Role::Leave);
        }
        if makers.is_empty() || makers.len() > NAMED {
            return None;
        }
        let each: Vec<String> = makers.iter().map(|op| described(run, op)).collect();
        let sentence = match (each.len(), sure) {
            (1, true) => format!("What left it: {}.", each[0]),
            (1, false) => format!("What left it may be {}.", each[0]),
            _ => format!("What left it may be one of: {}.", each.join("; or ")),
        };
        let mut events: Vec<usize> = makers.iter().flat_map(|op| ends(op)).collect();
        events.sort_unstable();
        Some(Cause {
            proven: sure,
            events,
            sentence,
            ..Cause::default()
        })
    }

    /// The operations of a client that can have made a znode: sent before that, or a later transaction, was named,
    /// not over before it was made, and not before an answer that names an earlier transaction of the same session,
    /// which makes its transactions in order.
    fn makers(&self, node: &str, znode: &Znode, first: Option<u64>) -> Vec<&'r Op<'a>> {
        let run = self.run;
        let named = |at: usize| {
            let event = &run.events[at];
            let all = [event.czxid(), event.mzxid(), event.zxid()].into_iter().flatten();
            all.max().filter(|_| event.kind == EventType::Ok)
        };
        let last_moment = self.bounds.made_by(znode.czxid).unwrap_or(u64::MAX);
        let makes = |op: &&Op<'_>| {
            let making = matches!(role(op.f), Role::Wait | Role::Work | Role::Leave) || op.f == queue::f::DEQUEUE;
            op.node == node && making && op.f != f::WRITE
        };
        let ops = || run.ops.work.iter().filter(makes);
        let owner = znode.owner.as_deref().and_then(session);
        let before = |op: &Op<'_>| {
            let end = op.end?;
            let same = run.events[end].session().and_then(session) == owner;
            op.invoke
                .filter(|_| same && named(end).is_some_and(|zxid| zxid < znode.czxid))
        };
        let last = ops().filter_map(before).max().unwrap_or(0);
        let over = |op: &Op<'_>| {
            let end = op.end.filter(|&end| run.events[end].kind != EventType::Info);
            end.zip(first).is_some_and(|(end, first)| run.time(end) < first)
        };
        let sent = |sent: usize| run.time(sent) <= last_moment && sent >= last;
        ops().filter(|op| op.invoke.is_some_and(sent) && !over(op)).collect()
    }
}

/// Where an operation was sent, and where it ended.
fn ends(op: &Op<'_>) -> impl Iterator<Item = usize> + use<> {
    op.invoke.into_iter().chain(op.end.or(op.cut))
}

/// `` `acquire` of g60``.
fn named(run: &Analysis<'_>, op: &Op<'_>) -> String {
    let sent = op.invoke.or(op.end).unwrap_or_default();
    let about = run.events[sent].grant().map(|grant| format!(" of {grant}"));
    format!("`{}`{}", op.f, about.unwrap_or_default())
}

/// An operation, how it ended, and the faults that were on meanwhile.
fn described(run: &Analysis<'_>, op: &Op<'_>) -> String {
    let sent = op.invoke.or(op.end).unwrap_or_default();
    let last = run.events.len().saturating_sub(1);
    let (end, until) = match op.end {
        None => ("never answered".to_owned(), op.cut.unwrap_or(last)),
        Some(end) => {
            let event = &run.events[end];
            let kind = op.outcome(run.events).name();
            let why = event
                .error
                .as_deref()
                .map(|error| format!(" ({error})"))
                .unwrap_or_default();
            (format!("answered `{kind}`{why} at {}", run.at(end)), end)
        }
    };
    let on = match run.faults.during(run.time(sent), run.time(until)) {
        on if on.is_empty() => "no fault was on meanwhile".to_owned(),
        on => format!("meanwhile on: {}", on.join(", ")),
    };
    format!("the {} sent at {}, {end}; {on}", named(run, op), run.at(sent))
}
