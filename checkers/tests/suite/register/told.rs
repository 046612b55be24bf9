//! Histories of a register as people tell them: see [`crate::queue::told`] for the words.

use crate::queue::told;
use crate::script::{audited, znode};
use zooquake_checkers::evidence::Znode;
use zooquake_checkers::plan::{Cluster, Plan, Workload};
use zooquake_checkers::{Anomaly, Record, Results};

pub use crate::queue::told::kinds;

/// A run of a variant by three clients, with this history and an empty tree that was read twice.
pub fn record(variant: &str, text: &str) -> Record {
    let workload = Workload {
        family: "register".to_owned(),
        variant: variant.to_owned(),
        ..Workload::default()
    };
    let cluster = Cluster {
        servers: 3,
        clients: 3,
        ..Cluster::default()
    };
    let history = told::history(text);
    Record {
        plan: Plan {
            workload,
            cluster,
            ..Plan::default()
        },
        tree: Some(audited(&history, vec![], vec![])),
        history,
        ..Record::default()
    }
}

/// The run with a register that holds this in both readings of the tree.
pub fn held(mut record: Record, data: &str, mzxid: i64) -> Record {
    let register = Znode {
        data: data.to_owned(),
        mzxid,
        ..znode("/register", 1, "")
    };
    record.tree = Some(audited(&record.history, vec![register.clone()], vec![register]));
    record
}

/// The only anomaly of a history, which is of this kind; its witness convicts by itself, and no event can be left out.
#[track_caller]
pub fn only(variant: &str, text: &str, kind: &str) -> Anomaly {
    let record = record(variant, text);
    let anomaly = told::only_of(&record, kind);
    minimal(&record, &anomaly);
    anomaly
}

/// Wants no anomaly.
#[track_caller]
pub fn silent(variant: &str, text: &str) -> Results {
    told::silent_of(&record(variant, text))
}

/// The witness convicts by itself, and without any event of it nothing does. Without the event that wrote it a value is
/// made up, which is another property.
#[track_caller]
pub fn minimal(record: &Record, anomaly: &Anomaly) {
    let same = |other: &Anomaly| other.kind == anomaly.kind && other.property == anomaly.property;
    told::minimal_as(record, anomaly, same);
}
