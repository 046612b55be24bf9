//! The recipes under test. They use ZooKeeper and the machine through [`crate::zk`] alone.

pub mod barrier;
mod bug;
pub mod commit;
pub mod counter;
pub mod election;
mod env;
pub mod grant;
mod holder_state;
pub mod lock;
pub mod membership;
pub mod planted;
pub mod queue;
pub mod register;
pub mod registry;
mod requests;
pub mod rwlock;
pub mod semaphore;
mod sequence;
mod sessions;
mod variant;

pub use env::{Env, Notice};
pub use holder_state::{BusyGuard, Grant, HeldGrant, HolderState, OwnZnode, WorkGuard};
pub use registry::{registry, variant, workload};
pub use requests::{SCRATCH, touch};
pub use variant::{KnownAnomaly, Variant};

use crate::zk::Error;

/// Why an operation did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpError {
    /// It certainly did not happen, and nothing of it is left.
    Fail(String),
    /// Unknown.
    Info(String),
}

impl OpError {
    /// The end of an operation that holds nothing more than the request which failed so.
    pub fn from_error(doing: &str, error: &Error) -> Self {
        let why = format!("{doing}: {error}");
        if error.is_definite() {
            Self::Fail(why)
        } else {
            Self::Info(why)
        }
    }

    /// The end of an operation that leaves something behind.
    pub fn unknown(doing: &str, error: &Error) -> Self {
        Self::Info(format!("{doing}: {error}"))
    }
}

pub use zooquake_history::operation::grant::NOT_HELD;
