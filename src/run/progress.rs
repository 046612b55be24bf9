//! The live progress line on stderr.

use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Says what a run does at the moment: one line that renews itself on a terminal, a line now and then elsewhere.
#[derive(Debug)]
pub struct Progress {
    live: bool,
    last: Option<Duration>,
    width: usize,
}

impl Progress {
    /// A progress line on stderr.
    pub fn new() -> Self {
        Self {
            live: std::io::stderr().is_terminal(),
            last: None,
            width: 0,
        }
    }

    /// Says something that stays.
    pub fn say(&mut self, text: &str) {
        self.clear();
        eprintln!("{text}");
    }

    /// Renews the line at this moment of the run's clock, unless it was renewed just before.
    pub fn tick(&mut self, now: Duration, text: impl FnOnce() -> String) {
        let every = Duration::from_millis(if self.live { 250 } else { 10_000 });
        if self.last.is_some_and(|last| now - last < every) {
            return;
        }
        self.last = Some(now);
        let text = crate::terminal::line(&text());
        if !self.live {
            eprintln!("{text}");
            return;
        }
        self.clear();
        self.width = text.chars().count();
        eprint!("{text}");
        // A terminal that is gone needs no progress.
        let _ = std::io::stderr().flush();
    }

    fn clear(&mut self) {
        if self.width > 0 {
            eprint!("\r{}\r", " ".repeat(self.width));
            self.width = 0;
        }
    }
}
