//! The family `semaphore`: a lock that several clients may hold, with nothing that is written under it.

use crate::Record;
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::results::Results;
use crate::{claims, evidence_consistency, exclusion, foreign, liveness, orphans, release, verdict};

/// The checkers that run for it.
pub const CHECKERS: &[&str] = &[
    "over-capacity",
    "stale-holder",
    "unowned-release",
    "foreign-znode",
    "lost-wakeup",
    "orphan-node",
    "evidence",
];

/// The whole verdict over a run of a semaphore.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    for check in [
        exclusion::check,
        release::check,
        foreign::check,
        liveness::check,
        orphans::check,
        evidence_consistency::check,
        claims::check,
    ] {
        check(&run, &mut found);
    }
    verdict::results(&run, found)
}
