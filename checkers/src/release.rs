//! Releases: what a release removes is the znode of its own grant.

use crate::analysis::Analysis;
use crate::clients::session;
use crate::findings::{Findings, Found};
use crate::{EventType, Txn};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Looks for removed znodes that were not the grant's, in the answers and in the transaction logs.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let mut convicted = BTreeSet::new();
    let mut looked_at = 0;
    for (number, grant) in run.grants.all.iter().enumerate() {
        let (Some(read), Some(czxid), Some(at)) = (grant.read, grant.czxid, grant.released) else {
            continue;
        };
        let Some((_, Some(removed))) = run.events[at].removed() else {
            continue;
        };
        looked_at += 1;
        if removed != czxid {
            convicted.insert(number);
            let why = format!(
                "{} was read at {}; its release, answered at {}, removed a znode with the czxid 0x{removed:x}, which is \
                 another than the one that the grant rests on.",
                run.grant(number),
                run.at(read),
                run.at(at),
            );
            out.add(run, found(vec![read, at], why));
        }
    }
    looked_at += logged(run, &mut convicted, out);
    out.ran("unowned-release", looked_at);
}

fn found(witness: Vec<usize>, why: String) -> Found<'static> {
    Found::new("unowned-release", "ownership", witness, why)
}

/// By client and path: the ages of its grants there and their numbers, the oldest first.
type ByPath<'a> = BTreeMap<(&'a str, &'a str), Vec<(i64, usize)>>;

/// Who created the znode that is at a path now.
struct Incarnation {
    zxid: i64,
    session: Option<u64>,
}

/// What stands where, as the transaction logs tell it.
#[derive(Default)]
struct Standing<'a> {
    /// Who created what stands at each path, and by which transaction of these.
    there: HashMap<&'a str, (usize, Incarnation)>,
    /// How many transactions came until now.
    count: usize,
    /// By which of these all that stood before became unknown.
    forgotten: usize,
    /// By which of these each session ended.
    ended: HashMap<u64, usize>,
}

impl<'a> Standing<'a> {
    /// Follows a transaction; returns whose znode a client's delete removed, if that is known.
    ///
    /// ZooKeeper's tool does not print the parts of a multi, so that after one nothing is known until it is created again. The
    /// end of a session removes its ephemerals: those that the transaction lists, and perhaps others that the session made.
    fn follow(&mut self, txn: &'a Txn) -> Option<(&'a str, Incarnation)> {
        self.count += 1;
        let path = txn.paths.first().map(String::as_str);
        match (txn.op.as_str(), path) {
            ("createSession" | "setData" | "setACL" | "check" | "error", _) => {}
            ("closeSession", _) => {
                for path in &txn.paths {
                    self.there.remove(path.as_str());
                }
                if let Some(ended) = session(&txn.session) {
                    self.ended.insert(ended, self.count);
                } else {
                    self.forgotten = self.count;
                }
            }
            ("delete", Some(path)) => {
                let (made, znode) = self.there.remove(path)?;
                let ended = znode.session.and_then(|session| self.ended.get(&session));
                let known = made > self.forgotten && ended.is_none_or(|&ended| made > ended);
                return known.then_some((path, znode));
            }
            (op, Some(path)) if op.starts_with("create") => {
                let (zxid, session) = (txn.zxid, session(&txn.session));
                self.there.insert(path, (self.count, Incarnation { zxid, session }));
            }
            _ => self.forgotten = self.count,
        }
        None
    }
}

/// Goes through the transactions: a client that deletes, at the path of a grant of its own, a znode that another
/// session created has removed what was not its own. Where the logs lack transactions that the history names, nothing is
/// known after the gap until it is created again.
fn logged(run: &Analysis<'_>, convicted: &mut BTreeSet<usize>, out: &mut Findings) -> usize {
    let grants = &run.grants.all;
    let mut by_path = ByPath::new();
    for (number, grant) in grants.iter().enumerate() {
        if let (Some(path), Some(czxid), Some(_)) = (grant.path, grant.czxid, grant.read) {
            by_path.entry((grant.node, path)).or_default().push((czxid, number));
        }
    }
    by_path.values_mut().for_each(|own| own.sort_unstable());
    let txns = run.record.txnlog.unwrap_or_default();
    let missing = missing(run, txns);
    let mut standing = Standing::default();
    let (mut looked_at, mut last) = (0, i64::MIN);
    for txn in txns {
        if missing.range(last.min(txn.zxid)..txn.zxid).next().is_some() {
            standing.forgotten = standing.count;
        }
        last = txn.zxid;
        let Some((path, incarnation)) = standing.follow(txn) else {
            continue;
        };
        looked_at += 1;
        if let Some((grant, tie)) = owner(run, &by_path, txn, path, &incarnation)
            && convicted.insert(grant)
        {
            deleted(run, grant, tie, txn, &incarnation, out);
        }
    }
    looked_at
}

/// The transactions that answers name and the logs do not have.
fn missing(run: &Analysis<'_>, txns: &[Txn]) -> BTreeSet<i64> {
    let logged: HashSet<i64> = txns.iter().map(|txn| txn.zxid).collect();
    let named = run.events.iter().filter(|event| event.kind == EventType::Ok);
    named
        .flat_map(|event| [event.czxid(), event.mzxid(), event.zxid()])
        .flatten()
        .filter(|zxid| !logged.contains(zxid))
        .collect()
}

/// The grant under whose path the deleting client removed another's znode, and the event that ties the session to it.
fn owner(
    run: &Analysis<'_>,
    by_path: &ByPath<'_>,
    txn: &Txn,
    path: &str,
    incarnation: &Incarnation,
) -> Option<(usize, usize)> {
    let by = run.clients.sessions.get(&session(&txn.session)?)?;
    let creator = incarnation.session?;
    // Its own znode of an attempt whose grant it never reported. Whose a session is may be named behind the end of the history.
    let maker = run.clients.sessions.get(&creator);
    if maker.map_or(!run.record.whole, |of| of.node == by.node) {
        return None;
    }
    let own = by_path.get(&(by.node, path))?;
    // The last one that is older than the znode, which it may have taken for its own, else its oldest.
    let older = own.partition_point(|&(czxid, _)| czxid < incarnation.zxid);
    if own.get(older).is_some_and(|&(czxid, _)| czxid == incarnation.zxid) {
        return None;
    }
    let (_, grant) = *own.get(older.saturating_sub(1))?;
    Some((grant, by.event))
}

fn deleted(run: &Analysis<'_>, number: usize, tie: usize, txn: &Txn, incarnation: &Incarnation, out: &mut Findings) {
    let grant = &run.grants.all[number];
    let Some(read) = grant.read else { return };
    let why = format!(
        "{} was read at {}. The transaction log shows that a session of {} ({}) deleted {} in transaction 0x{:x}, when the \
         znode there was the one created in 0x{:x} by another session: none of the client's grants rests on that.",
        run.grant(number),
        run.at(read),
        grant.node,
        txn.session,
        grant.path.unwrap_or_default(),
        txn.zxid,
        incarnation.zxid,
    );
    // The grant itself may be what ties the session to the client.
    let ties = session(&txn.session) == grant.session.and_then(session);
    out.add(run, found(if ties { vec![read] } else { vec![read, tie] }, why));
}
