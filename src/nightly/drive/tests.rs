use super::*;
use crate::backends::{docker, sim};
use crate::campaign::engine::{CampaignEnd, DriveLimits, TimeBudget, drive};
use crate::campaign::ensembles::tests::{Script, judged};
use crate::campaign::run_outcome::RunOutcome;
use crate::nightly::cell::tests::{attempt, cell};
use crate::nightly::folder::tests::header;
use crate::planning::case::Case;
use zooquake_checkers::Verdict;
use zooquake_reports::night::CellOutcome;

struct Stage {
    folder: tempfile::TempDir,
    order: Vec<Cell>,
}

impl Stage {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            order: header("2026-11-20").cells(),
        }
    }

    /// Drives the night, one cell after the other; returns how it ended and the cells, each with its seed, that
    /// were run.
    async fn drive(
        &self,
        limit: Option<Duration>,
        answer: fn(usize) -> RunOutcome,
        stop_after: usize,
    ) -> (CampaignEnd, Vec<String>) {
        self.drive_jobs((limit, 1), answer, stop_after).await
    }

    /// The same with so many cells at once.
    async fn drive_jobs(
        &self,
        (limit, jobs): (Option<Duration>, usize),
        answer: fn(usize) -> RunOutcome,
        stop_after: usize,
    ) -> (CampaignEnd, Vec<String>) {
        let header = header("2026-11-20");
        let campaign = header.campaign.clone();
        let mut ledger = NightLedger::open(self.folder.path(), header).unwrap();
        let night = Night {
            campaign: &campaign,
            earlier: &[],
            runner: Script::new(answer, stop_after),
        };
        let budget = TimeBudget::new(limit);
        let end = drive(&night, &self.order, &mut ledger, DriveLimits { budget, jobs })
            .await
            .unwrap();
        let name = |case: &Case| {
            let plan = case.plan();
            format!("{} {} {}", plan.workload.name(), plan.faults.join(","), plan.seed)
        };
        (end, night.runner.ran.borrow().iter().map(name).collect())
    }

    fn outcomes(&self) -> Vec<CellOutcome> {
        let ledger = NightLedger::open(self.folder.path(), header("2026-11-20")).unwrap();
        let past = NightRecord::new(String::new(), &ledger.recorded);
        self.order
            .iter()
            .map(|cell| cell::outcome(&past.attempts_at(cell)))
            .collect()
    }
}

#[tokio::test]
async fn every_cell_is_run_once_and_an_unknown_one_again() {
    let stage = Stage::new();
    let answer = |n| judged(if n == 1 { Verdict::Unknown } else { Verdict::Valid });
    let (end, ran) = stage.drive(None, answer, usize::MAX).await;
    assert_eq!(end, CampaignEnd::Through);
    let seeds: Vec<&str> = ran.iter().filter_map(|name| name.split(' ').next_back()).collect();
    assert_eq!(seeds, ["1", "2", "1", "1", "1"]);
    assert_eq!(stage.outcomes(), [CellOutcome::Expected; 4]);
}

#[tokio::test]
async fn a_night_that_was_stopped_goes_on_where_it_was() {
    let stage = Stage::new();
    let (end, first) = stage.drive(None, |_| judged(Verdict::Valid), 3).await;
    assert_eq!((end, first.len()), (CampaignEnd::Interrupted, 3));
    assert_eq!(stage.outcomes()[3], CellOutcome::Skipped);
    let (end, second) = stage.drive(None, |_| judged(Verdict::Valid), usize::MAX).await;
    assert_eq!(end, CampaignEnd::Through);
    let Cell { variant, faults, .. } = &stage.order[3];
    assert_eq!(second, [format!("{variant} {faults} 1")], "nothing is done twice");
}

#[tokio::test]
async fn cells_that_ran_at_once_are_on_record_with_each_other() {
    let stage = Stage::new();
    let (end, ran) = stage
        .drive_jobs((None, 2), |_| judged(Verdict::Valid), usize::MAX)
        .await;
    assert_eq!((end, ran.len()), (CampaignEnd::Through, 4));
    assert_eq!(stage.outcomes(), [CellOutcome::Expected; 4]);
    let ledger = NightLedger::open(stage.folder.path(), header("2026-11-20")).unwrap();
    let attempts = &ledger.recorded.attempts;
    assert!(
        stage
            .order
            .iter()
            .all(|cell| attempts.iter().any(|one| one.place == *cell))
    );
    for one in attempts {
        assert!(!one.beside.is_empty(), "{} ran alone", one.place);
        assert!(!one.beside.contains(&one.place));
        let back = |cell: &Cell| {
            attempts
                .iter()
                .any(|other| other.place == *cell && other.beside.contains(&one.place))
        };
        assert!(
            one.beside.iter().all(back),
            "{} ran beside another that did not",
            one.place
        );
    }
}

#[tokio::test]
async fn an_unknown_cell_among_several_is_run_again_and_nothing_twice() {
    let stage = Stage::new();
    let answer = |n| judged(if n == 2 { Verdict::Unknown } else { Verdict::Valid });
    let (end, mut ran) = stage.drive_jobs((None, 3), answer, usize::MAX).await;
    assert_eq!((end, ran.len()), (CampaignEnd::Through, 5));
    ran.sort();
    ran.dedup();
    assert_eq!(ran.len(), 5, "each seed of each cell is run once");
    assert_eq!(stage.outcomes(), [CellOutcome::Expected; 4]);
    let (_, again) = stage.drive_jobs((None, 3), answer, usize::MAX).await;
    assert_eq!(again, [""; 0]);
}

#[tokio::test]
async fn what_goes_on_when_it_is_stopped_is_recorded() {
    let stage = Stage::new();
    let (end, first) = stage.drive_jobs((None, 2), |_| judged(Verdict::Valid), 2).await;
    assert_eq!((end, first.len()), (CampaignEnd::Interrupted, 2));
    let (end, second) = stage
        .drive_jobs((None, 2), |_| judged(Verdict::Valid), usize::MAX)
        .await;
    assert_eq!((end, second.len()), (CampaignEnd::Through, 2));
    assert!(second.iter().all(|cell| !first.contains(cell)));
}

#[tokio::test]
async fn without_time_nothing_is_begun() {
    let stage = Stage::new();
    let short = Some(Duration::from_secs(10));
    let (end, ran) = stage.drive(short, |_| judged(Verdict::Valid), usize::MAX).await;
    assert_eq!((end, ran.len()), (CampaignEnd::Through, 0));
    assert_eq!(stage.outcomes(), [CellOutcome::Skipped; 4]);
}

#[tokio::test]
async fn a_harness_that_keeps_failing_is_given_up() {
    let stage = Stage::new();
    let failed = |_| RunOutcome::Failed {
        run: None,
        error: "no engine".into(),
    };
    let (end, ran) = stage.drive(None, failed, usize::MAX).await;
    assert_eq!((end, ran.len()), (CampaignEnd::GivenUp, 3));
    assert_eq!(stage.outcomes()[..2], [CellOutcome::Failed; 2]);
    let (_, ran) = stage.drive(None, |_| judged(Verdict::Valid), usize::MAX).await;
    assert_eq!(ran.len(), 4, "what failed is tried again when the night is taken up");
}

#[test]
fn the_nearest_kin_tells_how_long_it_takes() {
    let time = Duration::from_secs(30);
    let took = |faults: &str, variant: &str, seconds: f64| {
        let mut attempt = attempt(&cell(faults, 1), Some(Verdict::Valid), &[]);
        attempt.place.variant = variant.into();
        CellAttempt { seconds, ..attempt }
    };
    let past = [
        took("kill", "lock/predecessor", 61.0),
        took("pause", "lock/predecessor", 52.0),
        took("pause", "lock/predecessor", 55.0),
        took("pause", "commit/atomic", 90.0),
    ];
    let of = |faults: &str, past: &[CellAttempt]| {
        expected(&cell(faults, 9), docker::KIND.first_guess(time), past.iter()).as_secs()
    };
    assert_eq!(of("pause", &past), 55);
    assert_eq!(of("disconnect", &past), 61);
    assert_eq!(of("disconnect", &past[3..]), 90);
    assert_eq!(of("disconnect", &[]), 75);
    let failed = CellAttempt {
        verdict: None,
        ..past[3].clone()
    };
    assert_eq!(of("disconnect", &[failed]), 75, "a run that failed early tells nothing");
    assert!(
        sim::KIND.first_guess(time) < Duration::from_secs(5),
        "virtual time is short"
    );
}
