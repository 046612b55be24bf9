//! `session-order`: a session read an older state than it had read or written before.
//!
//! ZooKeeper promises each session that what it is shown never goes back. A read convicts if it was sent after an
//! access of the same session had been answered, and found a transaction older than that one's. One report for each
//! session.

use super::accesses::{Access, Accesses, Action};
use super::contradictions::show;
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use crate::text::{count, if_any};
use std::collections::BTreeMap;

/// What a session was shown or acknowledged: where that was read, the transaction, the access.
type SessionView = (usize, i64, usize);

/// Looks for sessions that went back in time.
pub fn check(run: &Analysis<'_>, accesses: &Accesses<'_>, out: &mut Findings) {
    let mut sessions: BTreeMap<u64, Vec<SessionView>> = BTreeMap::new();
    let mut looked_at = 0;
    for (number, access) in accesses.all.iter().enumerate() {
        if let (Some(session), Some(end), Some(mzxid)) = (access.session, access.end, access.mzxid) {
            sessions.entry(session).or_default().push((end, mzxid, number));
            looked_at += 1;
        }
    }
    for (session, mut shown) in sessions {
        shown.sort_unstable();
        went_back(run, accesses, (session, &shown), out);
    }
    // Of a user's own recipe what answers lack is reported, or declared.
    let own = run.record.plan.workload.recipe.is_some();
    if looked_at == 0 && !own && accesses.all.iter().any(|access| access.end.is_some()) {
        out.reasons.push(
            "no answer names its session and its transaction: whether sessions went back in time was not judged"
                .to_owned(),
        );
    }
    out.ran("session-order", looked_at);
}

fn went_back(run: &Analysis<'_>, accesses: &Accesses<'_>, (session, shown): (u64, &[SessionView]), out: &mut Findings) {
    // For each answer the newest until then.
    let newest: Vec<SessionView> = shown
        .iter()
        .scan(None, |newest: &mut Option<SessionView>, &one| {
            if newest.is_none_or(|newest| newest.1 < one.1) {
                *newest = Some(one);
            }
            *newest
        })
        .collect();
    let older = shown.iter().filter_map(|&(end, mzxid, number)| {
        let access = &accesses.all[number];
        let invoke = access.invoke.filter(|_| matches!(access.action, Action::Read(_)))?;
        let before = shown.partition_point(|&(end, ..)| end < invoke).checked_sub(1)?;
        (mzxid < newest[before].1).then_some((newest[before], invoke, end, access))
    });
    let older: Vec<(SessionView, usize, usize, &Access<'_>)> = older.collect();
    let Some(&((seen, newer, other), invoke, end, read)) = older.first() else {
        return;
    };
    let what = match accesses.all[other].action {
        Action::Read(value) => format!("had read {}", show(value)),
        Action::Write(to) | Action::Cas { to, .. } => format!("had had its write of {to} acknowledged"),
        Action::Begin => return,
    };
    let found = match read.action {
        Action::Read(value) => show(value),
        _ => return,
    };
    let more = if_any(older.len() - 1, |more| {
        format!(" So did {} of it.", count(more, "later read"))
    });
    let why = format!(
        "Session 0x{session:x} of {} {what} at {}, of transaction 0x{newer:x}. A read that it sent after that, at {}, \
         and that {} answered at {}, found {found} of the older transaction 0x{:x}.{more} ZooKeeper promises that a \
         session's view never goes back.",
        read.node,
        run.at(seen),
        run.at(invoke),
        read.server.unwrap_or("its server"),
        run.at(end),
        read.mzxid.unwrap_or_default(),
    );
    let found = Finding::new("session-order", "order within a session", vec![seen, invoke, end], why);
    out.add(run, found);
}
