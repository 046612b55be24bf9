//! A node that is frozen.

use super::{FaultKind, Hatch, PLAIN};

/// A node is frozen.
pub const PAUSE: FaultKind = FaultKind {
    name: "pause",
    summary: "freezes a client, a server or the ensemble's leader for longer than the session timeout",
    freezes: true,
    colour: (230, 159, 0),
    dark: (230, 159, 0),
    hatch: Hatch {
        turned: 45,
        path: "M0 0H2.2V7H0z",
        ..PLAIN.hatch
    },
    ..PLAIN
};
