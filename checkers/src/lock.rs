//! The families `lock` and `rwlock`: grants, in the second also shared ones.

use crate::Record;
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::results::Results;
use crate::{claims, evidence_consistency, exclusion, fencing, foreign, liveness, orphans, release, resource, verdict};

/// The checkers that run for them.
pub const CHECKERS: &[&str] = &[
    "double-grant",
    "stale-holder",
    "stale-write",
    "fencing-regression",
    "unowned-release",
    "foreign-znode",
    "lost-wakeup",
    "orphan-node",
    "evidence",
];

/// The checkers of whatever grants.
pub const CHECKS: [fn(&Analysis<'_>, &mut Findings); 9] = [
    exclusion::check,
    resource::check,
    fencing::check,
    release::check,
    foreign::check,
    liveness::check,
    orphans::check,
    evidence_consistency::check,
    claims::check,
];

/// The whole verdict over a run of a lock, or of a read-write lock.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    for check in CHECKS {
        check(&run, &mut found);
    }
    verdict::results(&run, found)
}
