//! The znodes by which clients hold: those of grants, of members' places in the rounds of a barrier, and of
//! registrations in a group.

use super::claims::{ClaimedZnode, registrations};
use crate::analysis::{Analysis, Op, first_after, ops};
use std::collections::HashMap;
use zooquake_history::operation::barrier::f;

/// The znode by which a client holds. Positions are those of events.
#[derive(Debug)]
pub struct HolderZnode<'a> {
    /// The client.
    pub node: &'a str,
    /// Where the znode stood.
    pub path: &'a str,
    /// The transaction that created it.
    pub czxid: i64,
    /// The session that the client named for it.
    pub session: Option<&'a str>,
    /// The name of the grant, if it is one's.
    pub grant: Option<&'a str>,
    /// What it is, for a text.
    pub words: String,
    /// Where the answer was read that names it.
    pub read: usize,
    /// The request to its client that ends it: a release, a resignation, a leave, a close.
    pub end: Option<usize>,
    /// Whether it may have been ended by a request that is not in the history, or by another client's.
    pub end_unknown: bool,
    /// The answers that confirm it.
    pub confirms: Vec<usize>,
}

/// Those of grants, in the order in which they were read.
pub fn grant_places<'a>(run: &Analysis<'a>) -> Vec<HolderZnode<'a>> {
    let grants = run.grants.read().into_iter();
    let place = |number: usize| {
        let grant = &run.grants.all[number];
        let other = |at: usize| ops::node(&run.events[at]) != grant.node;
        Some(HolderZnode {
            node: grant.node,
            path: grant.path?,
            czxid: grant.czxid?,
            session: grant.session,
            grant: Some(grant.name),
            words: run.grant(number),
            read: grant.read?,
            end: grant.release,
            end_unknown: grant.release_unasked || grant.release.is_some_and(other),
            confirms: grant.confirms.iter().map(|answer| answer.read).collect(),
        })
    };
    grants.filter_map(place).collect()
}

/// Those of registrations in a group, in the order of their requests.
pub fn registration_places<'a>(run: &Analysis<'a>) -> Vec<HolderZnode<'a>> {
    let place = |claim: ClaimedZnode<'a>| {
        Some(HolderZnode {
            node: claim.node,
            path: claim.path?,
            czxid: claim.czxid?,
            session: claim.session,
            grant: None,
            words: claim.words,
            read: claim.read,
            end: None,
            end_unknown: true,
            confirms: Vec::new(),
        })
    };
    registrations(run).filter_map(place).collect()
}

/// Those of members that entered a round, in the order of their requests.
pub fn member_places<'a>(run: &Analysis<'a>) -> Vec<HolderZnode<'a>> {
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for op in run.ops.work.iter().filter(|op| matches!(op.f, f::LEAVE | f::CLOSE)) {
        ends.entry(op.node).or_default().extend(op.invoke.or(op.end));
    }
    ends.values_mut().for_each(|all| all.sort_unstable());
    let enters = run.answered(&[f::ENTER]);
    let enters = enters.filter(|(op, read)| op.sent() == op.invoke && !run.ops.disputed.contains(read));
    let place = |(op, read): (&Op<'a>, usize)| {
        let answer = &run.events[read];
        // Without its request it may have been sent at any time before.
        let after = |all: &Vec<usize>| op.invoke.map_or(all.first().copied(), |sent| first_after(all, sent));
        Some(HolderZnode {
            node: op.node,
            path: answer.path()?,
            czxid: answer.czxid()?,
            session: answer.session(),
            grant: None,
            words: format!("the place of {} in its round", op.node),
            read,
            end: ends.get(op.node).and_then(after),
            end_unknown: false,
            confirms: Vec::new(),
        })
    };
    enters.filter_map(place).collect()
}
