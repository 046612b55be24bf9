//! Queues of items.

mod claim;
mod claimed;
mod dequeue_attempt;
mod fifo;
mod handler;
mod item;
mod owner;
pub(super) mod variants;

pub use claimed::ClaimedQueue;
pub use fifo::Fifo;
pub use handler::{DeliveredItem, Queue, QueueHandler};
pub use zooquake_history::operation::ZnodeName;

use super::requests::{blindly, ensure, overdue, steady};

/// The parent of the items.
pub const QUEUE: &str = "/queue";

/// The parent of the claims: items that were moved away from the queue, each with its owner's name.
pub const TAKEN: &str = "/taken";

/// The parent of the owners: one ephemeral znode for each session that may claim.
pub const OWNERS: &str = "/owners";
