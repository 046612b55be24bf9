//! The report of a night of runs: a page, a JUnit file, and a summary for a CI job's page.

use crate::lists;
use anyhow::Result;
pub use junit::junit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
pub use summary::summary;
use zooquake_checkers::NotJudged;

mod badge;
mod junit;
pub(crate) mod page;
mod summary;

/// What came of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellOutcome {
    /// Valid, or invalid by nothing but what is known and accepted of the variant.
    Expected,
    /// An anomaly was found that is not advisory and not accepted.
    New,
    /// Still unknown after a second run with the next seed.
    Unknown,
    /// The harness failed: no verdict.
    Failed,
    /// Not run: there was no time left, or the night was stopped.
    Skipped,
}

impl CellOutcome {
    /// All of them, the worst first.
    pub const ALL: [Self; 5] = [Self::New, Self::Failed, Self::Unknown, Self::Skipped, Self::Expected];

    /// A sign for it that needs no colour.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Expected => "✓",
            Self::New => "✗",
            Self::Unknown => "?",
            Self::Failed => "!",
            Self::Skipped => "–",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Expected => "as expected",
            Self::New => "anomaly",
            Self::Unknown => "unknown",
            Self::Failed => "harness failed",
            Self::Skipped => "not run",
        }
    }

    /// The style sheet's name for it.
    fn class(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::New => "new",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// Anomalies of one kind in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyCount {
    /// Its name, such as `stale-write`.
    pub kind: String,
    /// The property it concerns.
    pub property: String,
    /// Whether it is an observation only.
    pub advisory: bool,
    /// Whether the variant declares it as known under these faults.
    pub accepted: bool,
    /// How many there were.
    pub count: usize,
    /// Why the first is one, in words.
    pub why: String,
    /// What the first comes from, in words; empty if that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// Whether the evidence decides that cause; else it is one of several that may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cause_proven: bool,
    /// The name of the anomaly of the same run that these follow from; `None` of roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl AnomalyCount {
    /// Whether it is news: what follows from another anomaly is counted with that.
    pub fn is_new(&self) -> bool {
        !self.advisory && !self.accepted && self.root.is_none()
    }

    /// What of the same run follows from it, such as `lost-wakeup × 5, idle-lock × 1`; empty if nothing does.
    pub fn followers(&self, all: &[Self]) -> String {
        let follow = all.iter().filter(|other| other.root.as_ref() == Some(&self.kind));
        lists::joined(follow.map(|other| format!("{} × {}", other.kind, other.count)), ", ")
    }

    /// `stale-write × 2`, and what of the same run follows from it.
    pub fn counted(&self, all: &[Self]) -> String {
        match self.followers(all) {
            none if none.is_empty() => format!("{} × {}", self.kind, self.count),
            follow => format!("{} × {} (from which follow {follow})", self.kind, self.count),
        }
    }
}

/// The runs of one night with their outcomes, as the report shows them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Night {
    /// The name of its folder.
    pub name: String,
    /// The name of its campaign.
    pub campaign: String,
    /// When it began.
    pub begun: String,
    /// The part of the matrix that it ran, such as `1/4`.
    pub shard: Option<String>,
    /// Its settings, each a name and a value.
    pub settings: Vec<(String, String)>,
    /// What decides its exit code, in sentences, the worst first.
    pub conclusion: Vec<String>,
    /// Its exit code.
    pub code: u8,
    /// How many of its cells must be run at least.
    pub required: usize,
    /// What is missing of it beside what it had no time for, such as parts of a merged night, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// Its cells: by variant, then by faults, then by seed.
    pub cells: Vec<Cell>,
    /// What failed, one for each signature.
    pub failures: Vec<NightFailure>,
    /// Observations without influence on the exit code, in words.
    pub remarks: Vec<String>,
    /// How each place of the matrix did in earlier nights.
    pub trends: Vec<Trend>,
    /// The nights of the trends, the oldest first, this one last.
    pub nights: Vec<String>,
}

/// What earlier nights, and the variant itself, have of an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No earlier night saw it of this variant under these faults.
    NewTonight,
    /// An earlier night did.
    StillThere,
    /// The variant declares it under these faults.
    Known,
}

impl Standing {
    pub fn words(self) -> &'static str {
        match self {
            Self::NewTonight => "new tonight",
            Self::StillThere => "still there",
            Self::Known => "known",
        }
    }
}

impl NightFailure {
    pub fn is_new_tonight(&self) -> bool {
        self.earlier == 0
    }

    pub fn standing(&self) -> Standing {
        match self.is_new_tonight() {
            true => Standing::NewTonight,
            false => Standing::StillThere,
        }
    }
}

/// Failures with the same signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NightFailure {
    /// The property that broke.
    pub property: String,
    /// Kind of the anomaly, such as `stale-write`.
    pub anomaly: String,
    /// Name of the variant, such as `lock/fenced`.
    pub variant: String,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: String,
    /// The seeds of the cells that show it.
    pub seeds: Vec<u64>,
    /// Why the first is one, in words.
    pub why: String,
    /// What the first comes from, in words; empty if that is not known.
    pub cause: String,
    /// Whether the evidence decides that cause; else it is one of several that may be.
    pub cause_proven: bool,
    /// What follows from it in the run of the first, such as `lost-wakeup × 5`; empty if nothing does.
    pub followers: String,
    /// When it was seen first, in words.
    pub since: String,
    /// How many earlier nights saw it.
    pub earlier: usize,
    /// Their runs' folders, relative to the night's.
    pub runs: Vec<String>,
    /// The command line that runs the first one's plan again.
    pub again: String,
}

/// How a place of the matrix did over nights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trend {
    /// Name of the variant, such as `lock/fenced`.
    pub variant: String,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: String,
    /// What came of it in each night of [`Night::nights`]; `None` if it was not in that night's matrix.
    pub outcomes: Vec<Option<CellOutcome>>,
    /// The anomalies it showed, each with whether it is accepted and in how many nights it was seen.
    pub seen: Vec<(String, bool, usize)>,
    /// In how many nights it was run to a verdict.
    pub judged: usize,
}

/// Writes the report into the folder `dir`, which must exist, and returns the files written.
pub fn write_all(night: &Night, dir: &Path) -> Result<Vec<PathBuf>> {
    let files = [
        ("index.html", page::page(night)),
        ("junit.xml", junit(night)?),
        ("summary.md", summary(night)),
        ("badge.svg", badge::of_night(night)),
    ];
    crate::publish_all(files, dir)
}

impl Night {
    /// The cells that came to one of these.
    fn cells_with(&self, outcomes: &[CellOutcome]) -> Vec<&Cell> {
        let cells = self.cells.iter();
        cells.filter(|cell| outcomes.contains(&cell.outcome)).collect()
    }

    /// How many cells came to this.
    pub fn count(&self, outcome: CellOutcome) -> usize {
        self.cells_with(&[outcome]).len()
    }

    /// The failures of a standing, in their order; none is [`Standing::Known`].
    fn failures_of(&self, standing: Standing) -> Vec<&NightFailure> {
        let failures = self.failures.iter();
        failures.filter(|failure| failure.standing() == standing).collect()
    }

    /// Whether an anomaly of a cell is known and accepted, still there, or new tonight.
    fn standing(&self, cell: &Cell, seen: &AnomalyCount) -> Standing {
        let is = |failure: &&NightFailure| {
            (&failure.variant, &failure.faults) == (&cell.variant, &cell.faults)
                && (&failure.property, &failure.anomaly) == (&seen.property, &seen.kind)
        };
        match self.failures.iter().find(is) {
            _ if seen.accepted => Standing::Known,
            Some(failure) => failure.standing(),
            None => Standing::NewTonight,
        }
    }

    /// The cells of a place of the matrix, one for each seed.
    fn cells_at(&self, variant: &str, faults: &str) -> impl Iterator<Item = &Cell> {
        let here = move |cell: &&Cell| cell.variant == variant && cell.faults == faults;
        self.cells.iter().filter(here)
    }

    /// How many cells were run to an outcome.
    pub fn run(&self) -> usize {
        self.cells.len() - self.count(CellOutcome::Skipped)
    }

    /// That fewer cells were run than must be, in a sentence with the way out; `None` if enough were.
    pub fn too_few(&self) -> Option<String> {
        let (run, all) = (self.run(), self.cells.len());
        let were = if run == 1 { "was" } else { "were" };
        (run < self.required).then(|| {
            format!(
                "only {run} of {all} cells {were} run, and at least {} must be (--require): give a longer --budget, \
                 fewer cells, or more parts by --shard",
                self.required
            )
        })
    }

    /// The counts in words: `1 × anomaly, 18 × as expected`.
    fn counts(&self) -> String {
        let shown = CellOutcome::ALL.iter().filter(|outcome| self.count(**outcome) > 0);
        let counts = shown.map(|outcome| format!("{} × {}", self.count(*outcome), outcome.words()));
        match lists::joined(counts, ", ") {
            none if none.is_empty() => "no cells".to_string(),
            counts => counts,
        }
    }
}

/// One cell of the matrix.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// `lock/fenced`, or the folder of a recipe as the campaign names it.
    pub variant: String,
    /// Family and name, such as `lock/fenced`; the variant where its recipe cannot be read any more.
    pub name: String,
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
    fn seed_shown(&self) -> String {
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
