//! Observations without influence on the exit code: accepted anomalies that stay away, and failures that do.

use super::previous_nights::NightRecord;
use zooquake_history::plan::AcceptedAnomaly;
use zooquake_reports::night::NightFailure;

/// After so many nights without it an accepted anomaly is remarked upon.
const NIGHTS: usize = 10;

/// Accepted anomalies that none of the last ten nights saw which looked for them. `nights` has the oldest first and
/// tonight last; `accepted` gives what a variant declares.
pub fn no_longer_seen(nights: &[NightRecord], accepted: impl Fn(&str) -> Vec<AcceptedAnomaly>) -> Vec<String> {
    let Some(tonight) = nights.last() else {
        return Vec::new();
    };
    let mut variants: Vec<&str> = tonight.cells.iter().map(|cell| cell.variant.as_str()).collect();
    variants.dedup();
    let mut remarks = Vec::new();
    for variant in variants {
        for known in accepted(variant) {
            let looked: Vec<bool> = nights
                .iter()
                .rev()
                .filter_map(|night| saw(night, variant, &known))
                .collect();
            if looked.len() >= NIGHTS && !looked[..NIGHTS].contains(&true) {
                remarks.push(format!(
                    "{} is no longer seen: {variant} is known for it under {}, and none of the last {NIGHTS} nights that looked saw it",
                    known.anomaly,
                    known.faults.join(", ")
                ));
            }
        }
    }
    remarks
}

/// Whether a night saw the anomaly; `None` if it had no run with a verdict under faults that bring it about.
fn saw(night: &NightRecord, variant: &str, known: &AcceptedAnomaly) -> Option<bool> {
    let under = |faults: &str| {
        let named = |fault: &str| known.faults.iter().any(|other| other == fault);
        named("none") || faults.split(',').any(named)
    };
    let runs: Vec<_> = night
        .attempts
        .iter()
        .filter(|run| run.verdict.is_some() && run.place.variant == variant && under(&run.place.faults))
        .collect();
    let shows = |run: &&&super::cell::CellAttempt| {
        run.anomalies
            .iter()
            .any(|seen| !seen.advisory && seen.kind == known.anomaly)
    };
    (!runs.is_empty()).then(|| runs.iter().any(|run| shows(&run)))
}

/// Failures of the last night that ran the place which tonight does not show, though it ran it too.
pub fn gone(
    tonight: &NightRecord,
    earlier: &[NightRecord],
    failures: impl Fn(&NightRecord, &[NightRecord]) -> Vec<NightFailure>,
) -> Vec<String> {
    let Some((last, before)) = earlier.split_last() else {
        return Vec::new();
    };
    let now = failures(tonight, earlier);
    let same = |a: &NightFailure, b: &NightFailure| {
        (&a.property, &a.anomaly, &a.variant, &a.faults) == (&b.property, &b.anomaly, &b.variant, &b.faults)
    };
    failures(last, before)
        .into_iter()
        .filter(|old| tonight.judged(&old.variant, &old.faults).count() > 0 && !now.iter().any(|new| same(old, new)))
        .map(|old| {
            format!(
                "{} of {} under {}, seen in the night {}, did not appear: one quiet night proves nothing",
                old.anomaly, old.variant, old.faults, last.name
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::cell::tests::ended;
    use super::super::failures;
    use super::super::previous_nights::tests::night;
    use super::*;

    fn accepted(variant: &str) -> Vec<AcceptedAnomaly> {
        let known = AcceptedAnomaly {
            anomaly: "stale-write".into(),
            faults: vec!["pause".into()],
            reason: String::new(),
            source: String::new(),
        };
        if variant == "lock/predecessor" {
            vec![known]
        } else {
            Vec::new()
        }
    }

    fn nights(with: impl Fn(usize) -> bool, faults: &str, count: usize) -> Vec<NightRecord> {
        let one = |n: usize| {
            let end = if with(n) { "stale-write" } else { "valid" };
            night(&format!("2026-11-{:02}", n + 1), vec![ended(end, faults, 1)])
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn an_accepted_anomaly_may_stay_away_for_nine_nights() {
        assert!(no_longer_seen(&nights(|_| false, "pause", 9), accepted).is_empty());
        let remarks = no_longer_seen(&nights(|_| false, "pause", 10), accepted);
        assert_eq!(remarks.len(), 1);
        assert!(
            remarks[0].starts_with("stale-write is no longer seen: lock/predecessor"),
            "{remarks:?}"
        );
        assert!(no_longer_seen(&nights(|n| n == 5, "pause", 15), accepted).is_empty());
        assert_eq!(no_longer_seen(&nights(|n| n == 4, "pause", 15), accepted).len(), 1);
    }

    #[test]
    fn nights_that_did_not_look_do_not_count() {
        assert!(no_longer_seen(&nights(|_| false, "kill,partition", 20), accepted).is_empty());
    }

    #[test]
    fn a_failure_that_stays_away_is_told() {
        let failed = ended("double-grant", "pause", 1);
        let valid = || ended("valid", "pause", 1);
        let earlier = [night("2026-11-19", vec![failed.clone()])];
        let remarks = gone(&night("2026-11-20", vec![valid()]), &earlier, failures::all);
        assert!(remarks[0].contains("double-grant"), "{remarks:?}");
        assert!(gone(&night("2026-11-20", vec![failed]), &earlier, failures::all).is_empty());
        assert!(
            gone(&night("2026-11-20", vec![]), &earlier, failures::all).is_empty(),
            "it was not run"
        );
    }
}
