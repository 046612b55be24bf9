//! The families of workloads that can be judged. A new one is a file and a line here.

use crate::ensemble::scenes;
use crate::{Record, Results, Verdict, barrier, commit, counter, grants, queue, register};

/// A family of workloads.
#[derive(Debug)]
pub struct Family {
    /// Its name in a plan.
    pub name: &'static str,
    /// The whole verdict over a run of it.
    pub check: fn(&Record) -> Results,
    /// The checkers of its own, by the names in `results.json`; those of [`crate::ensemble::CHECKERS`] run for every
    /// family.
    pub checkers: &'static [&'static str],
}

const fn family(name: &'static str, check: fn(&Record) -> Results, checkers: &'static [&'static str]) -> Family {
    Family { name, check, checkers }
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    family("lock", grants::lock, grants::LOCK),
    family("rwlock", grants::lock, grants::LOCK),
    family("election", grants::election, grants::ELECTION),
    family("semaphore", grants::semaphore, grants::SEMAPHORE),
    family("commit", commit::check, commit::CHECKERS),
    family("barrier", barrier::check, barrier::CHECKERS),
    family("queue", queue::check, queue::CHECKERS),
    family("register", register::check, register::CHECKERS),
    family("counter", counter::check, counter::CHECKERS),
    family("ensemble", scenes::check, scenes::CHECKERS),
];

/// Judges a record: the same results for the same record, always.
///
/// A family without a checker is `unknown`, with that as the reason.
pub fn check(record: &Record) -> Results {
    let name = &record.plan.workload.family;
    match FAMILIES.iter().find(|family| family.name == name) {
        Some(family) => (family.check)(record),
        None => {
            let mut reasons = record.damage.clone();
            reasons.push(format!("nothing judges the family {name:?}"));
            Results {
                verdict: Verdict::Unknown,
                reasons,
                ..Results::default()
            }
        }
    }
}
