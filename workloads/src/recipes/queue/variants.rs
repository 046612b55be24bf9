//! Queues, with what each promises; nothing is known to go wrong with them.

use std::sync::Arc;

use super::{ClaimedQueue, Fifo, QueueHandler, TAKEN};
use crate::recipes::variant::{FamilyVariants, Variant};
use zooquake_history::operation::queue;
use zooquake_history::plan::{Capabilities, Delivery};

/// The family and its variants.
pub const FAMILY: FamilyVariants = FamilyVariants {
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
