//! Decisions about transactions, and who reported them.

/// What is decided about a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JudgedDecision {
    /// It happens at all sites.
    Commit,
    /// It happens at none.
    Abort,
}

impl JudgedDecision {
    /// Reads a decision; anything else is none.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "commit" => Some(Self::Commit),
            "abort" => Some(Self::Abort),
            _ => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Abort => "abort",
        }
    }
}

/// A decision that a client reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionReport<'a> {
    /// The client.
    pub node: &'a str,
    /// Where its answer was read.
    pub read: usize,
    /// What it reported.
    pub decision: JudgedDecision,
}
