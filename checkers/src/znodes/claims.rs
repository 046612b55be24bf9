//! The znodes that answers name as their clients' own: those of grants, of registrations in a group, and of places in
//! the rounds of a double barrier.

use crate::analysis::{Analysis, Op};
use zooquake_history::operation::{barrier, membership};

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

/// Those of grants in the order in which they were read, then those of registrations.
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

/// Those of registrations; a disputed answer is none.
pub fn registrations<'a>(run: &Analysis<'a>) -> impl Iterator<Item = ClaimedZnode<'a>> {
    named_by(run, &[membership::f::REGISTER], "registration", "is a member")
}

/// Those of members that entered a round; a disputed answer is none.
pub fn places<'a>(run: &Analysis<'a>) -> impl Iterator<Item = ClaimedZnode<'a>> {
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
