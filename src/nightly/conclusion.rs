//! The exit code of a night, and the sentences that state what decided it.

use crate::campaign::engine::CampaignEnd;
use zooquake_reports::night::{CellOutcome, Night};

/// The share of a night's cells that must be run at least, unless the command line gives another one.
pub const REQUIRE: f64 = 0.5;

/// How many of so many cells must be run at least by a share from 0 to 1.
pub fn required(share: f64, cells: usize) -> usize {
    // A product of floats may be slightly above the whole number that it stands for.
    (share * cells as f64 - 1e-9).ceil().max(0.0) as usize
}

/// The exit code and what decided it, the worst first. An anomaly is a proof, which a failing harness beside it does
/// not take back; a harness that failed is weaker evidence than a run that is unknown.
pub fn conclusion(night: &Night, end: CampaignEnd) -> (u8, Vec<String>) {
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
            "{}: {} of {} under {}, in {} of {all} cells ({})",
            failure.standing().words(),
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
    lines.extend(night.gaps.iter().cloned());
    let gaps = !night.gaps.is_empty();
    match end {
        CampaignEnd::Interrupted => lines.push(format!("stopped before the end: {} not decided", cells(skipped))),
        CampaignEnd::GivenUp => lines.push(format!("given up: {} not run", cells(skipped))),
        CampaignEnd::Through if skipped > 0 && gaps => {
            lines.push(format!(
                "{} not run: there was no time, or a part lacks them",
                cells(skipped)
            ));
        }
        CampaignEnd::Through if skipped > 0 => lines.push(format!("{} not run: there was no time", cells(skipped))),
        CampaignEnd::Through => {}
    }
    lines.extend(night.too_few());
    let nothing = run == 0 && all > 0;
    let code = if new > 0 {
        1
    } else if failed > 0 || end == CampaignEnd::GivenUp {
        255
    } else if unknown > 0 || end == CampaignEnd::Interrupted || nothing || gaps || run < night.required {
        2
    } else {
        0
    };
    match (code, all) {
        (0, 0) => lines.insert(0, "this part of the matrix has no cells".to_string()),
        (0, _) if run == 1 => lines.insert(0, "the one cell that was run is as expected".to_string()),
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

#[cfg(test)]
mod tests {
    use super::super::cell::CellAttempt;
    use super::super::cell::tests::{cell, ended};
    use super::super::folder::tests::header;
    use super::super::header::NightHeader;
    use super::super::previous_nights::tests::night;
    use super::super::report::night_report;
    use super::*;

    fn report(attempts: Vec<CellAttempt>, end: CampaignEnd) -> Night {
        let mut tonight = night("2026-11-20", attempts);
        tonight.cells = ["pause", "kill", "disconnect"].map(|faults| cell(faults, 1)).into();
        night_report(&header("2026-11-20"), &tonight, &[], end, vec![])
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
        let none = night_report(
            &NightHeader {
                require: 0.0,
                ..header("2026-11-20")
            },
            &night("2026-11-20", vec![]),
            &[],
            CampaignEnd::Through,
            vec![],
        );
        assert_eq!(none.code, 2, "no cell was run");
        assert_eq!(
            report(vec![ended("valid", "pause", 1)], CampaignEnd::Interrupted).code,
            2
        );
        let short = report(
            vec![
                ended("valid", "pause", 1),
                ended("unknown", "kill", 1),
                ended("valid", "disconnect", 1),
            ],
            CampaignEnd::Through,
        );
        assert_eq!(short.code, 0, "an unknown run that was not made again is not counted");
        assert_eq!(short.count(CellOutcome::Skipped), 1);
        assert!(
            short.conclusion[1].contains("1 cell not run: there was no time"),
            "{short:?}"
        );
    }

    #[test]
    fn a_night_that_ran_too_few_of_its_cells_is_not_green() {
        let ran = |share, ends: &[&str]| {
            let mut tonight = night("2026-11-20", vec![]);
            tonight.cells = ["pause", "kill", "disconnect", "expire"].map(|f| cell(f, 1)).into();
            let cells = tonight.cells.iter().zip(ends);
            tonight.attempts = cells.map(|(cell, end)| ended(end, &cell.faults, 1)).collect();
            let header = NightHeader {
                require: share,
                ..header("2026-11-20")
            };
            night_report(&header, &tonight, &[], CampaignEnd::Through, vec![])
        };
        assert_eq!(ran(0.5, &["valid", "valid"]).code, 0, "half of four is enough");
        let few = ran(0.5, &["valid"]);
        assert_eq!((few.code, few.required), (2, 2));
        let line = "only 1 of 4 cells was run, and at least 2 must be (--require)";
        assert!(few.conclusion.iter().any(|said| said.starts_with(line)), "{few:?}");
        assert_eq!(ran(0.25, &["valid"]).code, 0);
        assert_eq!(ran(1.0, &["valid", "valid", "valid"]).code, 2);
        assert_eq!(ran(1.0, &["valid"; 4]).code, 0);
        assert_eq!(ran(0.5, &["double-grant"]).code, 1, "a proof stays one");
        assert_eq!(ran(0.5, &["failed"]).code, 255);
    }

    #[test]
    fn a_share_is_rounded_up() {
        let all = [(0.5, 3), (0.5, 4), (0.1, 30), (0.0, 9), (1.0, 9), (0.3, 10)];
        assert_eq!(all.map(|(share, cells)| required(share, cells)), [2, 2, 3, 0, 9, 3]);
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
}
