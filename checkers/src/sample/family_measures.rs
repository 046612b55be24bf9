//! What is counted and waited for, in the terms of each family.

use crate::analysis::LatencyKind;

/// What a family does, in words and by its operations.
#[derive(Debug, PartialEq, Eq)]
pub struct FamilyMeasures {
    /// What is done, in the plural.
    pub units: &'static str,
    /// One of them.
    pub unit: &'static str,
    /// What is waited for, as a heading.
    pub wait: &'static str,
    /// From what to what, in a sentence.
    pub wait_sentence: &'static str,
    /// Whether the clients compete, so that it makes sense to ask whether all get the same share.
    pub compete: bool,
    /// How units are found.
    pub source: UnitSource,
    /// The latencies that the waits are.
    pub latency: LatencyKind,
}

/// How units are found in a history.
#[derive(Debug, PartialEq, Eq)]
pub enum UnitSource {
    /// Grants that were read.
    Grants,
    /// Operations of these names that were answered `ok`; if a field is named, the first of each of its values, and
    /// none without a value.
    Answered(&'static [&'static str], Option<&'static str>),
}
