//! The families that grant: locks and read-write locks, in which grants may be shared; elections, a lock under other
//! names, with the acknowledgements of its leaders; and semaphores, a lock that several clients may hold, without any
//! writes. Then the checkers that they share, a file each.

mod acknowledgement;
mod contradictory_answers;
mod exclusion;
mod fencing;
mod highest_excluder;
mod holding_clients;
mod idle;
mod leases;
mod lost_wakeup;
mod stale_write;

use crate::analysis::{Analysis, LatencyKind};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, asks};
use crate::findings::Findings;
use crate::statistics::failovers;
use crate::verdict::Requirements;
use crate::znodes::{evidence_consistency, foreign_znode, holder_znodes, orphan_node, stolen_znode, unowned_release};
use crate::{Results, verdict};
use zooquake_history::operation::grant::{GRANT, MODE, f};
use zooquake_history::operation::{GrantOps, election, lock, rwlock, semaphore};
use zooquake_history::{History, Record};

type Check = fn(&Analysis<'_>, &mut Findings);

/// The checkers of what is written under grants, with exclusion itself.
const WRITTEN: &[Check] = &[exclusion::check, stale_write::check, fencing::check];

/// The checkers of whatever grants, but for exclusion.
const GRANTED: &[Check] = &[
    unowned_release::check,
    foreign_znode::check,
    stolen_znode::check,
    holder_znodes::persistent_contenders,
    lost_wakeup::check,
    idle::check,
    orphan_node::check,
    evidence_consistency::check,
    contradictory_answers::check,
];

/// The verdict of these checkers over a run of a family.
fn judged(record: &Record, checks: &[&[Check]]) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    checks
        .iter()
        .copied()
        .flatten()
        .for_each(|check| check(&run, &mut found));
    let GrantOps {
        takes, works, gives, ..
    } = run.names.ops;
    let needs = Requirements {
        progress: &[&[takes], &[gives, works]],
        tree: "orphans were not looked for",
        logged: &["foreign-znode", "stolen-znode"],
    };
    let mut results = verdict::close(&run, found, &needs);
    let leaderless = serde_json::json!(failovers(&run));
    results.stats.insert("leaderless".to_owned(), leaderless);
    results
}

/// The family of locks.
pub const LOCK: FamilyChecks = FamilyChecks {
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
    measures: Some(GRANT_MEASURES),
    infer: |history| as_family(lock::FAMILY.name, history),
    needs_plan: &[("idle-lock", "the session timeout")],
};

/// The family of read-write locks: judged and measured as locks are.
pub const RWLOCK: FamilyChecks = FamilyChecks {
    spec: &rwlock::FAMILY,
    infer: |history| as_family(rwlock::FAMILY.name, history),
    ..LOCK
};

/// The family of elections.
pub const ELECTION: FamilyChecks = FamilyChecks {
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
    measures: Some(TERM_MEASURES),
    infer: |history| as_family(election::FAMILY.name, history),
    needs_plan: &[("leaderless", "the session timeout")],
};

/// The family of semaphores.
pub const SEMAPHORE: FamilyChecks = FamilyChecks {
    spec: &semaphore::FAMILY,
    check: |record| judged(record, &[&[exclusion::check], GRANTED]),
    checkers: &[
        "over-capacity",
        "overdue-work",
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
    measures: Some(GRANT_MEASURES),
    infer: |history| as_family(semaphore::FAMILY.name, history),
    needs_plan: &[
        ("idle-lock", "the session timeout"),
        ("over-capacity", "the number of leases"),
        ("overdue-work", "for how long leases last"),
        ("stale-holder", "the number of leases"),
    ],
};

/// What is counted and waited for of locks and semaphores.
const GRANT_MEASURES: FamilyMeasures = FamilyMeasures {
    units: "grants",
    unit: "grant",
    wait: "hand-over",
    wait_sentence: "from the sending of a release to the reading of the next grant, where a client was waiting",
    compete: true,
    source: UnitSource::Grants,
    latency: LatencyKind::HandOver,
};

/// What is counted and waited for of elections.
const TERM_MEASURES: FamilyMeasures = FamilyMeasures {
    units: "terms",
    unit: "term",
    wait_sentence: "from the sending of a resignation to the reading of the next election, where a candidate was waiting",
    ..GRANT_MEASURES
};

/// What a history promises as one of this family; `None` if it is none.
fn as_family(family: &str, history: &History) -> Option<Inference> {
    let (name, basis) = granting(history)?;
    (name == family).then(|| Inference::family(basis))
}

/// The family, and what shows it.
fn granting(history: &History) -> Option<(&'static str, &'static str)> {
    let asks = |names: &[&str], field| asks(history, names, field);
    if asks(&[f::ELECT, f::RESIGN], GRANT.any()) {
        return Some((election::FAMILY.name, "it elects, so it was judged as an election"));
    }
    if asks(&[f::WORK], GRANT.any()) {
        let basis =
            "clients work under grants and write nothing, so it was judged as a semaphore, of one lease at least";
        return Some((semaphore::FAMILY.name, basis));
    }
    if asks(&[f::ACQUIRE], GRANT.any()) && asks(&[f::ACQUIRE], MODE.any()) {
        let basis = "its requests for grants name modes, so it was judged as a read-write lock";
        return Some((rwlock::FAMILY.name, basis));
    }
    asks(&[f::ACQUIRE, f::RELEASE], GRANT.any())
        .then_some((lock::FAMILY.name, "it acquires grants, so it was judged as a lock"))
}
