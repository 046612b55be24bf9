//! What happens to whole machines of a run that stands on several: all of its servers and clients there are hit
//! together.

use super::{FaultKind, Hatch, KILL, PARTITION, PAUSE, PLAIN_HATCH};

/// All processes on a machine are killed.
pub const HOST_KILL: FaultKind = FaultKind {
    name: "host-kill",
    summary: "of a run over several hosts: SIGKILL to every server and client on one of them; all are started again there",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: true,
    freezes: false,
    per_node: Some(&KILL),
    colour: (140, 45, 4),
    dark: (236, 112, 72),
    hatch: Hatch {
        size: 8,
        path: "M1 1L7 7M7 1L1 7M4 0V8",
        line: true,
        ..PLAIN_HATCH
    },
};

/// All processes on a machine are frozen.
pub const HOST_PAUSE: FaultKind = FaultKind {
    name: "host-pause",
    summary: "of a run over several hosts: freezes every server and client on one of them together, for longer than the \
              session timeout",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: true,
    per_node: Some(&PAUSE),
    colour: (122, 90, 0),
    dark: (214, 178, 62),
    hatch: Hatch {
        size: 8,
        turned: 45,
        path: "M0 0H3V8H0zM5 0H6V8H5z",
        ..PLAIN_HATCH
    },
};

/// A machine is cut off from the others.
pub const HOST_PARTITION: FaultKind = FaultKind {
    name: "host-partition",
    summary: "of a run over several hosts: cuts every server and client on one of them from all that stand on the others, \
              both ways; those on it still reach each other",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: false,
    per_node: Some(&PARTITION),
    colour: (128, 40, 92),
    dark: (226, 132, 184),
    hatch: Hatch {
        size: 6,
        path: "M0 0H6V2H0zM2 4H4V5H2z",
        ..PLAIN_HATCH
    },
};
