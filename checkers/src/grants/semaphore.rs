//! The family `semaphore`.

use super::{GRANTED, exclusion, inference, judged, measures};
use crate::families::FamilyChecks;
use zooquake_history::operation::semaphore;

/// The family of semaphores.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &semaphore::FAMILY,
    check: |record| judged(record, &[&[exclusion::check], GRANTED]),
    checkers: &[
        "over-capacity",
        "stale-holder",
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
    infer: |history| inference::as_family(semaphore::FAMILY.name, history),
    needs_plan: &[
        ("idle-lock", "the session timeout"),
        ("over-capacity", "the number of leases"),
        ("stale-holder", "the number of leases"),
    ],
};
