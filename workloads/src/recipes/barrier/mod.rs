//! Barriers: members that meet.

mod double;
mod tutorial;
pub(super) mod variants;

pub use double::Double;
pub use tutorial::Tutorial;

use super::requests::{ensure, overdue, steady};

/// The parent of the members, and of `start`, of the tutorial's barrier, which names it so.
pub const MEMBERS: &str = "/queue";

/// The parent of the rounds of a double barrier.
pub const ROUNDS: &str = "/barrier";
