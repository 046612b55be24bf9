//! The family `election`.

use super::{GRANTED, WRITTEN, acknowledgement, inference, judged, measures};
use crate::families::FamilyChecks;
use zooquake_history::operation::election;

/// The family of elections.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &election::FAMILY,
    check: |record| judged(record, &[WRITTEN, GRANTED, &[acknowledgement::check]]),
    checkers: &[
        "two-leaders",
        "stale-leader",
        "stale-write",
        "epoch-regression",
        "unowned-release",
        "foreign-znode",
        "stolen-znode",
        "persistent-contender",
        "no-leader",
        "leaderless",
        "orphan-node",
        "unacknowledged-leader",
        "evidence",
    ],
    measures: Some(measures::TERMS),
    infer: |history| inference::as_family(election::FAMILY.name, history),
    needs_plan: &[("leaderless", "the session timeout")],
};
