//! What came of a night: from its record to its report and its exit code.

use super::header::NightHeader;
use super::previous_nights::NightRecord;
use super::{cell, conclusion, failures};
use crate::campaign::engine::CampaignEnd;
use crate::planning::{names, values};
use zooquake_history::plan::{AcceptedAnomaly, Timing};
use zooquake_reports::night::{Cell, CellOutcome, CellRun, Night, NightFailure, Trend};

/// The whole report of tonight; `gaps` are sentences on what is missing of it beside what it had no time for.
pub fn night_report(
    header: &NightHeader,
    tonight: &NightRecord,
    earlier: &[NightRecord],
    end: CampaignEnd,
    gaps: Vec<String>,
) -> Night {
    let nights: Vec<NightRecord> = earlier.iter().chain([tonight]).cloned().collect();
    let accepted = |variant: &str| names::workload(variant).map(|w| w.accepted).unwrap_or_default();
    let mut all_remarks = gone(tonight, earlier, failures::all);
    all_remarks.extend(no_longer_seen(&nights, accepted));
    let mut night = Night {
        name: tonight.name.clone(),
        campaign: header.campaign.name.clone(),
        begun: tonight.begun.clone(),
        shard: header.shard.clone(),
        settings: settings(header),
        conclusion: Vec::new(),
        code: 0,
        required: 0,
        gaps,
        cells: tonight.cells.iter().map(|cell| self::cell(tonight, cell)).collect(),
        failures: failures::all(tonight, earlier),
        remarks: all_remarks,
        trends: trends(tonight, &nights),
        nights: nights.iter().map(|night| night.name.clone()).collect(),
    };
    night.required = conclusion::required(header.require, night.cells.len());
    (night.code, night.conclusion) = conclusion::conclusion(&night, end);
    night
}

fn cell(tonight: &NightRecord, cell: &super::cell::Cell) -> Cell {
    let attempts = tonight.attempts_at(cell);
    Cell {
        variant: cell.variant.clone(),
        name: names::workload(&cell.variant).map_or_else(|_| cell.variant.clone(), |workload| workload.name()),
        faults: cell.faults.clone(),
        seed: cell.seed,
        ordinal: cell.ordinal,
        outcome: decided(cell::outcome(&attempts), attempts.len()),
        attempts: attempts.into_iter().map(shown).collect(),
    }
}

/// An unknown run that was not made again, because the night was stopped or there was no time, decides nothing.
pub fn decided(outcome: CellOutcome, attempts: usize) -> CellOutcome {
    match (outcome, attempts) {
        (CellOutcome::Unknown, 1) => CellOutcome::Skipped,
        (outcome, _) => outcome,
    }
}

fn shown(attempt: &cell::CellAttempt) -> CellRun {
    CellRun {
        seed: attempt.seed(),
        verdict: attempt.verdict.map(|verdict| verdict.to_string()),
        error: attempt.error.clone(),
        anomalies: attempt.anomalies.clone(),
        reasons: attempt.reasons.clone(),
        not_judged: attempt.not_judged.clone(),
        run: attempt.run.as_ref().map(|run| format!("runs/{run}")),
        begun: attempt.begun.clone(),
        seconds: attempt.seconds,
        again: attempt.again.clone(),
    }
}

fn trends(tonight: &NightRecord, nights: &[NightRecord]) -> Vec<Trend> {
    let mut places: Vec<(&str, &str)> = tonight
        .cells
        .iter()
        .map(|c| (c.variant.as_str(), c.faults.as_str()))
        .collect();
    places.dedup();
    places.into_iter().map(|place| trend(place, nights)).collect()
}

fn trend((variant, faults): (&str, &str), nights: &[NightRecord]) -> Trend {
    let mut seen: Vec<(String, bool, usize)> = Vec::new();
    for night in nights {
        let mut kinds: Vec<(&str, bool)> = night
            .judged(variant, faults)
            .flat_map(|run| &run.anomalies)
            .filter(|seen| !seen.advisory)
            .map(|seen| (seen.kind.as_str(), seen.accepted))
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        for (kind, accepted) in kinds {
            match seen.iter_mut().find(|(k, a, _)| (k.as_str(), *a) == (kind, accepted)) {
                Some((_, _, nights)) => *nights += 1,
                None => seen.push((kind.to_string(), accepted, 1)),
            }
        }
    }
    // News first.
    seen.sort_by_key(|(_, accepted, _)| *accepted);
    Trend {
        variant: variant.to_string(),
        faults: faults.to_string(),
        outcomes: nights.iter().map(|night| night.outcome(variant, faults)).collect(),
        seen,
        judged: nights
            .iter()
            .filter(|night| night.judged(variant, faults).count() > 0)
            .count(),
    }
}

fn settings(header: &NightHeader) -> Vec<(String, String)> {
    let campaign = &header.campaign;
    let backend = campaign.backend();
    let image = match (backend.capabilities.images, &campaign.cluster.image) {
        (false, _) => format!("none: the ensembles were {}", backend.adjective),
        (true, Some(image)) => image.clone(),
        (true, None) => "zooquake's own".to_string(),
    };
    let timing = |timing: &Timing| {
        let hazard = if timing.hazardous() {
            ", a hazard of its own"
        } else {
            ""
        };
        format!("{}{hazard}", values::timing_text(timing))
    };
    let timings: Vec<String> = campaign.timings().iter().map(timing).collect();
    [
        (
            "operations and faults",
            format!("{} s a run", campaign.time_ms as f64 / 1000.0),
        ),
        ("seeds", campaign.seeds.words(header.date())),
        (
            "servers, clients",
            format!("{}, {}", campaign.cluster.servers, campaign.cluster.clients),
        ),
        ("tickTime / syncLimit / session timeout", timings.join(" or ")),
        ("ZooKeeper image", image),
        ("zooquake", header.program()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

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
    use super::super::cell::tests::{cell, ended};
    use super::super::failures;
    use super::super::folder::tests::header;
    use super::super::previous_nights::tests::night;
    use super::*;

    #[test]
    fn trends_count_nights() {
        let earlier = [
            night("2026-11-18", vec![ended("stale-write", "pause", 1)]),
            night("2026-11-19", vec![ended("double-grant", "pause", 1)]),
        ];
        let mut tonight = night("2026-11-20", vec![ended("stale-write", "pause", 1)]);
        tonight.cells = vec![cell("pause", 1)];
        let report = night_report(&header("2026-11-20"), &tonight, &earlier, CampaignEnd::Through, vec![]);
        let trend = &report.trends[0];
        assert_eq!(
            trend.outcomes,
            [
                Some(CellOutcome::Expected),
                Some(CellOutcome::New),
                Some(CellOutcome::Expected)
            ]
        );
        let seen: Vec<_> = trend.seen.iter().map(|(k, a, n)| (k.as_str(), *a, *n)).collect();
        assert_eq!(seen, [("double-grant", false, 1), ("stale-write", true, 2)]);
        assert_eq!((trend.judged, report.nights.len()), (3, 3));
    }

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
