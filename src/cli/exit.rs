//! Exit codes, Jepsen's.

use crate::campaign::journal::DamagedRecord;
use crate::campaign::ledger::ForeignRecord;
use std::fmt;
use std::process::ExitCode;
use zooquake_checkers::Verdict;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// All is well; of a run: valid.
    Valid,
    /// Some run is invalid.
    Invalid,
    /// Some run is unknown, none is invalid.
    Unknown,
    /// The command line asks for something that does not exist.
    Usage,
    /// The harness failed: no verdict.
    Harness,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Valid => 0,
            Code::Invalid => 1,
            Code::Unknown => 2,
            Code::Usage => 254,
            Code::Harness => 255,
        })
    }
}

impl From<Verdict> for Code {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => Self::Valid,
            Verdict::Invalid => Self::Invalid,
            Verdict::Unknown => Self::Unknown,
        }
    }
}

impl Code {
    /// The code for several verdicts: invalid outweighs unknown, which outweighs valid.
    pub fn worst(codes: impl IntoIterator<Item = Self>) -> Self {
        let severity = |code: &Self| match code {
            Self::Valid => 0,
            Self::Unknown => 1,
            Self::Invalid => 2,
            Self::Usage => 3,
            Self::Harness => 4,
        };
        codes.into_iter().max_by_key(severity).unwrap_or(Self::Valid)
    }
}

/// An error of the command line: what was asked for does not exist or makes no sense.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The exit code of an error; a folder of another campaign, or one whose record cannot be read, is one of the command
/// line too.
pub fn code_of(error: &anyhow::Error) -> Code {
    match error.is::<Usage>() || error.is::<ForeignRecord>() || error.is::<DamagedRecord>() {
        true => Code::Usage,
        false => Code::Harness,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_record_that_cannot_be_read_is_a_wrong_input() {
        let lines = crate::campaign::journal::lines::<u64>(b"7\nx\n").context("reading night.jsonl");
        let error = lines.expect_err("x is no number");
        assert_eq!(code_of(&error), Code::Usage);
        assert!(
            format!("{error:#}").starts_with("reading night.jsonl: line 2: "),
            "{error:#}"
        );
        assert_eq!(code_of(&anyhow::anyhow!("the engine is gone")), Code::Harness);
    }

    #[test]
    fn the_worst_code_wins() {
        assert_eq!(Code::worst([]), Code::Valid);
        assert_eq!(Code::worst([Code::Valid, Code::Unknown]), Code::Unknown);
        assert_eq!(Code::worst([Code::Invalid, Code::Unknown, Code::Valid]), Code::Invalid);
    }
}
