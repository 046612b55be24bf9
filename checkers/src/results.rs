//! Results: the verdict and what it rests on. Nothing in them differs from one check of a record to the next.

use crate::Cause;
use crate::analysis::AnomalySpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use zooquake_history::Provenance;
use zooquake_history::plan::On;

/// The verdict over a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every property held, and the evidence of the run suffices for that.
    Valid,
    /// Some anomaly that is not advisory was found.
    Invalid,
    /// Nothing was found, but the evidence of the run does not suffice for `valid`.
    #[default]
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Unknown => "unknown",
        })
    }
}

/// The version of the form of results, which grows where an entry changes its meaning; 0 of results that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultsFormat(u32);

impl ResultsFormat {
    fn of_former() -> Self {
        Self(0)
    }
}

impl Default for ResultsFormat {
    /// The form that this program writes.
    fn default() -> Self {
        Self(1)
    }
}

/// The verdict over a run and what it rests on: the content of `results.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// The version of the form of these results.
    #[serde(default = "ResultsFormat::of_former")]
    pub format: ResultsFormat,
    /// What was run, as `family/variant`; left out of a history without a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The kinds of fault that were asked for; left out of a history without a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<String>>,
    /// The number that the plan was drawn from; left out of a history without a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// `valid`, `invalid` or `unknown`.
    pub verdict: Verdict,
    /// Where the run took place; left out for a real ensemble and for a history without a plan.
    #[serde(default, skip_serializing_if = "On::is_real")]
    pub on: On,
    /// What recorded the run, as its record has it; left out where that does not. What checks it is nowhere in results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The model that a history was searched as, where it was inferred from its operations; else left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was found, the worst first (not advisory before advisory, then by the first event of the witness).
    pub anomalies: Vec<Anomaly>,
    /// Why the verdict is not `valid`, apart from the anomalies; remarks for the reader of a valid one start with
    /// `note: `.
    pub reasons: Vec<String>,
    /// What was not judged because clients declared that they cannot give what it rests on, or because the record of a
    /// consensus protocol is of a version that did not have it. It forbids no verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<NotJudged>,
    /// Every fault window of the plan.
    pub windows: Vec<WindowResult>,
    /// Each checker that ran and what it looked at.
    pub checkers: BTreeMap<String, Value>,
    /// Counts and durations taken from the history.
    pub stats: BTreeMap<String, Value>,
}

impl Results {
    /// The anomaly that another one follows from and is counted with; `None` of a root. What is new is counted by
    /// itself where its root is known: a variant that declares the root does not declare it.
    pub fn root(&self, anomaly: &Anomaly) -> Option<&Anomaly> {
        let root = self.anomalies.get(anomaly.cause.as_ref()?.root?)?;
        (anomaly.advisory || anomaly.accepted || !root.accepted).then_some(root)
    }
}

/// What a check did not judge, or not of everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NotJudged {
    /// The name of the anomaly that it looks for, such as `stale-write`.
    pub check: String,
    /// What it lacks, of whom, and what it still judges.
    pub why: String,
}

/// One violation, or one advisory observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// Its name, such as `stale-write`.
    pub kind: String,
    /// The property it concerns, such as `mutual exclusion`.
    pub property: String,
    /// Whether it is an observation only, which never changes the verdict.
    pub advisory: bool,
    /// Whether the variant declares it as known under a fault that was near it: on, or ended less than one session
    /// timeout before.
    pub accepted: bool,
    /// Indexes of the events that prove it, ascending; none of them can be left out, unless `why` states that this was
    /// not tried.
    pub witness: Vec<usize>,
    /// When it came about, for the faults that were near it; `None` if no faults are asked for: in a search of somebody
    /// else's history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<AnomalySpan>,
    /// Index of the event that sent the operation which cannot have its answer; `None` of what a search does not find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<usize>,
    /// What it comes from, where the evidence proves that or leaves few possibilities; `None` where nothing decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// One paragraph in words.
    pub why: String,
}

/// What became of one fault window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowResult {
    /// Number of the window in the plan.
    pub id: usize,
    /// The kind of fault, such as `pause`.
    pub fault: String,
    /// Whom it hit, such as `c3` or `n1,n2`; empty if it never began.
    pub target: String,
    /// Whether it counts: its effect was verified on the spot and an operation was in flight in it.
    pub counts: bool,
    /// Why it counts or does not.
    pub why: String,
    /// Nanoseconds since the run began when it took effect; `None` if it never did.
    pub from: Option<u64>,
    /// Nanoseconds since the run began when it was seen healed; `None` if it never was.
    pub until: Option<u64>,
}
