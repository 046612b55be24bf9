//! One cell of a night with its runs.

use super::{AnomalyCount, CellOutcome};
use serde::Serialize;
use zooquake_checkers::NotJudged;

/// One cell of the matrix.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// `lock/fenced`, …
    pub variant: String,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: String,
    /// The seed that its plan is drawn from.
    pub seed: u64,
    /// Which of the seeds that are drawn for this night, from 1; `None` of a seed that every night has.
    pub ordinal: Option<u64>,
    /// What came of it.
    pub outcome: CellOutcome,
    /// Its runs, in order; the last one with a verdict decides.
    pub attempts: Vec<CellRun>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CellRun {
    /// The seed it was run with.
    pub seed: u64,
    /// `valid`, `invalid`, `unknown`; `None` if the harness failed.
    pub verdict: Option<String>,
    /// How the harness failed.
    pub error: Option<String>,
    /// What was found.
    pub anomalies: Vec<AnomalyCount>,
    /// Why the verdict is not `valid`, and remarks.
    pub reasons: Vec<String>,
    /// What was not judged because its clients do not report it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<NotJudged>,
    /// The run's folder, relative to the night's.
    pub run: Option<String>,
    /// When it began.
    pub begun: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// The command line that runs the same plan again.
    pub again: String,
}

impl Cell {
    /// The attempt that decides: the last one with a verdict, else the last.
    pub fn decisive(&self) -> Option<&CellRun> {
        let judged = self.attempts.iter().rfind(|attempt| attempt.verdict.is_some());
        judged.or(self.attempts.last())
    }

    /// The seed's name, which is the same every night: `seed 7`, or `drawn seed 2` of one that is drawn for each
    /// night.
    pub fn seed_name(&self) -> String {
        match self.ordinal {
            None => format!("seed {}", self.seed),
            Some(ordinal) => format!("drawn seed {ordinal}"),
        }
    }

    /// The seed's name, and the seed where that is not part of it.
    pub fn seed_in_full(&self) -> String {
        match self.ordinal {
            None => self.seed_name(),
            Some(_) => format!("{} ({})", self.seed_name(), self.seed),
        }
    }

    /// The seed of the attempt that decides, with which of the night's it is.
    pub(super) fn seed_shown(&self) -> String {
        let seed = self.decisive().map_or(self.seed, |attempt| attempt.seed);
        match self.ordinal {
            None => format!("seed {seed}"),
            Some(ordinal) => format!("{ordinal}: seed {seed}"),
        }
    }

    /// Seconds that all its attempts took.
    pub fn seconds(&self) -> f64 {
        self.attempts.iter().map(|attempt| attempt.seconds).sum()
    }
}
