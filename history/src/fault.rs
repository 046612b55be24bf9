//! The kinds of fault: name, words, colours and hatch of each. `src/faults/` carries them out.
//!
//! A window of a [`plan`](crate::plan) names its kind; which of the window's fields say how the fault strikes depends on it.

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// A kind of fault.
#[derive(Debug, PartialEq, Eq)]
pub struct FaultKind {
    /// Its name in plans, in histories and on the command line.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// What is said of a window when it begins.
    pub begins: &'static str,
    /// Whether it strikes at the proxy between a client and the ensemble, so that runs with such windows have proxies.
    pub proxied: bool,
    /// Its colour on white, of the palette of Okabe and Ito or of Tol's dark ones; a line of one pixel has enough contrast.
    pub colour: Rgb,
    /// Its colour on a dark page.
    pub dark: Rgb,
    /// What is drawn over the operations of a client that it hits.
    pub hatch: Hatch,
}

/// A tile that fills an area.
#[derive(Debug, PartialEq, Eq)]
pub struct Hatch {
    /// Its width and height.
    pub size: u8,
    /// By how many degrees it is turned.
    pub turned: i16,
    /// What is in it, as a path in SVG's notation.
    pub path: &'static str,
    /// Whether the path is a line rather than an area.
    pub line: bool,
}

/// All kinds, in the order in which they are shown.
pub const KINDS: &[FaultKind] = &[KILL, PAUSE, PARTITION, DROP_REPLY, DISCONNECT, EXPIRE, WIPE];

/// A process is killed.
pub const KILL: FaultKind = FaultKind {
    name: "kill",
    summary: "SIGKILL to a client, a server or the ensemble's leader; the process is started again in the same host",
    colour: (213, 94, 0),
    dark: (213, 94, 0),
    hatch: Hatch {
        path: "M1 1L6 6M6 1L1 6",
        line: true,
        ..PLAIN.hatch
    },
    ..PLAIN
};

/// A node is frozen.
pub const PAUSE: FaultKind = FaultKind {
    name: "pause",
    summary: "freezes a client, a server or the ensemble's leader for longer than the session timeout",
    colour: (230, 159, 0),
    dark: (230, 159, 0),
    hatch: Hatch {
        turned: 45,
        path: "M0 0H2.2V7H0z",
        ..PLAIN.hatch
    },
    ..PLAIN
};

/// The network is cut, as [`Window::cut`](crate::plan::Window::cut) says.
pub const PARTITION: FaultKind = FaultKind {
    name: "partition",
    summary: "cuts a client from the ensemble (for longer and for less than its session timeout), a server or the \
              leader from everyone, halves of the ensemble from each other, also one way only",
    colour: (204, 121, 167),
    dark: (204, 121, 167),
    hatch: Hatch {
        size: 6,
        path: "M0 0H6V2H0z",
        ..PLAIN.hatch
    },
    ..PLAIN
};

/// A reply or a request is lost, as [`Window::wire`](crate::plan::Window::wire) says.
pub const DROP_REPLY: FaultKind = FaultKind {
    name: "drop-reply",
    summary: "loses the reply to a client's create, delete or other write after a server has applied it, now and then the \
              request before, and with it the connection",
    begins: "is armed",
    proxied: true,
    colour: (136, 34, 85),
    dark: (208, 88, 140),
    hatch: Hatch {
        size: 6,
        path: "M1 1h2.5v2.5h-2.5z",
        ..PLAIN.hatch
    },
};

/// A client's connections are ended, as [`Window::wire`](crate::plan::Window::wire) says.
pub const DISCONNECT: FaultKind = FaultKind {
    name: "disconnect",
    summary: "ends a client's connections (FIN or RST) while it works, waits or acquires, and refuses new ones for less \
              than its session timeout",
    proxied: true,
    colour: (75, 47, 176),
    dark: (154, 140, 240),
    hatch: Hatch {
        size: 6,
        path: "M0 0H2V6H0z",
        ..PLAIN.hatch
    },
    ..PLAIN
};

/// A client's session is closed, and the client is not asked.
pub const EXPIRE: FaultKind = FaultKind {
    name: "expire",
    summary: "closes a client's session from another connection, with its id and password, while the client works, waits or \
              acquires: alive and connected, it learns that the session has expired",
    proxied: true,
    colour: (102, 51, 51),
    dark: (196, 128, 116),
    hatch: Hatch {
        size: 6,
        path: "M3 .5L5.5 3L3 5.5L.5 3z",
        ..PLAIN.hatch
    },
    ..PLAIN
};

/// A majority's data is lost.
pub const WIPE: FaultKind = FaultKind {
    name: "wipe",
    summary: "positive control, never a default: kills all voters, deletes snapshots and transaction logs of a majority, \
              and starts that one first, so that acknowledged writes are gone and a durability checker must say so",
    ..PLAIN
};

/// A kind that this version does not know.
pub const OTHER: FaultKind = FaultKind { name: "other", ..PLAIN };

/// What kinds have in common that say nothing else.
const PLAIN: FaultKind = FaultKind {
    name: "",
    summary: "",
    begins: "begins",
    proxied: false,
    colour: (128, 136, 144),
    dark: (128, 136, 144),
    hatch: Hatch {
        size: 7,
        turned: -45,
        path: "M0 0H2V7H0z",
        line: false,
    },
};

impl FaultKind {
    /// The kind of this name; [`OTHER`] if there is none.
    pub fn of(name: &str) -> &'static Self {
        KINDS.iter().find(|kind| kind.name == name).unwrap_or(&OTHER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_differ_in_name_colour_and_hatch() {
        for (n, kind) in KINDS.iter().enumerate() {
            assert_eq!(FaultKind::of(kind.name), kind);
            assert!(!kind.summary.is_empty());
            for other in &KINDS[..n] {
                assert!(kind.name != other.name && kind.colour != other.colour && kind.hatch != other.hatch);
            }
        }
        assert_eq!(FaultKind::of("no-such"), &OTHER);
    }
}
