//! Errors of ZooKeeper requests, classified by what they prove.

use std::fmt;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The znode (for a create: its parent) does not exist.
    NoNode,
    /// The znode exists already.
    NodeExists,
    /// The znode has another version.
    BadVersion,
    /// The znode has children.
    NotEmpty,
    /// Not allowed.
    NoAuth,
    /// The access list makes no sense.
    InvalidAcl,
    /// The parent is ephemeral.
    NoChildrenForEphemerals,
    /// The request makes no sense, and was not sent.
    BadArguments(String),
    /// Anything else: connection loss, time-outs, expiry, errors without a name.
    Unknown(String),
}

impl Error {
    /// Whether the error proves that the request had no effect. The list names what proves it, and all else is an
    /// unknown outcome, since client libraries report a lost reply in many ways.
    pub fn is_definite(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadArguments(why) => write!(f, "bad arguments: {why}"),
            Self::Unknown(why) => write!(f, "unknown outcome: {why}"),
            definite => write!(f, "{definite:?}"),
        }
    }
}

impl std::error::Error for Error {}

/// Why a multi failed; it fails as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiError {
    /// The part that ZooKeeper refused; `None` if the whole request failed.
    pub index: Option<usize>,
    /// The error of that part, or of the whole request.
    pub error: Error,
}

impl fmt::Display for MultiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "part {index}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for MultiError {}
