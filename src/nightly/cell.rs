//! One place in the matrix: a variant under some faults, with a seed; its runs, and what it still needs.

use crate::campaign::attempt::{self, CampaignPlace};
use fnv::FnvHasher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hasher;
use zooquake_checkers::Verdict;
use zooquake_reports::night::{AnomalyCount, CellOutcome};

/// A variant, faults and a seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// `lock/fenced`, …
    pub variant: String,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: String,
    /// What the plan is drawn from.
    pub seed: u64,
    /// Which of the seeds that are drawn for this night, from 1; `None` of a seed that every night has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} × ", self.variant, self.faults)?;
        match self.ordinal {
            None => write!(f, "seed {}", self.seed),
            Some(ordinal) => write!(f, "drawn seed {ordinal} ({})", self.seed),
        }
    }
}

impl CampaignPlace for Cell {
    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Cell {
    /// A number that depends on nothing but what the cell is (FNV-1a, its bits mixed as MurmurHash3 ends), so that it
    /// is the same in every campaign, on every machine, in every version, and of a drawn seed every night.
    pub fn hash(&self) -> u64 {
        let seed = match self.ordinal {
            None => self.seed.to_string(),
            Some(ordinal) => format!("#{ordinal}"),
        };
        let text = format!("{}|{}|{seed}", self.variant, self.faults);
        let mut fnv = FnvHasher::default();
        fnv.write(text.as_bytes());
        let hash = fnv.finish();
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }

    /// Whether a cell of another night is this one: of seeds that are drawn for each night, those of one ordinal are.
    pub fn is_same(&self, other: &Self) -> bool {
        let seeds = match (self.ordinal, other.ordinal) {
            (None, None) => self.seed == other.seed,
            (here, there) => here == there,
        };
        seeds && self.same_place(&other.variant, &other.faults)
    }

    /// Whether another cell is the same but for its seed.
    pub fn same_place(&self, variant: &str, faults: &str) -> bool {
        self.variant == variant && self.faults == faults
    }
}

/// A run of a cell that came to its end, or failed to.
pub type CellAttempt = attempt::CampaignAttempt<Cell>;

impl CellAttempt {
    /// What came of it, by the rules of [`CellOutcome`].
    pub fn outcome(&self) -> CellOutcome {
        match self.verdict {
            None => CellOutcome::Failed,
            Some(_) if self.anomalies.iter().any(AnomalyCount::is_new) => CellOutcome::New,
            Some(Verdict::Unknown) => CellOutcome::Unknown,
            Some(Verdict::Valid | Verdict::Invalid) => CellOutcome::Expected,
        }
    }
}

/// What is to be done with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellStep {
    /// Run it with this seed.
    Run(u64),
    /// Nothing: this came of it.
    Done(CellOutcome),
}

/// How often the harness may fail at a cell before it is given up, until the night is taken up again.
const FAILURES: usize = 2;

/// What a cell needs after these attempts at it, of which the harness failed at so many since the night was last taken
/// up.
///
/// A run that is unknown is made once more with the next seed, and only the second one counts. A run that the harness
/// failed at is no verdict: it is made again, also each time that the night is taken up, since what was broken may have
/// been mended.
pub fn next(cell: &Cell, attempts: &[&CellAttempt], failures: usize, next_seed: impl Fn(u64) -> u64) -> CellStep {
    let outcomes = attempts.iter().map(|attempt| attempt.outcome());
    let judged: Vec<CellOutcome> = outcomes.filter(|outcome| *outcome != CellOutcome::Failed).collect();
    let given_up = failures >= FAILURES;
    match judged.as_slice() {
        [] if given_up => CellStep::Done(CellOutcome::Failed),
        [] => CellStep::Run(cell.seed),
        [CellOutcome::Unknown] if !given_up => CellStep::Run(next_seed(cell.seed)),
        _ => CellStep::Done(outcome(attempts)),
    }
}

/// The outcome of a cell by its attempts so far: that of the last one that was judged, else of the last one;
/// [`CellOutcome::Skipped`] without any.
pub fn outcome(attempts: &[&CellAttempt]) -> CellOutcome {
    let outcomes = || attempts.iter().map(|attempt| attempt.outcome());
    let last_judged = outcomes().rfind(|outcome| *outcome != CellOutcome::Failed);
    last_judged.or(outcomes().next_back()).unwrap_or(CellOutcome::Skipped)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::campaign::attempt::seen;
    use zooquake_checkers::{Anomaly, Results};

    #[test]
    fn the_hash_is_that_of_all_versions() {
        let cell = Cell {
            variant: "lock/fenced".into(),
            faults: "pause".into(),
            seed: 1,
            ordinal: None,
        };
        assert_eq!(
            cell.hash(),
            8_715_585_429_715_471_589,
            "another number would move cells between shards"
        );
        let second = Cell {
            seed: 2,
            ..cell.clone()
        };
        assert_ne!(cell.hash(), second.hash());
        let drawn = |seed| Cell {
            seed,
            ordinal: Some(1),
            ..cell.clone()
        };
        assert_eq!(
            drawn(5).hash(),
            drawn(6).hash(),
            "a part has the same places every night"
        );
        assert!(drawn(5).is_same(&drawn(6)) && !drawn(1).is_same(&cell));
    }

    /// An attempt at a cell with a verdict (`None`: the harness failed) and anomalies, each advisory or accepted or
    /// not.
    pub fn attempt(cell: &Cell, verdict: Option<Verdict>, anomalies: &[(&str, bool, bool)]) -> CellAttempt {
        let anomalies = anomalies.iter().map(|(kind, advisory, accepted)| Anomaly {
            kind: kind.to_string(),
            property: "mutual exclusion".into(),
            advisory: *advisory,
            accepted: *accepted,
            witness: vec![1],
            span: None,
            stuck: None,
            cause: None,
            why: format!("because of {kind}"),
        });
        let results = Results {
            anomalies: anomalies.collect(),
            ..Results::default()
        };
        CellAttempt {
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
            beside: Vec::new(),
        }
    }

    /// A cell of a lock.
    pub fn cell(faults: &str, seed: u64) -> Cell {
        Cell {
            variant: "lock/predecessor".into(),
            faults: faults.into(),
            seed,
            ordinal: None,
        }
    }

    /// An attempt that ended valid, unknown, invalid by what is known (`stale-write`) or by this kind of anomaly, or
    /// not at all (`failed`).
    pub fn ended(end: &str, faults: &str, seed: u64) -> CellAttempt {
        let (verdict, anomalies) = match end {
            "failed" => (None, vec![]),
            "valid" => (Some(Verdict::Valid), vec![]),
            "unknown" => (Some(Verdict::Unknown), vec![]),
            kind => (Some(Verdict::Invalid), vec![(kind, false, kind == "stale-write")]),
        };
        attempt(&cell(faults, seed), verdict, &anomalies)
    }

    #[test]
    fn only_an_anomaly_that_nobody_knows_is_news() {
        let cell = cell("pause", 1);
        let outcome = |verdict, anomalies: &[(&str, bool, bool)]| attempt(&cell, verdict, anomalies).outcome();
        let invalid = Some(Verdict::Invalid);
        assert_eq!(outcome(Some(Verdict::Valid), &[]), CellOutcome::Expected);
        assert_eq!(
            outcome(Some(Verdict::Valid), &[("stale-holder", true, false)]),
            CellOutcome::Expected
        );
        assert_eq!(outcome(invalid, &[("stale-write", false, true)]), CellOutcome::Expected);
        let both = [("stale-write", false, true), ("double-grant", false, false)];
        assert_eq!(outcome(invalid, &both), CellOutcome::New);
        assert_eq!(
            attempt(&cell, invalid, &both).anomalies[0].kind,
            "double-grant",
            "news first"
        );
        assert_eq!(outcome(Some(Verdict::Unknown), &[]), CellOutcome::Unknown);
        assert_eq!(outcome(None, &[]), CellOutcome::Failed);
    }

    /// What the cell needs after attempts that ended so.
    fn after(ends: &[&str], failures: usize) -> CellStep {
        let attempts: Vec<CellAttempt> = ends.iter().map(|end| ended(end, "pause", 7)).collect();
        let attempts: Vec<&CellAttempt> = attempts.iter().collect();
        next(&cell("pause", 7), &attempts, failures, |seed| seed + 1)
    }

    #[test]
    fn an_unknown_cell_is_run_again_once_with_the_next_seed() {
        assert_eq!(after(&[], 0), CellStep::Run(7));
        assert_eq!(after(&["unknown"], 0), CellStep::Run(8));
        assert_eq!(after(&["unknown", "unknown"], 0), CellStep::Done(CellOutcome::Unknown));
        assert_eq!(after(&["unknown", "valid"], 0), CellStep::Done(CellOutcome::Expected));
        assert_eq!(after(&["unknown", "double-grant"], 0), CellStep::Done(CellOutcome::New));
    }

    #[test]
    fn a_verdict_ends_it() {
        assert_eq!(after(&["valid"], 0), CellStep::Done(CellOutcome::Expected));
        assert_eq!(after(&["double-grant"], 0), CellStep::Done(CellOutcome::New));
        assert_eq!(after(&["failed", "valid"], 0), CellStep::Done(CellOutcome::Expected));
    }

    #[test]
    fn the_harness_may_fail_once_until_the_night_is_taken_up_again() {
        assert_eq!(after(&["failed"], 1), CellStep::Run(7));
        assert_eq!(after(&["failed", "failed"], 2), CellStep::Done(CellOutcome::Failed));
        assert_eq!(after(&["failed", "failed"], 0), CellStep::Run(7));
        assert_eq!(
            after(&["unknown", "failed", "failed"], 2),
            CellStep::Done(CellOutcome::Unknown)
        );
    }
}
