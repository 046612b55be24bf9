//! The family `barrier`: members that meet.
//!
//! `rounds` reads out of a history what the checkers need: `early_release` and `stuck_barrier`, which asks `presence`
//! for enters and `unblocked_leaves` for leaves; [`crate::znodes::orphan_node`] audits members.

mod early_release;
mod presence;
mod rounds;
mod stuck_barrier;
mod unblocked_leaves;

use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::verdict::{self, Requirements};
use crate::znodes::{orphan_node, persistent_contender, stolen_znode};
use crate::{Record, Results};
use rounds::Rounds;

/// The checkers of the family, by the names in `results.json`.
pub const CHECKERS: &[&str] = &[
    "early-release",
    "stuck-barrier",
    "stolen-znode",
    "persistent-contender",
    "orphan-node",
];

/// The whole verdict over a run of a barrier.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let double = !record.plan.workload.capabilities().members;
    let (member, progress): (&str, &[&[&str]]) = match double {
        true => ("enter", &[&["enter"], &["leave"]]),
        false => ("join", &[&["join"], &["enter"]]),
    };
    let rounds = Rounds::new(&run, member);
    early_release::check(&run, &rounds, &mut found);
    stuck_barrier::check(&run, &rounds, double, &mut found);
    found.doubt("rounds cannot be read", &rounds.unread);
    orphan_node::check(&run, &mut found);
    if double {
        stolen_znode::check_members(&run, &mut found);
        persistent_contender::check_members(&run, &mut found);
    }
    let tree = "orphans were not looked for";
    verdict::close(
        &run,
        found,
        &Requirements {
            progress,
            tree,
            logged: if double { &["stolen-znode"] } else { &[] },
        },
    )
}
