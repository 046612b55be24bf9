//! The family `rwlock`.

use super::{GRANTED, WRITTEN, inference, judged, measures};
use crate::families::FamilyChecks;
use zooquake_history::operation::rwlock;

/// The family of read-write locks, with the checkers of a lock.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &rwlock::FAMILY,
    check: |record| judged(record, &[WRITTEN, GRANTED]),
    checkers: super::lock::FAMILY.checkers,
    measures: Some(measures::GRANTS),
    infer: |history| inference::as_family(rwlock::FAMILY.name, history),
    needs_plan: &[("idle-lock", "the session timeout")],
};
