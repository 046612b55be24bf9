//! By which operation a znode came to be left, in words. It explains; nothing is concluded from it.

use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::analysis::ops::Op;
use zooquake_history::operation::grant::f;
use zooquake_history::operation::{Role, membership, role};
use zooquake_history::{EventType, evidence::Znode};

/// How many operations are named, if it may be any of them.
const NAMED: usize = 3;

/// A sentence on the operation of a client that left a znode, and the faults that were on meanwhile; empty if that is
/// not known. `first` is the moment before which the znode was not made, in nanoseconds since the run began.
pub fn words(run: &Analysis<'_>, node: &str, znode: &Znode, first: Option<u64>) -> String {
    let grants = run.grants.all.iter();
    let mut own = grants.filter(|grant| grant.node == node && grant.czxid == Some(znode.czxid));
    if let Some(grant) = own.next() {
        let release = grant
            .release
            .and_then(|at| run.ops.work.iter().find(|op| op.invoke == Some(at)));
        return match release {
            Some(op) => format!(
                " Grant {} rests on it. What left it there: {}.",
                grant.name,
                told(run, op)
            ),
            None => format!(
                " Grant {} rests on it, which was never sent its `{}`.",
                grant.name, run.names.ops.gives
            ),
        };
    }
    let made = makers(run, node, znode, first);
    match made.len() {
        0 => String::new(),
        1 => format!(" What left it: {}.", told(run, made[0])),
        2..=NAMED => {
            let each: Vec<String> = made.iter().map(|op| told(run, op)).collect();
            format!(" What left it is one of: {}.", each.join("; "))
        }
        _ => String::new(),
    }
}

/// The operations of a client that can have made a znode: sent before a later transaction was read, not over before it
/// was made, and not before an answer that names an earlier transaction of the same session, which makes its
/// transactions in order.
fn makers<'r, 'a>(run: &'r Analysis<'a>, node: &str, znode: &Znode, first: Option<u64>) -> Vec<&'r Op<'a>> {
    let named = |at: usize| {
        let event = &run.events[at];
        let all = [event.czxid(), event.mzxid(), event.zxid()].into_iter().flatten();
        all.max().filter(|_| event.kind == EventType::Ok)
    };
    let later = (0..run.events.len()).find(|&at| named(at).is_some_and(|zxid| zxid > znode.czxid));
    let later = later.unwrap_or(run.events.len());
    let makes = |op: &&Op<'_>| {
        let writes = matches!(op.f, f::WRITE | membership::f::UPDATE);
        op.node == node && matches!(role(op.f), Role::Wait | Role::Work) && !writes
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
    let fits = |op: &&Op<'_>| op.invoke.is_some_and(|sent| sent < later && sent >= last) && !over(op);
    ops().filter(fits).collect()
}

/// An operation, how it ended, and the faults that were on meanwhile.
fn told(run: &Analysis<'_>, op: &Op<'_>) -> String {
    let sent = op.invoke.or(op.end).unwrap_or_default();
    let about = run.events[sent]
        .grant()
        .map(|grant| format!(" of {grant}"))
        .unwrap_or_default();
    let last = run.events.len().saturating_sub(1);
    let (end, until) = match op.end {
        None => ("never answered".to_owned(), op.cut.unwrap_or(last)),
        Some(end) => {
            let event = &run.events[end];
            let kind = match event.kind {
                EventType::Ok => "ok",
                EventType::Fail => "fail",
                EventType::Info | EventType::Invoke => "info",
            };
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
    format!("the `{}`{about} sent at {}, {end}; {on}", op.f, run.at(sent))
}
