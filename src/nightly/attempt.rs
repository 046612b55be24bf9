//! What came of one run of a cell.

use super::cell::Cell;
use crate::campaign::attempt;
use zooquake_checkers::Verdict;
use zooquake_reports::night::{Outcome, Seen};

/// A run of a cell that came to its end, or failed to.
pub type Attempt = attempt::Attempt<Cell>;

impl Attempt {
    /// What came of it, by the rules of [`Outcome`].
    pub fn outcome(&self) -> Outcome {
        match self.verdict {
            None => Outcome::Failed,
            Some(_) if self.anomalies.iter().any(Seen::is_new) => Outcome::New,
            Some(Verdict::Unknown) => Outcome::Unknown,
            Some(Verdict::Valid | Verdict::Invalid) => Outcome::Expected,
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::campaign::attempt::seen;
    use zooquake_checkers::{Anomaly, Results};

    /// An attempt at a cell with a verdict (`None`: the harness failed) and anomalies, each advisory or accepted or not.
    pub fn attempt(cell: &Cell, verdict: Option<Verdict>, anomalies: &[(&str, bool, bool)]) -> Attempt {
        let anomalies = anomalies.iter().map(|(kind, advisory, accepted)| Anomaly {
            kind: kind.to_string(),
            property: "mutual exclusion".into(),
            advisory: *advisory,
            accepted: *accepted,
            witness: vec![1],
            span: None,
            why: format!("because of {kind}"),
        });
        let results = Results {
            anomalies: anomalies.collect(),
            ..Results::default()
        };
        Attempt {
            place: cell.clone(),
            run_seed: Some(cell.seed),
            verdict,
            error: verdict.is_none().then(|| "the engine went away".to_string()),
            anomalies: seen(&results),
            reasons: vec![],
            not_judged: vec![],
            sample: None,
            run: Some(format!("run-{}", cell.seed)),
            begun: "2026-11-20T01:00:00Z".into(),
            seconds: 50.0,
            again: format!("zooquake run {} --seed {}", cell.variant, cell.seed),
        }
    }

    /// A cell of a lock.
    pub fn cell(faults: &str, seed: u64) -> Cell {
        Cell {
            variant: "lock/predecessor".into(),
            faults: faults.into(),
            seed,
        }
    }

    #[test]
    fn only_an_anomaly_that_nobody_knows_is_news() {
        let cell = cell("pause", 1);
        let outcome = |verdict, anomalies: &[(&str, bool, bool)]| attempt(&cell, verdict, anomalies).outcome();
        let invalid = Some(Verdict::Invalid);
        assert_eq!(outcome(Some(Verdict::Valid), &[]), Outcome::Expected);
        assert_eq!(
            outcome(Some(Verdict::Valid), &[("stale-holder", true, false)]),
            Outcome::Expected
        );
        assert_eq!(outcome(invalid, &[("stale-write", false, true)]), Outcome::Expected);
        let both = [("stale-write", false, true), ("double-grant", false, false)];
        assert_eq!(outcome(invalid, &both), Outcome::New);
        assert_eq!(
            attempt(&cell, invalid, &both).anomalies[0].kind,
            "double-grant",
            "news first"
        );
        assert_eq!(outcome(Some(Verdict::Unknown), &[]), Outcome::Unknown);
        assert_eq!(outcome(None, &[]), Outcome::Failed);
    }
}
