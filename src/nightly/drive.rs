//! Running what is left to run of a night.

use super::attempt::Attempt;
use super::budget::{self, Budget};
use super::campaign::Campaign;
use super::cell::Cell;
use super::clock;
use super::folder::NightFolder;
use super::past::Past;
use super::state::{self, Next};
use crate::run::ran::{End, FAILURES, Ran};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Runs plans, and says what came of them.
pub trait Runner {
    /// Runs a cell with a seed.
    ///
    /// # Errors
    /// If not even a failure can be told.
    fn run(&mut self, cell: &Cell, seed: u64) -> impl Future<Output = Result<Ran>>;

    /// The command line that runs the same again.
    fn again(&self, cell: &Cell, seed: u64) -> String;

    /// Whether the user wants it to stop.
    fn stopped(&self) -> bool;
}

/// Runs the cells in their order until each has what it needs, the budget is spent or somebody stops it.
///
/// # Errors
/// If the record cannot be written, or the runner fails beyond telling.
pub async fn drive(
    night: &mut NightFolder,
    campaign: &Campaign,
    (order, earlier): (&[Cell], &[Past]),
    budget: Budget,
    runner: &mut impl Runner,
) -> Result<End> {
    let mut failures = 0;
    for (number, cell) in order.iter().enumerate() {
        while let Next::Run(seed) = needed(night, campaign, cell) {
            if runner.stopped() {
                return Ok(End::Interrupted);
            }
            let past = earlier.iter().flat_map(|past| &past.attempts);
            let expected = budget::expected(cell, campaign.time(), past.chain(&night.recorded.attempts));
            if !budget.fits(expected) {
                eprintln!("no time for {cell}: it takes about {} s", expected.as_secs());
                break;
            }
            let place = format!("[{}/{}]", number + 1, order.len());
            eprintln!(
                "{place} {cell}{}",
                if seed == cell.seed {
                    ""
                } else {
                    ", once more with the next seed"
                }
            );
            let (begun, clock) = (clock::now()?, Instant::now());
            let attempt = match runner.run(cell, seed).await? {
                Ran::Interrupted => return Ok(End::Interrupted),
                ran => attempt(
                    night,
                    cell,
                    seed,
                    (begun, clock.elapsed()),
                    ran,
                    runner.again(cell, seed),
                ),
            };
            eprintln!("{place} {cell}: {}", attempt.outcome().words());
            failures = if attempt.verdict.is_none() { failures + 1 } else { 0 };
            night.record(attempt)?;
            if failures == FAILURES {
                eprintln!("the harness failed {FAILURES} times one after another: the night ends here");
                return Ok(End::GivenUp);
            }
        }
    }
    Ok(End::Through)
}

/// What a cell needs.
pub fn needed(night: &NightFolder, campaign: &Campaign, cell: &Cell) -> Next {
    let recorded = &night.recorded;
    let attempts: Vec<&Attempt> = recorded.attempts.iter().filter(|a| a.cell == *cell).collect();
    state::next(cell, &attempts, recorded.sitting, |seed| campaign.next_seed(seed))
}

fn attempt(night: &NightFolder, cell: &Cell, seed: u64, took: (String, Duration), ran: Ran, again: String) -> Attempt {
    let (run, results, error) = match ran {
        Ran::Judged { run, results } => (Some(run), Some(*results), None),
        Ran::Failed { run, error } => (run, None, Some(error)),
        Ran::Interrupted => (None, None, Some("it was stopped".to_string())),
    };
    Attempt {
        cell: cell.clone(),
        run_seed: seed,
        verdict: results.as_ref().map(|results| results.verdict),
        error,
        anomalies: results.as_ref().map(super::attempt::seen).unwrap_or_default(),
        reasons: results.map(|results| results.reasons).unwrap_or_default(),
        run,
        begun: took.0,
        seconds: took.1.as_secs_f64(),
        again,
        sitting: night.recorded.sitting,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::header;
    use super::super::past::cells;
    use super::*;
    use zooquake_checkers::{Results, Verdict};
    use zooquake_reports::night::Outcome;

    /// Answers from a script, and counts.
    struct Script {
        ran: Vec<(Cell, u64)>,
        answer: fn(usize) -> Ran,
        stop_after: usize,
    }

    impl Runner for Script {
        async fn run(&mut self, cell: &Cell, seed: u64) -> Result<Ran> {
            self.ran.push((cell.clone(), seed));
            Ok((self.answer)(self.ran.len()))
        }

        fn again(&self, cell: &Cell, seed: u64) -> String {
            format!("zooquake run {} --seed {seed}", cell.variant)
        }

        fn stopped(&self) -> bool {
            self.ran.len() >= self.stop_after
        }
    }

    fn judged(verdict: Verdict) -> Ran {
        Ran::Judged {
            run: "run".into(),
            results: Box::new(Results {
                verdict,
                ..Results::default()
            }),
        }
    }

    struct Stage {
        night: NightFolder,
        order: Vec<Cell>,
    }

    impl Stage {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("zooquake-drive-{name}-{}", std::process::id()));
            let header = header("2026-11-20");
            let order = cells(&header);
            let night = NightFolder::open(&path, header).unwrap();
            Self { night, order }
        }

        async fn drive(
            &mut self,
            limit: Option<Duration>,
            answer: fn(usize) -> Ran,
            stop_after: usize,
        ) -> (End, Script) {
            let mut script = Script {
                ran: vec![],
                answer,
                stop_after,
            };
            let campaign = self.night.recorded.header.campaign.clone();
            let budget = Budget {
                limit,
                begun: Instant::now(),
            };
            let end = drive(&mut self.night, &campaign, (&self.order, &[]), budget, &mut script).await;
            (end.unwrap(), script)
        }

        fn outcomes(&self) -> Vec<Outcome> {
            let past = Past::new(String::new(), &self.night.recorded);
            self.order.iter().map(|cell| state::outcome(&past.of(cell))).collect()
        }
    }

    impl Drop for Stage {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.night.path).unwrap();
        }
    }

    #[tokio::test]
    async fn every_cell_is_run_once_and_an_unknown_one_again() {
        let mut stage = Stage::new("through");
        let answer = |n| judged(if n == 1 { Verdict::Unknown } else { Verdict::Valid });
        let (end, script) = stage.drive(None, answer, usize::MAX).await;
        assert_eq!(end, End::Through);
        let seeds: Vec<u64> = script.ran.iter().map(|(_, seed)| *seed).collect();
        assert_eq!(seeds, [1, 2, 1, 1, 1]);
        assert_eq!(stage.outcomes(), [Outcome::Expected; 4]);
    }

    #[tokio::test]
    async fn a_night_that_was_stopped_goes_on_where_it_was() {
        let mut stage = Stage::new("resumed");
        let (end, first) = stage.drive(None, |_| judged(Verdict::Valid), 3).await;
        assert_eq!((end, first.ran.len()), (End::Interrupted, 3));
        assert_eq!(stage.outcomes()[3], Outcome::Skipped);
        let (end, second) = stage.drive(None, |_| judged(Verdict::Valid), usize::MAX).await;
        assert_eq!(end, End::Through);
        assert_eq!(second.ran, [(stage.order[3].clone(), 1)], "nothing is done twice");
    }

    #[tokio::test]
    async fn without_time_nothing_is_begun() {
        let mut stage = Stage::new("budget");
        let (end, script) = stage
            .drive(Some(Duration::from_secs(10)), |_| judged(Verdict::Valid), usize::MAX)
            .await;
        assert_eq!((end, script.ran.len()), (End::Through, 0));
        assert_eq!(stage.outcomes(), [Outcome::Skipped; 4]);
    }

    #[tokio::test]
    async fn a_harness_that_keeps_failing_is_given_up() {
        let mut stage = Stage::new("failing");
        let failed = |_| Ran::Failed {
            run: None,
            error: "no engine".into(),
        };
        let (end, script) = stage.drive(None, failed, usize::MAX).await;
        assert_eq!((end, script.ran.len()), (End::GivenUp, 3));
        assert_eq!(stage.outcomes()[..2], [Outcome::Failed; 2]);
    }
}
