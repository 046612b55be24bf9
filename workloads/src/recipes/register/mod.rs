//! A register: read, write, compare-and-set on one znode. The recipe is ZooKeeper itself.
//!
//! The variants differ in what comes before the read of the znode: nothing, a sync, a write.

mod handler;
mod prelude;
pub(super) mod variants;

pub use handler::{RegisterClient, RegisterReading};
pub use prelude::Prelude;

/// The znode. It exists, and is empty, before a client starts.
pub const REGISTER: &str = "/register";
