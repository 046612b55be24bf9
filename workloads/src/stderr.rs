//! Diagnostics that recipes write to stderr, which is the client's log.

use std::sync::atomic::{AtomicBool, Ordering};

static MUTED: AtomicBool = AtomicBool::new(false);

/// From now on nothing is written: simulated clients share the stderr of the program that simulates them.
pub fn mute() {
    MUTED.store(true, Ordering::Relaxed);
}

/// Writes a line, unless clients are simulated.
pub fn say(line: &str) {
    if !MUTED.load(Ordering::Relaxed) {
        eprintln!("{line}");
    }
}
