//! The family `election`: a lock under other names, and the acknowledgements of its leaders.

use crate::Record;
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::results::Results;
use crate::{acknowledgement, lock, verdict};

/// The checkers that run for it.
pub const CHECKERS: &[&str] = &[
    "two-leaders",
    "stale-leader",
    "stale-write",
    "epoch-regression",
    "unowned-release",
    "foreign-znode",
    "no-leader",
    "orphan-node",
    "unacknowledged-leader",
    "evidence",
];

/// The whole verdict over a run of an election.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    for check in lock::CHECKS {
        check(&run, &mut found);
    }
    acknowledgement::check(&run, &mut found);
    verdict::results(&run, found)
}
