//! All executions that fit what is shown: of each read the moment at which it was served, no earlier than that of the
//! read of the same kind before it in its session, and of each znode the moment at which it was deleted.

use super::definitions::{Entry, ShownView};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use zooquake_history::{
    EventType, Record, Txn,
    evidence::{Reading, Znode},
};

/// A znode in what a session showed: its path, its czxid, and the zxids of its writes.
#[derive(Debug, Clone)]
struct Lifetime {
    path: usize,
    czxid: i64,
    writes: Vec<i64>,
    /// The moment from which on it is gone.
    death: usize,
}

/// What a session showed of its reads.
struct ShownSession<'r> {
    views: Vec<&'r [Entry]>,
    paths: Vec<&'r str>,
    /// The moments: two for each zxid that is shown, right after its transaction and right before the next one.
    zxids: Vec<i64>,
    lifetimes: Vec<Lifetime>,
}

/// Whether some execution explains the views of one session: each entry was read at a moment at which its path had it;
/// each path that is left out was not listed, or not there when it was read, and is read again before it is shown
/// again.
pub fn explained(views: &[ShownView]) -> bool {
    let views: Vec<&[Entry]> = views.iter().filter_map(|view| view.members.as_deref()).collect();
    let entries = || views.iter().copied().flatten();
    let paths: BTreeSet<&str> = entries().map(|entry| entry.0.as_str()).collect();
    let paths: Vec<&str> = paths.into_iter().collect();
    let zxids: BTreeSet<i64> = entries().flat_map(|entry| [entry.1, entry.2]).collect();
    let mut znodes: BTreeMap<(usize, i64), BTreeSet<i64>> = BTreeMap::new();
    for (path, czxid, mzxid, _) in entries() {
        let number = paths.iter().position(|other| other == path).expect("it is one of them");
        znodes.entry((number, *czxid)).or_default().insert(*mzxid);
    }
    let lifetime = |((path, czxid), writes): ((usize, i64), BTreeSet<i64>)| Lifetime {
        path,
        czxid,
        writes: writes.into_iter().collect(),
        death: usize::MAX,
    };
    let mut session = ShownSession {
        views,
        paths,
        zxids: zxids.into_iter().collect(),
        lifetimes: znodes.into_iter().map(lifetime).collect(),
    };
    session.any_death(0)
}

impl ShownSession<'_> {
    /// The moment right after a transaction.
    fn moment(&self, zxid: i64) -> usize {
        2 * self.zxids.binary_search(&zxid).expect("it is shown") + 1
    }

    /// Tries every moment at which the znodes from a number on may have been deleted.
    fn any_death(&mut self, number: usize) -> bool {
        let Some(lifetime) = self.lifetimes.get(number) else {
            return self.any_reads(0, 0, &vec![0; self.paths.len()], &mut HashSet::new());
        };
        let last = self.moment(*lifetime.writes.last().expect("it was created"));
        let next = self.lifetimes.get(number + 1).filter(|next| next.path == lifetime.path);
        // Right before the transaction that makes the next one at the latest.
        let (until, never) = match next {
            Some(next) => (self.moment(next.czxid) - 1, false),
            None => (2 * self.zxids.len(), true),
        };
        let moments = (last + 1..=until).filter(|moment| moment % 2 == 0);
        let moments: Vec<usize> = moments.chain(never.then_some(usize::MAX)).collect();
        moments.into_iter().any(|death| {
            self.lifetimes[number].death = death;
            self.any_death(number + 1)
        })
    }

    /// The czxid and the mzxid that a path has at a moment.
    fn state(&self, path: usize, moment: usize) -> Option<(i64, i64)> {
        let stands = |life: &&Lifetime| life.path == path && self.moment(life.czxid) <= moment && moment < life.death;
        let life = self.lifetimes.iter().find(stands)?;
        let mut written = life.writes.iter().rev().copied();
        let mzxid = written
            .find(|&mzxid| self.moment(mzxid) <= moment)
            .unwrap_or(life.czxid);
        Some((life.czxid, mzxid))
    }

    /// Tries every moment for the list that a view rests on, and of each read of data the first that fits: what comes
    /// later can only be read later.
    fn any_reads(
        &self,
        view: usize,
        list: usize,
        data: &[usize],
        tried: &mut HashSet<(usize, usize, Vec<usize>)>,
    ) -> bool {
        let Some(entries) = self.views.get(view) else {
            return true;
        };
        if !tried.insert((view, list, data.to_vec())) {
            return false;
        }
        let end = 2 * self.zxids.len();
        (list..=end).any(|list| {
            let mut data = data.to_vec();
            let fits = self.paths.iter().enumerate().all(|(number, path)| {
                let wanted = entries
                    .iter()
                    .find(|entry| entry.0 == *path)
                    .map(|entry| (entry.1, entry.2));
                let listed = self.state(number, list).is_some();
                // What was shown had been read before: a list that lacks it is no older than that.
                if wanted.is_none() && !listed && list >= data[number] {
                    data[number] = list;
                    return true;
                }
                let read = (data[number]..=end).find(|&moment| self.state(number, moment) == wanted);
                data[number] = read.unwrap_or(data[number]);
                read.is_some() && (listed || wanted.is_none())
            });
            fits && self.any_reads(view + 1, list, &data, tried)
        })
    }
}

/// A group: path, czxid, mzxid.
type Group = BTreeSet<(String, i64, i64)>;

/// The states of the group at all moments at which a client can have been between the two readings of the tree, in any
/// execution that fits the transaction log, in its order.
pub fn between_readings(record: &Record, (first, second): (&Reading, &Reading)) -> Vec<Group> {
    let states = states(record.txnlog.as_deref().expect("a log"));
    let ends = fits(record, &states, first).into_iter().map(|(_, end)| end);
    let begins = fits(record, &states, second).into_iter().map(|(list, _)| list);
    let (from, to) = (ends.min().expect("it was read"), begins.max().expect("it was read"));
    states.get(from..=to).unwrap_or_default().to_vec()
}

/// The moments at which the group may have been listed for a reading, each with the first one at which it can have been
/// complete.
fn fits(record: &Record, states: &[Group], reading: &Reading) -> Vec<(usize, usize)> {
    let named = record.history.events[..reading.index]
        .iter()
        .filter(|event| event.kind == EventType::Ok);
    let seen = named
        .flat_map(|event| [event.czxid(), event.mzxid()])
        .flatten()
        .max()
        .unwrap_or(0);
    let entry = |znode: &Znode| (znode.path.clone(), znode.czxid, znode.mzxid);
    let read: Group = reading.znodes.iter().map(entry).collect();
    let least = usize::try_from((seen - (1 << 32)).max(0)).expect("a moment");
    let complete = |list: usize| {
        let path = |(path, ..): &(String, i64, i64)| path.clone();
        let listed: BTreeSet<String> = states[list].iter().map(path).collect();
        if !read.iter().map(path).all(|path| listed.contains(&path)) {
            return None;
        }
        // Each member is read at the first moment that fits; one that is not in the reading was gone by then.
        let first = |path: &String| {
            let wanted = read.iter().find(|entry| entry.0 == *path);
            let has = |state: &Group| state.iter().find(|entry| entry.0 == *path) == wanted;
            (list..states.len()).find(|&moment| has(&states[moment]))
        };
        let moments: Option<Vec<usize>> = listed.iter().map(first).collect();
        Some(moments?.into_iter().max().unwrap_or(list).max(list))
    };
    let lists = least.min(states.len() - 1)..states.len();
    lists.filter_map(|list| Some((list, complete(list)?))).collect()
}

/// The group after each number of transactions.
fn states(txns: &[Txn]) -> Vec<Group> {
    let mut all = vec![Group::new()];
    for txn in txns {
        let mut group = all[all.len() - 1].clone();
        let touches = |entry: &(String, i64, i64)| txn.paths.contains(&entry.0);
        match txn.op.as_str() {
            "create" => drop(group.insert((txn.paths[0].clone(), txn.zxid, txn.zxid))),
            "setData" => {
                let written = group.iter().filter(|entry| touches(entry));
                let written: Vec<_> = written.map(|entry| (entry.0.clone(), entry.1, txn.zxid)).collect();
                group.retain(|entry| !touches(entry));
                group.extend(written);
            }
            _ => group.retain(|entry| !touches(entry)),
        }
        all.push(group);
    }
    all
}
