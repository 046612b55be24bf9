//! A family of workloads, as it is judged and measured.

use crate::Results;
use crate::inference::Inference;
use crate::sample::FamilyMeasures;
use zooquake_history::operation::Family;
use zooquake_history::{History, Record};

/// A family and what the checkers need of it.
#[derive(Debug)]
pub struct FamilyChecks {
    /// Its name and operations.
    pub spec: &'static Family,
    /// The whole verdict over a run of it.
    pub check: fn(&Record) -> Results,
    /// The checkers of its own, by the names in `results.json`; those of [`crate::ensemble::CHECKERS`] run for every
    /// family.
    pub checkers: &'static [&'static str],
    /// What is counted and waited for; `None` where no client does anything.
    pub measures: Option<FamilyMeasures>,
    /// What a history of it without a plan promises; `None` if the history is none of the family.
    pub(crate) infer: fn(&History) -> Option<Inference>,
    /// The anomalies that depend on something that only a plan has, each with the words for that.
    pub(crate) needs_plan: &'static [(&'static str, &'static str)],
}
