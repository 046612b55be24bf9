//! The family `lock`.

use crate::Record;
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::results::Results;
use crate::{claims, evidence_consistency, exclusion, fencing, liveness, orphans, release, resource, verdict};

/// The checkers of whatever grants.
pub const CHECKS: [fn(&Analysis<'_>, &mut Findings); 8] = [
    exclusion::check,
    resource::check,
    fencing::check,
    release::check,
    liveness::check,
    orphans::check,
    evidence_consistency::check,
    claims::check,
];

/// The whole verdict over a run of a lock.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    for check in CHECKS {
        check(&run, &mut found);
    }
    verdict::results(&run, found)
}
