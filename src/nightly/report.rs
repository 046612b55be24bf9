//! What came of a night: from its record to its report and its exit code.

use super::failures;
use super::folder::NightHeader;
use super::previous_nights::NightRecord;
use super::{cell, remarks};
use crate::backends;
use crate::campaign::engine::CampaignEnd;
use crate::planning::names;
use crate::planning::values;
use zooquake_history::plan::Timing;
use zooquake_reports::night::{Cell, CellOutcome, CellRun, Night, Trend};

/// The whole report of tonight.
pub fn night_report(header: &NightHeader, tonight: &NightRecord, earlier: &[NightRecord], end: CampaignEnd) -> Night {
    let nights: Vec<NightRecord> = earlier.iter().chain([tonight]).cloned().collect();
    let accepted = |variant: &str| names::workload(variant).map(|w| w.accepted).unwrap_or_default();
    let mut all_remarks = remarks::gone(tonight, earlier, failures::all);
    all_remarks.extend(remarks::no_longer_seen(&nights, accepted));
    let mut night = Night {
        name: tonight.name.clone(),
        campaign: header.campaign.name.clone(),
        begun: tonight.begun.clone(),
        shard: header.shard.clone(),
        settings: settings(header),
        conclusion: Vec::new(),
        code: 0,
        cells: tonight.cells.iter().map(|cell| self::cell(tonight, cell)).collect(),
        failures: failures::all(tonight, earlier),
        remarks: all_remarks,
        trends: trends(tonight, &nights),
        nights: nights.iter().map(|night| night.name.clone()).collect(),
    };
    (night.code, night.conclusion) = conclusion(&night, end);
    night
}

fn cell(tonight: &NightRecord, cell: &super::cell::Cell) -> Cell {
    let attempts = tonight.attempts_at(cell);
    Cell {
        variant: cell.variant.clone(),
        faults: cell.faults.clone(),
        seed: cell.seed,
        outcome: decided(cell::outcome(&attempts), attempts.len()),
        attempts: attempts.into_iter().map(shown).collect(),
    }
}

/// An unknown run that was not made again, because the night was stopped or there was no time, decides nothing.
fn decided(outcome: CellOutcome, attempts: usize) -> CellOutcome {
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

/// The exit code and what decided it, the worst first. An anomaly is a proof, which a failing harness beside it does
/// not take back; a harness that failed is weaker evidence than a run that is unknown.
fn conclusion(night: &Night, end: CampaignEnd) -> (u8, Vec<String>) {
    let count = |outcome| night.count(outcome);
    let (new, failed, unknown, skipped) = (
        count(CellOutcome::New),
        count(CellOutcome::Failed),
        count(CellOutcome::Unknown),
        count(CellOutcome::Skipped),
    );
    let (all, run) = (night.cells.len(), night.cells.len() - skipped);
    let mut lines = Vec::new();
    for failure in &night.failures {
        lines.push(format!(
            "new: {} of {} under {}, in {} of {all} cells ({})",
            failure.anomaly,
            failure.variant,
            failure.faults,
            failure.seeds.len(),
            failure.since
        ));
    }
    if failed > 0 {
        lines.push(format!("the harness failed at {}", cells(failed)));
    }
    if unknown > 0 {
        lines.push(format!("{} still unknown after a second run", cells(unknown)));
    }
    match end {
        CampaignEnd::Interrupted => lines.push(format!("stopped before the end: {} not decided", cells(skipped))),
        CampaignEnd::GivenUp => lines.push(format!("given up: {} not run", cells(skipped))),
        CampaignEnd::Through if skipped > 0 => lines.push(format!("{} not run: there was no time", cells(skipped))),
        CampaignEnd::Through => {}
    }
    let code = if new > 0 {
        1
    } else if failed > 0 || end == CampaignEnd::GivenUp {
        255
    } else if unknown > 0 || end == CampaignEnd::Interrupted || (run == 0 && all > 0) {
        2
    } else {
        0
    };
    match (code, all) {
        (0, 0) => lines.insert(0, "this part of the matrix has no cells".to_string()),
        (0, _) => lines.insert(0, format!("all {run} cells that were run are as expected")),
        _ => {}
    }
    (code, lines)
}

fn cells(n: usize) -> String {
    match n {
        1 => "1 cell".to_string(),
        n => format!("{n} cells"),
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
    let seeds: Vec<String> = campaign.seeds.iter().map(ToString::to_string).collect();
    let backend = backends::kind(campaign.on);
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
        ("seeds", seeds.join(", ")),
        (
            "servers, clients",
            format!("{}, {}", campaign.cluster.servers, campaign.cluster.clients),
        ),
        ("tickTime / syncLimit / session timeout", timings.join(" or ")),
        ("ZooKeeper image", image),
        ("zooquake", header.zooquake.clone()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use super::super::cell::tests::{cell, ended};
    use super::super::folder::tests::header;
    use super::super::previous_nights::tests::night;
    use super::*;

    fn report(attempts: Vec<cell::CellAttempt>, end: CampaignEnd) -> Night {
        let mut tonight = night("2026-11-20", attempts);
        tonight.cells = ["pause", "kill", "disconnect"].map(|faults| cell(faults, 1)).into();
        night_report(&header("2026-11-20"), &tonight, &[], end)
    }

    #[test]
    fn the_exit_code_is_that_of_the_worst() {
        for (code, ends) in [
            (0, "valid stale-write valid"),
            (1, "valid double-grant valid"),
            (2, "valid unknown+unknown"),
            (255, "valid failed+failed"),
            (1, "double-grant failed+failed"),
            (255, "failed+failed unknown+unknown"),
        ] {
            let cells = ["pause", "kill", "disconnect"].into_iter().zip(ends.split(' '));
            let attempts = cells.flat_map(|(faults, ends)| ends.split('+').map(move |end| ended(end, faults, 1)));
            assert_eq!(report(attempts.collect(), CampaignEnd::Through).code, code, "{ends}");
        }
    }

    #[test]
    fn a_night_that_proves_nothing_is_not_green() {
        assert_eq!(report(vec![], CampaignEnd::Through).code, 2, "no cell was run");
        assert_eq!(
            report(vec![ended("valid", "pause", 1)], CampaignEnd::Interrupted).code,
            2
        );
        let short = report(
            vec![ended("valid", "pause", 1), ended("unknown", "kill", 1)],
            CampaignEnd::Through,
        );
        assert_eq!(short.code, 0, "an unknown run that was not made again is not counted");
        assert_eq!(short.count(CellOutcome::Skipped), 2);
        assert!(
            short.conclusion[1].contains("2 cells not run: there was no time"),
            "{short:?}"
        );
    }

    #[test]
    fn it_says_what_decided() {
        let night = report(
            vec![ended("double-grant", "kill", 1), ended("valid", "pause", 1)],
            CampaignEnd::Through,
        );
        assert!(
            night.conclusion[0].contains("double-grant of lock/predecessor under kill"),
            "{night:?}"
        );
        assert_eq!(night.failures[0].again, "zooquake run lock/predecessor --seed 1");
        let calm = report(
            vec![
                ended("valid", "kill", 1),
                ended("stale-write", "pause", 1),
                ended("valid", "disconnect", 1),
            ],
            CampaignEnd::Through,
        );
        assert_eq!(calm.conclusion, ["all 3 cells that were run are as expected"]);
    }

    #[test]
    fn trends_count_nights() {
        let earlier = [
            night("2026-11-18", vec![ended("stale-write", "pause", 1)]),
            night("2026-11-19", vec![ended("double-grant", "pause", 1)]),
        ];
        let mut tonight = night("2026-11-20", vec![ended("stale-write", "pause", 1)]);
        tonight.cells = vec![cell("pause", 1)];
        let report = night_report(&header("2026-11-20"), &tonight, &earlier, CampaignEnd::Through);
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
}
