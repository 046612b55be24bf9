//! The families of workloads that can be judged. A new one is a file and a line here.

use crate::Record;
use crate::barrier;
use crate::commit;
use crate::counter;
use crate::election;
use crate::lock;
use crate::queue;
use crate::register;
use crate::results::{Results, Verdict};
use crate::scenes;
use crate::semaphore;

/// A family of workloads.
#[derive(Debug)]
pub struct Family {
    /// Its name in a plan.
    pub name: &'static str,
    /// The whole verdict over a run of it.
    pub check: fn(&Record) -> Results,
    /// The checkers of its own, by the names in `results.json`; those of [`crate::ensemble::CHECKERS`] run for every family.
    pub checkers: &'static [&'static str],
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "lock",
        check: lock::check,
        checkers: lock::CHECKERS,
    },
    Family {
        name: "rwlock",
        check: lock::check,
        checkers: lock::CHECKERS,
    },
    Family {
        name: "election",
        check: election::check,
        checkers: election::CHECKERS,
    },
    Family {
        name: "semaphore",
        check: semaphore::check,
        checkers: semaphore::CHECKERS,
    },
    Family {
        name: "commit",
        check: commit::check,
        checkers: commit::CHECKERS,
    },
    Family {
        name: "barrier",
        check: barrier::check,
        checkers: barrier::CHECKERS,
    },
    Family {
        name: "queue",
        check: queue::check,
        checkers: queue::CHECKERS,
    },
    Family {
        name: "register",
        check: register::check,
        checkers: register::CHECKERS,
    },
    Family {
        name: "counter",
        check: counter::check,
        checkers: counter::CHECKERS,
    },
    Family {
        name: "ensemble",
        check: scenes::check,
        checkers: scenes::CHECKERS,
    },
];

/// Judges a record: the same results for the same record, always.
///
/// A family that nobody can judge is `unknown`, with that as the reason.
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
