//! The znodes that stand in both readings of the tree, and what stands behind each: a client that waits or holds, or
//! nobody who would remove it.

use super::queue_order::{self, QueueModes, QueuePlace};
use super::record::CauseZnode;
use super::subject::{AnomalySubject, WaitingClient};
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::znodes::{orphan_node, quiesce_answers};
use std::collections::{BTreeSet, HashMap};
use zooquake_history::evidence::Znode;
use zooquake_history::operation::Mode;

/// Who would remove a znode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZnodeKeeper {
    /// Nobody: it is the orphan of this anomaly.
    Orphan(usize),
    /// A client that waits by it; its anomaly.
    Waiter(usize),
    /// A client that holds by it.
    Holder,
    /// Nobody who named it.
    Unnamed,
    /// A client that named it, and neither holds nor is known to wait by it.
    Other,
}

/// A contender's znode at the end of a run.
#[derive(Debug)]
pub struct QueuedZnode<'a> {
    /// As the last reading has it.
    pub znode: &'a Znode,
    /// Its place; `None` if it is not sequential.
    pub place: Option<QueuePlace<'a>>,
    /// How it is held or waited for; `None` if that is not known.
    pub mode: Option<Mode>,
    /// Who would remove it.
    pub keeper: ZnodeKeeper,
}

/// The clients that wait, each with its anomaly, in the order of the anomalies.
pub fn waiting(found: &Findings) -> Vec<(usize, WaitingClient)> {
    let waiters = found.subjects.iter().filter_map(|(&anomaly, subject)| match subject {
        AnomalySubject::Waiter(client) => Some((anomaly, client.clone())),
        AnomalySubject::Orphan(_) | AnomalySubject::Member(_) => None,
    });
    waiters.collect()
}

/// All of them, in the order of their places; empty if the tree was not read twice.
pub fn queued<'a>(run: &Analysis<'a>, found: &Findings, waiters: &[(usize, WaitingClient)]) -> Vec<QueuedZnode<'a>> {
    let Some((before, after)) = run.record.audit() else {
        return Vec::new();
    };
    let stood: BTreeSet<(&str, i64)> = before
        .znodes
        .iter()
        .map(|znode| (znode.path.as_str(), znode.czxid))
        .collect();
    let orphans: HashMap<&CauseZnode, usize> = found
        .subjects
        .iter()
        .filter_map(|(&anomaly, subject)| match subject {
            AnomalySubject::Orphan(znode) => Some((znode, anomaly)),
            AnomalySubject::Waiter(_) | AnomalySubject::Member(_) => None,
        })
        .collect();
    let named = quiesce_answers::named_znodes(run, before, after);
    let modes = QueueModes::new(run);
    let keeper = |znode: &Znode| {
        let own = CauseZnode {
            path: znode.path.clone(),
            czxid: znode.czxid,
        };
        if let Some(&anomaly) = orphans.get(&own) {
            return ZnodeKeeper::Orphan(anomaly);
        }
        let Some(&node) = named.get(&(znode.path.as_str(), znode.czxid)) else {
            return ZnodeKeeper::Unnamed;
        };
        let mut pending = waiters
            .iter()
            .filter(|(_, client)| client.node == node && client.pending);
        let mut grants = run.grants.all.iter().filter(|grant| grant.node == node);
        let holds = grants.any(|grant| grant.czxid == Some(znode.czxid) && grant.end.is_none());
        match (pending.next(), holds) {
            (_, true) => ZnodeKeeper::Holder,
            (Some(&(anomaly, _)), false) => ZnodeKeeper::Waiter(anomaly),
            (None, false) => ZnodeKeeper::Other,
        }
    };
    let contends = |znode: &&Znode| {
        stood.contains(&(znode.path.as_str(), znode.czxid)) && orphan_node::is_below_parents(run, &znode.path)
    };
    let mut all: Vec<QueuedZnode<'a>> = after
        .znodes
        .iter()
        .filter(contends)
        .map(|znode| QueuedZnode {
            znode,
            place: queue_order::place(&znode.path),
            mode: modes.mode(&znode.path),
            keeper: keeper(znode),
        })
        .collect();
    all.sort_by_key(|queued| (queued.place, queued.znode.czxid));
    all
}
