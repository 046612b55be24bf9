//! Releases: what a release removes is the znode of its own grant.

use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::analysis::transaction_log::{Deletion, deletions};
use crate::findings::{Finding, Findings};
use std::collections::{BTreeMap, BTreeSet};

/// A release that removed a znode of another transaction than the one that its grant rests on.
struct ForeignRemoval {
    /// The grant of the client that removed it.
    grant: usize,
    /// The transaction that created the removed znode.
    removed: i64,
    witness: Vec<usize>,
    why: String,
}

/// Looks for removed znodes that were not the grant's, in the answers and in the transaction logs.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let (all, looked_at) = foreign_removals(run);
    let mut convicted = BTreeSet::new();
    for found in all.into_iter().filter(|found| convicted.insert(found.grant)) {
        let found = Finding::new("unowned-release", "ownership", found.witness, found.why);
        out.add(run, found);
    }
    out.ran("unowned-release", looked_at);
}

/// The znodes whose removals are releases of others' znodes: by the client that removed each and the transaction that
/// created it.
pub fn removed<'a>(run: &Analysis<'a>) -> BTreeSet<(&'a str, i64)> {
    let (all, _) = foreign_removals(run);
    let client = |found: &ForeignRemoval| (run.grants.all[found.grant].node, found.removed);
    all.iter().map(client).collect()
}

/// All of them, those that answers name first, and the number of releases and deletions that were looked at.
fn foreign_removals(run: &Analysis<'_>) -> (Vec<ForeignRemoval>, usize) {
    let (mut all, mut looked_at) = (Vec::new(), 0);
    for (number, grant) in run.grants.all.iter().enumerate() {
        let (Some(read), Some(czxid), Some(at)) = (grant.read, grant.czxid, grant.released) else {
            continue;
        };
        let Some((_, Some(removed))) = run.events[at].removed() else {
            continue;
        };
        looked_at += 1;
        if removed != czxid {
            let why = format!(
                "{} was read at {}; its release, answered at {}, removed a znode with the czxid 0x{removed:x}, which is \
                 another than the one that the grant rests on.",
                run.grant(number),
                run.at(read),
                run.at(at),
            );
            all.push(ForeignRemoval {
                grant: number,
                removed,
                witness: vec![read, at],
                why,
            });
        }
    }
    looked_at += logged(run, &mut all);
    (all, looked_at)
}

/// By client and path: the ages of its grants there and their numbers, the oldest first.
type ByPath<'a> = BTreeMap<(&'a str, &'a str), Vec<(i64, usize)>>;

/// A client that deletes, at the path of a grant of its own, a znode that another session created has removed what was
/// not its own.
fn logged(run: &Analysis<'_>, all: &mut Vec<ForeignRemoval>) -> usize {
    let grants = &run.grants.all;
    let mut by_path = ByPath::new();
    for (number, grant) in grants.iter().enumerate() {
        if let (Some(path), Some(czxid), Some(_)) = (grant.path, grant.czxid, grant.read) {
            by_path.entry((grant.node, path)).or_default().push((czxid, number));
        }
    }
    by_path.values_mut().for_each(|own| own.sort_unstable());
    let deletions = deletions(run);
    for deletion in &deletions {
        if let Some((grant, tie)) = owner(run, &by_path, deletion) {
            all.extend(deleted(run, grant, tie, deletion));
        }
    }
    deletions.len()
}

/// The grant under whose path the deleting client removed another's znode, and the event that ties the session to it.
fn owner(run: &Analysis<'_>, by_path: &ByPath<'_>, deletion: &Deletion<'_>) -> Option<(usize, usize)> {
    let by = run.clients.sessions.get(&session(&deletion.txn.session)?)?;
    let (creator, czxid) = (session(&deletion.made.session)?, deletion.made.zxid);
    // Its own znode of an attempt whose grant it never reported. Whose a session is may be named behind the end of the
    // history.
    let maker = run.clients.sessions.get(&creator);
    if maker.map_or(!run.record.whole, |of| of.node == by.node) {
        return None;
    }
    let own = by_path.get(&(by.node, deletion.path))?;
    // The last one that is older than the znode, which it may have taken for its own, else its oldest.
    let older = own.partition_point(|&(age, _)| age < czxid);
    if own.get(older).is_some_and(|&(age, _)| age == czxid) {
        return None;
    }
    let (_, grant) = *own.get(older.saturating_sub(1))?;
    Some((grant, by.event))
}

fn deleted(run: &Analysis<'_>, number: usize, tie: usize, deletion: &Deletion<'_>) -> Option<ForeignRemoval> {
    let grant = &run.grants.all[number];
    let read = grant.read?;
    let by = &deletion.txn.session;
    let why = format!(
        "{} was read at {}. The transaction log shows that a session of {} ({by}) deleted {} in transaction 0x{:x}, when the \
         znode there was the one created in 0x{:x} by another session: none of the client's grants rests on that.",
        run.grant(number),
        run.at(read),
        grant.node,
        grant.path.unwrap_or_default(),
        deletion.txn.zxid,
        deletion.made.zxid,
    );
    // The grant itself may be what ties the session to the client.
    let ties = session(by) == grant.session.and_then(session);
    Some(ForeignRemoval {
        grant: number,
        removed: deletion.made.zxid,
        witness: if ties { vec![read] } else { vec![read, tie] },
        why,
    })
}
