//! The families that grant, a file each: `lock` and `rwlock`, in which grants may be shared; `election`, a lock under
//! other names, with the acknowledgements of its leaders; and `semaphore`, a lock that several clients may hold,
//! without any writes. Then the checkers that they share.

mod acknowledgement;
mod contradictory_answers;
pub mod election;
mod exclusion;
mod fencing;
mod grantable_time;
mod highest_excluder;
mod idle;
mod inference;
pub mod lock;
mod lost_wakeup;
mod measures;
pub mod rwlock;
pub mod semaphore;
mod stale_write;

use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::statistics::failovers;
use crate::verdict::Requirements;
use crate::znodes::{
    evidence_consistency, foreign_znode, orphan_node, persistent_contender, stolen_znode, unowned_release,
};
use crate::{Results, verdict};
use zooquake_history::Record;
use zooquake_history::operation::GrantOps;

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
