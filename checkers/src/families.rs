//! The registry of families, and what the checkers need of each.

use crate::ensemble::scenes;
use crate::inferred_plan::Inference;
use crate::sample::FamilyMeasures;
use crate::{Results, Verdict, barrier, commit, consensus, counter, grants, membership, queue, register};
use zooquake_history::operation::{self, Family};
use zooquake_history::{History, Record};

/// The families, as in [`zooquake_history::operation::FAMILIES`].
pub const FAMILIES: &[FamilyChecks; operation::FAMILIES.len()] = &[
    grants::LOCK,
    grants::RWLOCK,
    grants::ELECTION,
    grants::SEMAPHORE,
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::FAMILY,
    counter::FAMILY,
    membership::FAMILY,
    scenes::FAMILY,
    consensus::FAMILY,
];

/// The family of this name; `None` if nothing judges it.
pub fn family(name: &str) -> Option<&'static FamilyChecks> {
    FAMILIES.iter().find(|family| family.spec.name == name)
}

/// Judges a record: the same results for the same record, always.
///
/// A family without a checker is `unknown`, with that as the reason.
pub fn check(record: &Record) -> Results {
    let name = &record.plan.workload.family;
    let mut results = match family(name) {
        Some(family) => (family.check)(record),
        None => Results {
            verdict: Verdict::Unknown,
            reasons: [&record.damage[..], &[format!("nothing judges the family {name:?}")]].concat(),
            ..Results::default()
        },
    };
    results.provenance.clone_from(&record.provenance);
    results
}

/// A family and what the checkers need of it.
#[derive(Debug)]
pub struct FamilyChecks {
    /// Its name and operations.
    pub spec: &'static Family,
    /// The whole verdict over a run of it.
    pub check: fn(&Record) -> Results,
    /// The checkers of its own, by the names in `results.json`; those of [`crate::ensemble::CHECKERS`] run for every
    /// family.
    pub checkers: &'static [&'static str],
    /// What is counted and waited for; `None` where no client does anything.
    pub measures: Option<FamilyMeasures>,
    /// What a history of it without a plan promises; `None` if the history is none of the family.
    pub(crate) infer: fn(&History) -> Option<Inference>,
    /// The anomalies that depend on something that only a plan has, each with the words for that.
    pub(crate) needs_plan: &'static [(&'static str, &'static str)],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_what_recorded_the_run_as_the_record_has_it() {
        let with = |provenance| {
            let record = Record {
                provenance,
                ..Record::default()
            };
            serde_json::to_string(&check(&record)).expect("results are data")
        };
        let later = r#"{"era":9,"zooquake":"9.0.0"}"#;
        assert!(with(serde_json::from_str(later).ok()).contains(&format!(r#""provenance":{later},"anomalies""#)));
        assert!(!with(None).contains("provenance"), "older records keep their bytes");
    }

    #[test]
    fn each_family_of_histories_is_judged() {
        let all = zooquake_history::operation::FAMILIES.iter().map(|family| family.name);
        assert!(all.eq(FAMILIES.iter().map(|family| family.spec.name)));
    }
}
