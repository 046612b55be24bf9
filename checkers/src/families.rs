//! The registry of families.

use crate::ensemble::scenes;
use crate::family_checks::FamilyChecks;
use crate::{Results, Verdict, barrier, commit, consensus, counter, grants, membership, queue, register};
use zooquake_history::Record;
use zooquake_history::operation;

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
    let plan = &record.plan;
    let name = &plan.workload.family;
    let results = match family(name) {
        Some(family) => (family.check)(record),
        None => {
            // A plan that could not be read names no family.
            let unjudged = (record.plan_damage().is_none()).then(|| format!("nothing judges the family {name:?}"));
            Results {
                verdict: Verdict::Unknown,
                reasons: record.damage.iter().cloned().chain(unjudged).collect(),
                ..Results::default()
            }
        }
    };
    // Of a plan that could not be read, or was inferred from a history, the format is 0.
    let planned = plan.format > 0;
    Results {
        variant: planned.then(|| plan.workload.name()),
        faults: planned.then(|| plan.faults.clone()),
        seed: planned.then_some(plan.seed),
        provenance: record.provenance.clone(),
        ..results
    }
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
