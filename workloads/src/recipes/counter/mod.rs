//! A counter: one znode whose value every increment raises by 1, and gives to its caller as an id.
//!
//! The variants differ in what they do about a write of which it is not known whether it happened.

mod handler;
mod optimistic;
pub(super) mod variants;
mod versioned;

use async_trait::async_trait;
pub use handler::{CounterClient, CounterReading};

use super::OpError;

/// The znode. It exists, and is empty, which is 0, before a client starts.
pub const COUNTER: &str = "/counter";

/// How a variant adds 1.
#[async_trait]
pub trait Increment: Send + Sync {
    /// Adds 1, and returns the new value.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if it certainly added nothing.
    async fn increment(&self, counter: &CounterClient) -> Result<CounterReading, OpError>;
}
