//! What a comparison attempts: each turn until it has a verdict.

use super::header::ComparisonHeader;
use super::order::Turn;
use super::setup::ResolvedSetup;
use crate::campaign::ensembles::{self, Runner};
use crate::campaign::{attempt, engine, ledger};
use crate::run::slot::Slot;
use anyhow::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zooquake_checkers::Verdict;

/// A run of a turn that came to its end, or failed to.
pub type TurnAttempt = attempt::CampaignAttempt<Turn>;

/// The record of a comparison that goes on.
pub type ComparisonLedger = ledger::CampaignLedger<ComparisonHeader, TurnAttempt>;

/// What came of each turn: the last attempt at each.
pub fn last(ledger: &ComparisonLedger) -> BTreeMap<Turn, &TurnAttempt> {
    ledger
        .recorded
        .attempts
        .iter()
        .map(|attempt| (attempt.place, attempt))
        .collect()
}

/// The turns that have no verdict, in order.
pub fn left(ledger: &ComparisonLedger) -> Vec<Turn> {
    let done = last(ledger);
    let mut turns = ledger.recorded.header.turns();
    turns.retain(|turn| done.get(turn).is_none_or(|attempt| attempt.verdict.is_none()));
    turns
}

/// A comparison that is going on.
#[derive(Debug)]
pub struct Comparison<R> {
    /// What is compared.
    pub setup: ResolvedSetup,
    /// What carries the runs out.
    pub runner: R,
}

/// A turn in words.
#[derive(Debug)]
pub struct TurnJob {
    turn: Turn,
    name: String,
}

impl std::fmt::Display for TurnJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl<R: Runner> engine::Campaign for Comparison<R> {
    type Header = ComparisonHeader;
    type Attempt = TurnAttempt;
    type Place = Turn;
    type Job = TurnJob;

    fn next(&self, turn: &Turn, ledger: &ComparisonLedger) -> Option<TurnJob> {
        let mut before = ledger.recorded.attempts.iter().filter(|attempt| attempt.place == *turn);
        let now = ledger.since_opened().iter().any(|attempt| attempt.place == *turn);
        let judged = before.next_back().is_some_and(|last| last.verdict.is_some());
        (!judged && !now).then(|| TurnJob {
            turn: *turn,
            name: self.setup.setup.name(*turn),
        })
    }

    /// The mean of the runs so far.
    fn expected(&self, _job: &TurnJob, ledger: &ComparisonLedger) -> Duration {
        let judged = ledger
            .recorded
            .attempts
            .iter()
            .filter(|attempt| attempt.verdict.is_some());
        let seconds: Vec<f64> = judged.map(|attempt| attempt.seconds).collect();
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let setup = &self.setup.setup;
        let guess = || setup.backend().first_guess(Duration::from_millis(setup.time_ms));
        Duration::try_from_secs_f64(mean).unwrap_or_else(|_| guess())
    }

    /// Its slot is kept to the end: what is removed beside a run would show in its measures.
    async fn attempt(&self, job: TurnJob, _slot: Slot) -> Result<Option<TurnAttempt>> {
        let case = self.setup.spec(job.turn).case().map_err(Error::msg)?;
        let attempt = ensembles::attempt(&self.runner, job.turn, (&case, Slot::default())).await?;
        // Half a run would be measured as if it were a whole one.
        let Some(mut attempt) = attempt.filter(|_| !self.stopped()) else {
            return Ok(None);
        };
        if let (Some(_), Some(run)) = (attempt.verdict, &attempt.run) {
            attempt.sample = Some(self.runner.measure(run)?);
        }
        Ok(Some(attempt))
    }

    fn set_beside(attempt: &mut TurnAttempt, turns: Vec<Turn>) {
        attempt.beside = turns;
    }

    fn outcome(attempt: &TurnAttempt) -> String {
        let damage = attempt.anomalies.iter().filter(|seen| !seen.advisory);
        // Those of a kind that are accepted and those that are not stand apart.
        let kinds: BTreeSet<&str> = damage.map(|seen| seen.kind.as_str()).collect();
        match (&attempt.verdict, &attempt.error) {
            (Some(Verdict::Invalid), _) => format!("invalid ({})", Vec::from_iter(kinds).join(", ")),
            (Some(verdict), _) => verdict.to_string(),
            (None, error) => format!(
                "the harness failed: {}",
                error.as_deref().unwrap_or("the reason is not on record")
            ),
        }
    }

    fn failed(attempt: &TurnAttempt) -> bool {
        attempt.verdict.is_none()
    }

    fn stopped(&self) -> bool {
        self.runner.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::turns;
    use super::super::setup::tests::setup;
    use super::*;
    use crate::campaign::engine::{CampaignEnd, DriveLimits, drive};
    use crate::campaign::ensembles::tests::{Script, judged};
    use crate::campaign::ledger::ForeignRecord;
    use crate::campaign::run_outcome::RunOutcome;
    use crate::planning::case::Case;
    use std::path::Path;
    use tempfile::tempdir;

    /// Two locks, without faults, in two rounds.
    fn header() -> ComparisonHeader {
        ComparisonHeader {
            format: 1,
            setup: setup(&["predecessor", "fenced"], &["none"], &[1, 2]),
            shard: None,
            zooquake: String::new(),
            begun: "2026-11-20T22:00:00Z".into(),
        }
    }

    fn open(folder: &Path) -> ComparisonLedger {
        ComparisonLedger::open(folder, header()).unwrap()
    }

    fn failed() -> RunOutcome {
        RunOutcome::Failed {
            run: None,
            error: "no engine".into(),
        }
    }

    /// Drives it; returns how it ended and the runs by workload and seed.
    async fn go_on(
        ledger: &mut ComparisonLedger,
        answer: fn(usize) -> RunOutcome,
        stop_after: usize,
    ) -> (CampaignEnd, Vec<(String, u64)>) {
        let comparison = Comparison {
            setup: header().setup.resolve().unwrap(),
            runner: Script::new(answer, stop_after),
        };
        let turns = turns(&comparison.setup.setup);
        let end = drive(&comparison, &turns, ledger, DriveLimits::one_by_one())
            .await
            .unwrap();
        let ran = comparison.runner.ran.into_inner().into_iter();
        let named = |case: Case| (case.plan().workload.name(), case.plan().seed);
        (end, ran.map(named).collect())
    }

    fn named(turns: &[Turn]) -> Vec<(String, u64)> {
        let name = |turn: &Turn| {
            (
                format!("lock/{}", header().setup.subjects[turn.subject].variant),
                turn.seed,
            )
        };
        turns.iter().map(name).collect()
    }

    #[tokio::test]
    async fn what_was_stopped_goes_on_where_it_was() {
        let folder = tempdir().unwrap();
        let (end, _) = go_on(&mut open(folder.path()), |_| judged(Verdict::Valid), 3).await;
        assert_eq!(end, CampaignEnd::Interrupted);
        let mut ledger = open(folder.path());
        assert_eq!(ledger.recorded.attempts.len(), 2, "the third was stopped");
        let (end, second) = go_on(&mut ledger, |_| judged(Verdict::Valid), usize::MAX).await;
        assert_eq!(end, CampaignEnd::Through);
        assert_eq!(second, named(&turns(&header().setup)[2..]), "nothing is done twice");
        assert_eq!(last(&ledger).len(), 4);
        assert!(last(&ledger).values().all(|attempt| attempt.sample.is_some()));
        assert!(left(&ledger).is_empty());
    }

    #[tokio::test]
    async fn a_failure_is_recorded_and_taken_again_the_next_time() {
        let folder = tempdir().unwrap();
        let answer = |n| if n == 2 { failed() } else { judged(Verdict::Unknown) };
        let mut ledger = open(folder.path());
        let (end, ran) = go_on(&mut ledger, answer, usize::MAX).await;
        assert_eq!((end, ran.len()), (CampaignEnd::Through, 4), "the others are run");
        let lost = turns(&header().setup)[1];
        assert_eq!(last(&ledger)[&lost].error.as_deref(), Some("no engine"));
        assert_eq!(left(&ledger), [lost]);
        drop(ledger);
        let mut ledger = open(folder.path());
        let (_, ran) = go_on(&mut ledger, |_| judged(Verdict::Valid), usize::MAX).await;
        assert_eq!(ran, named(&[lost]));
        assert_eq!(last(&ledger)[&lost].verdict, Some(Verdict::Valid));
    }

    #[tokio::test]
    async fn a_harness_that_keeps_failing_is_given_up() {
        let folder = tempdir().unwrap();
        let (end, ran) = go_on(&mut open(folder.path()), |_| failed(), usize::MAX).await;
        assert_eq!((end, ran.len()), (CampaignEnd::GivenUp, 3));
    }

    /// A record as former versions wrote it.
    const FORMER: &str = r#"{"line":"comparison","format":1,"setup":{"family":"lock","subjects":[{"variant":"predecessor","zookeeper":null,"timing":{"tick_ms":250,"init_limit":20,"sync_limit":4,"session_ms":2000},"servers":3},{"variant":"fenced","zookeeper":null,"timing":{"tick_ms":250,"init_limit":20,"sync_limit":4,"session_ms":2000},"servers":3}],"faults":["none"],"seeds":[1,2],"time_ms":20000,"clients":5},"begun":"2026-11-20T22:00:00Z"}
{"line":"run","round":0,"faults":0,"subject":1,"seed":1,"verdict":"valid","anomalies":[],"run":"run-0-1","seconds":40.0}
"#;

    #[test]
    fn a_former_record_goes_on_and_another_comparison_is_refused() {
        let folder = tempdir().unwrap();
        std::fs::write(folder.path().join("compare.jsonl"), FORMER).unwrap();
        let later = ComparisonHeader {
            begun: "2026-11-21T22:00:00Z".into(),
            ..header()
        };
        let ledger = ComparisonLedger::open(folder.path(), later).unwrap();
        assert_eq!(ledger.recorded.header, header(), "it began when it began");
        assert_eq!(left(&ledger).len(), 3);
        drop(ledger);
        let other = ComparisonHeader {
            setup: setup(&["predecessor"], &["none"], &[1, 2]),
            ..header()
        };
        let refused = ComparisonLedger::open(folder.path(), other).unwrap_err();
        assert!(refused.downcast_ref::<ForeignRecord>().is_some(), "{refused:#}");
    }
}
