//! A process that is killed.

use super::{FaultKind, Hatch, PLAIN};

/// A process is killed.
pub const KILL: FaultKind = FaultKind {
    name: "kill",
    summary: "SIGKILL to a client, a server or the ensemble's leader; the process is started again in the same host",
    fatal: true,
    colour: (213, 94, 0),
    dark: (213, 94, 0),
    hatch: Hatch {
        path: "M1 1L6 6M6 1L1 6",
        line: true,
        ..PLAIN.hatch
    },
    ..PLAIN
};
