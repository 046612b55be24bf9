//! The znodes by which clients hold: those of grants, of members' places in the rounds of a barrier, and of
//! registrations in a group; with those that answers name as their clients' own.
//!
//! `persistent-contender`, advisory: the transaction logs show that such a znode is not ephemeral, so that it stays
//! when its client dies.

use crate::analysis::transaction_log::creates;
use crate::analysis::{Analysis, Op, first_after, ops};
use crate::findings::{Finding, Findings};
use crate::text::count;
use std::collections::HashMap;
use zooquake_history::operation::barrier::f;
use zooquake_history::operation::{barrier, membership};

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

/// The znodes of grants, in the order in which these were read.
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

/// The znodes of registrations in a group, in the order of their requests.
fn registration_places<'a>(run: &Analysis<'a>) -> Vec<HolderZnode<'a>> {
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

/// The znodes of members that entered a round, in the order of their requests.
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

/// A znode by which a client claims to hold something, or to be a member or in a round. Positions are those of events.
#[derive(Debug)]
pub struct ClaimedZnode<'a> {
    /// The client.
    pub node: &'a str,
    /// What it is, for a text.
    pub words: String,
    /// What is asked for, and what its client does by it, for a text.
    pub noun: &'static str,
    pub verb: &'static str,
    /// Where it was asked for; `None` if that is not in the history or may be another request.
    pub asked: Option<usize>,
    /// Where the answer was read that names the znode.
    pub read: usize,
    /// The path of the znode.
    pub path: Option<&'a str>,
    /// The transaction that created it.
    pub czxid: Option<i64>,
    /// The session that the client named for it.
    pub session: Option<&'a str>,
}

/// What answers name: of grants, in the order in which they were read, then of registrations.
pub fn claims<'a>(run: &Analysis<'a>) -> Vec<ClaimedZnode<'a>> {
    let grants = run.grants.read().into_iter().filter_map(|number| {
        let grant = &run.grants.all[number];
        Some(ClaimedZnode {
            node: grant.node,
            words: run.grant(number),
            noun: "grant",
            verb: "holds",
            asked: grant.asked,
            read: grant.read?,
            path: grant.path,
            czxid: grant.czxid,
            session: grant.session,
        })
    });
    grants.chain(registrations(run)).collect()
}

/// What the answers to registrations name; a disputed answer names nothing.
pub fn registrations<'a>(run: &Analysis<'a>) -> impl Iterator<Item = ClaimedZnode<'a>> {
    named_by(run, &[membership::f::REGISTER], "registration", "is a member")
}

/// What the answers to members that entered a round name; a disputed answer names nothing.
pub fn claimed_places<'a>(run: &Analysis<'a>) -> impl Iterator<Item = ClaimedZnode<'a>> {
    named_by(run, &[barrier::f::ENTER], "place", "is in the round")
}

fn named_by<'a>(
    run: &Analysis<'a>,
    answers: &'static [&'static str],
    noun: &'static str,
    verb: &'static str,
) -> impl Iterator<Item = ClaimedZnode<'a>> {
    run.answered(answers)
        .filter(|(_, read)| !run.ops.disputed.contains(read))
        .map(move |(op, read): (&Op<'a>, usize)| {
            let answer = &run.events[read];
            let czxid = answer.czxid();
            let age = czxid.map(|czxid| format!(" (czxid 0x{czxid:x})"));
            ClaimedZnode {
                node: op.node,
                words: format!("the {noun} of {}{}", op.node, age.unwrap_or_default()),
                noun,
                verb,
                asked: op.sent(),
                read,
                path: answer.path(),
                czxid,
                session: answer.session(),
            }
        })
}

/// Looks for persistent ones among the znodes of grants.
pub fn persistent_contenders(run: &Analysis<'_>, out: &mut Findings) {
    judge_persistence(run, &grant_places(run), out);
}

/// Looks for persistent ones among the znodes of a group's members.
pub fn persistent_members(run: &Analysis<'_>, out: &mut Findings) {
    judge_persistence(run, &registration_places(run), out);
}

/// Looks for persistent ones among the znodes of grants or of members. A recipe makes all of its znodes in one way, so
/// one anomaly stands for all: the first.
pub fn judge_persistence(run: &Analysis<'_>, places: &[HolderZnode<'_>], out: &mut Findings) {
    let persistent: Vec<&HolderZnode<'_>> = places.iter().filter(|place| is_persistent(run, place)).collect();
    if let Some(first) = persistent.first() {
        let why = format!(
            "{} was read at {} and rests on {}. The transaction log shows that transaction 0x{:x} created this znode as a persistent one: \
             when its client dies it stays, and excludes everybody until somebody removes it. So it is of {} of {}. This is an \
             observation and no violation.",
            first.words,
            run.at(first.read),
            first.path,
            first.czxid,
            persistent.len(),
            count(places.len(), "znode"),
        );
        let found = Finding::new("persistent-contender", "no leaks", vec![first.read], why);
        out.add(run, found.advisory(true));
    }
    out.ran("persistent-contender", places.len());
}

fn is_persistent(run: &Analysis<'_>, place: &HolderZnode<'_>) -> bool {
    let txn = run.log.create(place.czxid, Some(place.path));
    let mut changes = txn.into_iter().flat_map(|txn| txn.changes());
    let create = changes.find(|change| change.path == place.path && creates(change.op));
    create.is_some_and(|create| create.ephemeral == Some(false))
}
