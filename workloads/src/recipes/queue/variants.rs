//! Queues and barriers, with what each promises and what is known to go wrong with it.

use std::sync::Arc;

use super::{Barrier, Claimed, Desk, DoubleBarrier, Fifo, QUEUE, ROUNDS, TAKEN};
use crate::recipes::registry::{Known, Variant};

/// The queues and barriers, in the order in which they are shown.
pub const VARIANTS: &[Variant] = &[
    Variant {
        family: "queue",
        name: "barrier",
        promise: "the tutorial's: N members join, who counts N children creates the ephemeral `start`; all or none while \
                  nobody loses a session or a reply",
        contenders: &[QUEUE],
        accepted: &[GHOSTS, NO_START, LOST_TRACK],
        build: |env| Ok(Arc::new(Barrier::new(env))),
        ..PLAIN
    },
    Variant {
        family: "queue",
        name: "double-barrier",
        promise: "enter together and leave together, whatever fails: the watch is set before the znode is made, each round \
                  has a parent of its own",
        contenders: &[ROUNDS],
        build: |env| Ok(Arc::new(DoubleBarrier::new(env))),
        ..PLAIN
    },
    Variant {
        family: "queue",
        name: "fifo",
        promise: "sequential items, consumers get then delete: delivered in order, at most once",
        build: |env| Ok(Arc::new(Desk::new(Fifo::new(env)))),
        ..PLAIN
    },
    Variant {
        family: "queue",
        name: "claimed",
        promise: "one multi moves an item to its owner's claims, and what a dead owner left is taken back: delivered in \
                  order, at least once, acknowledged once",
        contenders: &[TAKEN],
        build: |env| Ok(Arc::new(Desk::new(Claimed::new(env)))),
        ..PLAIN
    },
];

/// What all of them have in common.
const PLAIN: Variant = Variant {
    family: "queue",
    ..Variant::PLAIN
};

const GHOSTS: Known = Known {
    anomaly: "early-release",
    faults: &["kill", "pause", "partition"],
    reason: "all rounds have one parent: the znode of a member that died, or the `start` that it made, stays until its \
             session expires, and is counted in the next round",
    source: "the tutorial's text; Netflix/curator 99",
};

const NO_START: Known = Known {
    anomaly: "stuck-barrier",
    faults: &["kill", "pause", "partition", "drop-reply", "cut"],
    reason: "who meets an error does not try again to create `start`, and `start` vanishes with the session that made it, \
             before somebody who asks late has seen it",
    source: "the tutorial's text",
};

const LOST_TRACK: Known = Known {
    anomaly: "orphan-node",
    faults: &["kill", "pause", "partition", "drop-reply", "cut"],
    reason: "a create whose reply is lost ends the join with an error, and leaves its znode to the session, which lives on",
    source: "ZOOKEEPER-1262",
};
