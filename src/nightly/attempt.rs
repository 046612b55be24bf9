//! One run of a cell, as the record of a night keeps it.

use super::cell::Cell;
use serde::{Deserialize, Serialize};
use zooquake_checkers::{Results, Verdict};
use zooquake_reports::night::{Outcome, Seen};

/// A run of a cell that came to its end, or failed to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The seed it was run with: the cell's, or after an unknown run the next.
    pub run_seed: u64,
    /// The verdict; `None` if the harness failed.
    pub verdict: Option<Verdict>,
    /// How the harness failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The anomalies by kind, the worst first.
    #[serde(default)]
    pub anomalies: Vec<Seen>,
    /// Why the verdict is not `valid`, and remarks.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Name of the run's folder; `None` if it never had one.
    pub run: Option<String>,
    /// When it began.
    pub begun: String,
    /// Seconds that it took from the first container to the report.
    pub seconds: f64,
    /// The command line that runs the same plan again.
    pub again: String,
    /// Which sitting of the night it was: how often the night had been taken up again before.
    #[serde(default)]
    pub sitting: usize,
}

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

/// The anomalies of a run by kind: how often, and the story of the first.
pub fn seen(results: &Results) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    for anomaly in &results.anomalies {
        let same = |seen: &&mut Seen| {
            (seen.kind.as_str(), seen.advisory, seen.accepted)
                == (anomaly.kind.as_str(), anomaly.advisory, anomaly.accepted)
        };
        match all.iter_mut().find(same) {
            Some(seen) => seen.count += 1,
            None => all.push(Seen {
                kind: anomaly.kind.clone(),
                property: anomaly.property.clone(),
                advisory: anomaly.advisory,
                accepted: anomaly.accepted,
                count: 1,
                why: anomaly.why.clone(),
            }),
        }
    }
    // What is new before what is known, and both before what is only an observation.
    all.sort_by_key(|seen| (seen.advisory, seen.accepted));
    all
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use zooquake_checkers::Anomaly;

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
            cell: cell.clone(),
            run_seed: cell.seed,
            verdict,
            error: verdict.is_none().then(|| "the engine went away".to_string()),
            anomalies: seen(&results),
            reasons: vec![],
            run: Some(format!("run-{}", cell.seed)),
            begun: "2026-11-20T01:00:00Z".into(),
            seconds: 50.0,
            again: format!("zooquake run {} --seed {}", cell.variant, cell.seed),
            sitting: 0,
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

    #[test]
    fn anomalies_of_a_kind_are_counted() {
        let three = [("stale-write", false, true); 3];
        let attempt = attempt(&cell("pause", 1), Some(Verdict::Invalid), &three);
        assert_eq!(attempt.anomalies.len(), 1);
        assert_eq!(attempt.anomalies[0].count, 3);
    }
}
