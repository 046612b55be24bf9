//! Histories of a counter as people tell them: see [`crate::queue::told`] for the words.

use crate::queue::told;
use crate::script::{audited, znode};
use zooquake_checkers::evidence::Znode;
use zooquake_checkers::{Anomaly, Record, Results};

/// A run by three clients, with this history and an empty tree that was read twice.
pub fn record(text: &str) -> Record {
    let mut record = told::record("versioned", text);
    record.plan.workload.family = "counter".to_owned();
    record
}

/// The znode with these data.
pub fn counter(data: &str) -> Znode {
    Znode {
        data: data.to_owned(),
        owner: None,
        ..znode("/counter", 1, "")
    }
}

/// The run with a counter that holds this in both readings of the tree.
pub fn held(text: &str, data: &str) -> Record {
    let mut record = record(text);
    record.tree = Some(audited(&record.history, vec![counter(data)], vec![counter(data)]));
    record
}

/// The only anomaly of a history, which is of this kind; its witness convicts by itself, and no event can be left out.
#[track_caller]
pub fn only(text: &str, kind: &str) -> Anomaly {
    let record = record(text);
    let anomaly = told::only_of(&record, kind);
    told::minimal(&record, &anomaly);
    anomaly
}

/// Wants no anomaly.
#[track_caller]
pub fn silent(text: &str) -> Results {
    told::silent_of(&record(text))
}
