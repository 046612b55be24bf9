//! Roots: which of several anomalies with one cause the others follow from, and the order in which they stand.

use super::record::{Cause, CauseZnode};
use super::subject::AnomalySubject;
use crate::Anomaly;
use std::collections::{BTreeMap, HashMap};

/// What two anomalies with one cause have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CauseKey {
    Znode(CauseZnode),
    Transaction(i64),
    Window(i64),
}

fn keys(cause: &Cause) -> Vec<CauseKey> {
    if !cause.proven {
        return Vec::new();
    }
    let znode = cause.znode.clone().map(CauseKey::Znode);
    let transaction = cause.transaction.map(CauseKey::Transaction);
    let window = cause.window.map(CauseKey::Window);
    znode.into_iter().chain(transaction).chain(window).collect()
}

/// Links anomalies whose proven causes have a znode, a transaction or a window in common to the first of them; a
/// znode that was left comes before who is in its way. An advisory anomaly is the root of advisory ones only.
pub fn link(anomalies: &mut [Anomaly], subjects: &BTreeMap<usize, AnomalySubject>) {
    let is_orphan = |at: usize| matches!(subjects.get(&at), Some(AnomalySubject::Orphan(_)));
    let mut order: Vec<usize> = (0..anomalies.len()).collect();
    order.sort_by_key(|&at| (anomalies[at].advisory, !is_orphan(at), &anomalies[at].witness));
    let mut first: HashMap<CauseKey, usize> = HashMap::new();
    for at in order {
        let Some(cause) = &anomalies[at].cause else { continue };
        let keys = keys(cause);
        let root = cause
            .root
            .or_else(|| keys.iter().find_map(|key| first.get(key).copied()));
        let root = root.map(|root| {
            anomalies[root]
                .cause
                .as_ref()
                .and_then(|cause| cause.root)
                .unwrap_or(root)
        });
        for key in keys {
            first.entry(key).or_insert(root.unwrap_or(at));
        }
        let root = root.filter(|&root| root != at && (!anomalies[root].advisory || anomalies[at].advisory));
        if let Some(cause) = &mut anomalies[at].cause {
            cause.root = root;
        }
    }
}

/// Puts anomalies in their order: not advisory before advisory, then by the events of their witnesses; what follows
/// from another one behind its root.
pub fn sort(anomalies: &mut Vec<Anomaly>) {
    let root = |at: usize| anomalies[at].cause.as_ref().and_then(|cause| cause.root);
    let key = |at: usize| {
        let anomaly = &anomalies[at];
        (anomaly.advisory, &anomaly.witness, &anomaly.kind, &anomaly.why)
    };
    let mut order: Vec<usize> = (0..anomalies.len()).collect();
    order.sort_by(|&a, &b| {
        let place = |at: usize| (key(root(at).unwrap_or(at)), root(at).is_some(), key(at));
        place(a).cmp(&place(b))
    });
    let mut places = vec![0; order.len()];
    for (place, &at) in order.iter().enumerate() {
        places[at] = place;
    }
    let mut sorted: Vec<Anomaly> = order.iter().map(|&at| anomalies[at].clone()).collect();
    for cause in sorted.iter_mut().filter_map(|anomaly| anomaly.cause.as_mut()) {
        cause.root = cause.root.map(|root| places[root]);
    }
    *anomalies = sorted;
}
