//! `persistent-contender`, advisory: the transaction logs show that a znode by which a client holds, or is a member, is
//! not ephemeral, so that it stays when its client dies.

use crate::analysis::Analysis;
use crate::analysis::transaction_log::creates;
use crate::findings::{Finding, Findings};
use crate::text::count;
use crate::znodes::holder_znodes::{self, HolderZnode};

/// Looks for them among the znodes of grants.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    judge(run, &holder_znodes::grant_places(run), out);
}

/// Looks for them among the znodes of a group's members.
pub fn check_group(run: &Analysis<'_>, out: &mut Findings) {
    judge(run, &holder_znodes::registration_places(run), out);
}

/// Looks for them among the znodes of grants or of members. A recipe makes all of its znodes in one way, so one anomaly
/// stands for all: the first.
pub fn judge(run: &Analysis<'_>, places: &[HolderZnode<'_>], out: &mut Findings) {
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
