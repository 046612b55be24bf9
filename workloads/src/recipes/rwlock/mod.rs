//! Read-write locks.

mod fenced;
mod neighbour;
pub(super) mod variants;

pub use fenced::fenced;
pub use neighbour::neighbour;

/// The parent of the znodes of readers and writers.
pub const PARENT: &str = "/rwlock";
