//! The family `lock`.

use super::{GRANTED, WRITTEN, inference, judged, measures};
use crate::families::FamilyChecks;
use zooquake_history::operation::lock;

/// The family of locks.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &lock::FAMILY,
    check: |record| judged(record, &[WRITTEN, GRANTED]),
    checkers: &[
        "double-grant",
        "stale-holder",
        "stale-write",
        "fencing-regression",
        "unowned-release",
        "foreign-znode",
        "stolen-znode",
        "persistent-contender",
        "lost-wakeup",
        "idle-lock",
        "orphan-node",
        "evidence",
    ],
    measures: Some(measures::GRANTS),
    infer: |history| inference::as_family(lock::FAMILY.name, history),
    needs_plan: &[("idle-lock", "the session timeout")],
};
