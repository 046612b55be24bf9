//! Barriers: members that meet, and a gate at which clients wait. What each promises, and what is known to go wrong
//! with it.

mod double;
mod gate;
mod tutorial;

use std::sync::Arc;

pub use double::Double;
pub use gate::Gate;
pub use tutorial::Tutorial;
use zooquake_history::operation::barrier;
use zooquake_history::plan::Capabilities;

use super::requests::{ensure, overdue, steady};
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The parent of the members, and of `start`, of the tutorial's barrier, which names it so.
pub const MEMBERS: &str = "/queue";

/// The parent of the rounds of a double barrier.
pub const ROUNDS: &str = "/barrier";

/// The parent of the gates.
pub const GATES: &str = "/gate";

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &barrier::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "tutorial",
        promise: "the tutorial's: N members join, a member that counts N children creates the ephemeral `start`; all \
                  or none while nobody loses a session or a reply",
        contenders: &[MEMBERS],
        capabilities: Capabilities {
            members: true,
            ..Capabilities::NONE
        },
        accepted: &[GHOSTS, DOUBLES],
        build: |env| Ok(Arc::new(Tutorial::new(env))),
        ..PLAIN
    },
    Variant {
        name: "double",
        promise: "enter together and leave together, whatever fails: the watch is set before the znode is made, each round \
                  has a parent of its own",
        contenders: &[ROUNDS],
        build: |env| Ok(Arc::new(Double::new(env))),
        ..PLAIN
    },
    Variant {
        name: "gate",
        promise: "who asks to wait while the gate stands waits until it is lifted, whatever fails: the gate is persistent, a write \
                  comes before the look, and the look is repeated after each event and each reconnect",
        znodes: &[GATES],
        capabilities: Capabilities {
            gate: true,
            ..Capabilities::NONE
        },
        build: |env| Ok(Arc::new(Gate::new(env))),
        ..PLAIN
    },
];

/// What all of them have in common.
const PLAIN: Variant = Variant {
    family: barrier::FAMILY.name,
    ..Variant::PLAIN
};

known! {
    GHOSTS: "early-release" under &["kill", "pause", "partition", "stall"],
        "all rounds have one parent: the znode of a member that died, or the `start` that it made, stays until its \
         session expires, and is counted in the next round",
        "the tutorial's text; Netflix/curator 99";
    DOUBLES: "early-release" under &["drop-reply", "hold-reply", "disconnect", "move", "pin", "stall"],
        "a member whose join was carried out and whose reply was lost joins again, and is counted twice: its znodes have no \
         name of its own",
        "the tutorial's text; ZOOKEEPER-1262";
}
