//! Queues of items, and what each promises; nothing is known to go wrong with them.

mod claimed;
mod fifo;
mod handler;
mod item;

use std::sync::Arc;

pub use claimed::ClaimedQueue;
pub use fifo::Fifo;
pub use handler::{DeliveredItem, Queue, QueueHandler};
pub use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::queue;
use zooquake_history::plan::{Capabilities, Delivery};

use super::requests::{blindly, ensure, overdue, steady};
use super::variant::{FamilyVariants, Variant};

/// The parent of the items.
pub const QUEUE: &str = "/queue";

/// The parent of the claims: items that were moved away from the queue, each with its owner's name.
pub const TAKEN: &str = "/taken";

/// The parent of the owners: one ephemeral znode for each session that may claim.
pub const OWNERS: &str = "/owners";

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &queue::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "fifo",
        promise: "sequential items, consumers get then delete: delivered in order, at most once",
        build: |env| Ok(Arc::new(QueueHandler(Fifo::new(env)))),
        ..PLAIN
    },
    Variant {
        name: "claimed",
        promise: "one multi moves an item to its owner's claims, and what a dead owner left is taken back: delivered in \
                  order, at least once, acknowledged once",
        contenders: &[TAKEN],
        capabilities: Capabilities {
            delivery: Delivery::AtLeastOnce,
            ..Capabilities::NONE
        },
        build: |env| Ok(Arc::new(QueueHandler(ClaimedQueue::new(env)))),
        ..PLAIN
    },
];

/// What all of them have in common.
const PLAIN: Variant = Variant {
    family: queue::FAMILY.name,
    ..Variant::PLAIN
};
