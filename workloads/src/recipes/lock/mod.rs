//! Locks.

mod children;
mod predecessor;
mod protected;
mod shipped;
pub(super) mod variants;

pub use children::{Herd, children};
pub use predecessor::Predecessor;
pub use protected::{Token, protected};
pub use shipped::ShippedLock;

/// The parent of the lock znodes.
pub const PARENT: &str = "/lock";

/// The znode that writers in ZooKeeper write.
pub const RESOURCE: &str = "/resource";
