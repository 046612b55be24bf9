//! Data that is lost.

use super::{FaultKind, PLAIN};

/// A majority's data is lost.
pub const WIPE: FaultKind = FaultKind {
    name: "wipe",
    summary: "positive control, never a default: kills all voters, deletes snapshots and transaction logs of a majority, \
              and starts that one first, so that acknowledged writes are gone and a durability checker must say so",
    ..PLAIN
};
