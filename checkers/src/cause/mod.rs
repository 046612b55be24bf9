//! What anomalies come from, where the evidence proves it or leaves few possibilities.
//!
//! A checker gives an anomaly the cause that it finds in its own evidence. When all have run, [`close`] looks at what
//! stands in whose way: who waits behind a znode inherits its cause, and anomalies of one znode, transaction or window
//! have one root.

pub mod orphan;
mod queue_order;
pub mod removal;
mod waiting;

use crate::Anomaly;
use crate::analysis::Analysis;
use crate::findings::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::operation::Mode;

/// Adds the causes that rest on several anomalies, decides what is accepted because of them, and puts the anomalies in
/// their order: not advisory before advisory, roots by their witnesses, and what follows from a root behind it.
pub fn close(run: &Analysis<'_>, found: &mut Findings) {
    waiting::add(run, found);
    link(&mut found.anomalies, &found.subjects);
    sort(&mut found.anomalies);
}

/// The cause of an anomaly. Anomalies of one znode, transaction or window have one root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The index in [`crate::Results::anomalies`] of the anomaly that this one follows from; `None` if it is a root
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<usize>,
    /// Whether the evidence decides it; else it is one of several that may be.
    pub proven: bool,
    /// The znode that it is, or that it made or removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub znode: Option<CauseZnode>,
    /// The number of the fault window that brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<i64>,
    /// The zxid of the transaction that brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<i64>,
    /// The session whose znode or end it is, as the history writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Indexes of the events that the cause rests on, ascending.
    pub events: Vec<usize>,
    /// One or two sentences in words.
    pub sentence: String,
}

/// A znode, which a later one at the same path is not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CauseZnode {
    pub path: String,
    /// The transaction that created it.
    pub czxid: i64,
}

impl CauseZnode {
    /// The znode at a path that the transaction `czxid` created.
    pub fn new(path: &str, czxid: i64) -> Self {
        let path = path.to_owned();
        Self { path, czxid }
    }
}

/// What an anomaly is about, where others may follow from it or it may follow from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnomalySubject {
    /// A znode that nobody removes.
    Orphan(CauseZnode),
    /// A client that waits to hold.
    Waiter(WaitingClient),
    /// A client that waits for the others of its round.
    Member(WaitingClient),
}

/// A client that waits. Positions are those of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingClient {
    /// Its name.
    pub node: String,
    /// Where it was asked.
    pub asked: usize,
    /// From where on it is judged that it waited.
    pub since: usize,
    /// Whether it is still waiting when the tree is read.
    pub pending: bool,
    /// How it would hold; `None` if that is not known, or if it waits for others.
    pub mode: Option<Mode>,
}

/// What two anomalies with one cause have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CauseKey {
    Znode(CauseZnode),
    Transaction(i64),
    Window(i64),
}

/// What ties an anomaly with this cause to others; nothing if the cause is not proven.
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
fn link(anomalies: &mut [Anomaly], subjects: &BTreeMap<usize, AnomalySubject>) {
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
fn sort(anomalies: &mut Vec<Anomaly>) {
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
