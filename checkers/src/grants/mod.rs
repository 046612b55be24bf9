//! The families that grant: `lock` and `rwlock`, in which grants may be shared; `election`, a lock under other names,
//! with the acknowledgements of its leaders; and `semaphore`, a lock that several clients may hold, without any writes.

mod acknowledgement;
mod contradictory_answers;
mod exclusion;
mod fencing;
mod grantable_time;
mod highest_excluder;
mod idle;
mod lost_wakeup;
mod stale_write;

use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::znodes::{evidence_consistency, foreign_znode, orphan_node};
use crate::znodes::{persistent_contender, stolen_znode, unowned_release};
use crate::{Record, Results, verdict};

/// The checkers that run for a lock and for a read-write lock.
pub const LOCK: &[&str] = &[
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
];

/// The checkers that run for an election.
pub const ELECTION: &[&str] = &[
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
];

/// The checkers that run for a semaphore.
pub const SEMAPHORE: &[&str] = &[
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
];

type Check = fn(&Analysis<'_>, &mut Findings);

/// The checkers of what is written under grants, with exclusion itself.
const WRITTEN: &[Check] = &[exclusion::check, stale_write::check, fencing::check];

/// The checkers of whatever grants, but for exclusion.
const GRANTED: &[Check] = &[
    unowned_release::check,
    foreign_znode::check,
    stolen_znode::check,
    persistent_contender::check,
    lost_wakeup::check,
    idle::check,
    orphan_node::check,
    evidence_consistency::check,
    contradictory_answers::check,
];

/// The whole verdict over a run of a lock, or of a read-write lock.
pub fn lock(record: &Record) -> Results {
    judged(record, &[WRITTEN, GRANTED])
}

/// The whole verdict over a run of an election.
pub fn election(record: &Record) -> Results {
    judged(record, &[WRITTEN, GRANTED, &[acknowledgement::check]])
}

/// The whole verdict over a run of a semaphore.
pub fn semaphore(record: &Record) -> Results {
    judged(record, &[&[exclusion::check], GRANTED])
}

fn judged(record: &Record, checks: &[&[Check]]) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    checks
        .iter()
        .copied()
        .flatten()
        .for_each(|check| check(&run, &mut found));
    verdict::results(&run, found)
}
