//! The live progress line on stderr.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use zooquake_checkers::plan::On;

/// Says what a run does at the moment: one line that renews itself on a terminal, a line now and then elsewhere.
#[derive(Debug)]
pub struct Progress {
    /// Whether nothing is said.
    silent: bool,
    live: bool,
    on: On,
    last: Option<Instant>,
    width: usize,
}

impl Progress {
    /// A progress line on stderr of a run that takes place there.
    pub fn new(on: On) -> Self {
        Self {
            silent: false,
            on,
            live: std::io::stderr().is_terminal(),
            last: None,
            width: 0,
        }
    }

    /// Says nothing.
    pub fn silent() -> Self {
        Self {
            silent: true,
            ..Self::new(On::Sim)
        }
    }

    /// Whether anything is said.
    pub fn speaks(&self) -> bool {
        !self.silent
    }

    /// Says something that stays.
    pub fn say(&mut self, text: &str) {
        if self.silent {
            return;
        }
        self.clear();
        eprintln!("{}{text}", self.simulated());
    }

    /// What goes before a line whose times are virtual.
    fn simulated(&self) -> &'static str {
        match self.on {
            On::Docker => "",
            On::Sim => "simulated: ",
        }
    }

    /// Renews the line, unless it was renewed just before.
    pub fn tick(&mut self, text: impl FnOnce() -> String) {
        // The user's time, which a simulated run does not live in.
        let (now, every) = (
            Instant::now(),
            Duration::from_millis(if self.live { 250 } else { 10_000 }),
        );
        if self.silent || self.last.is_some_and(|last| now - last < every) {
            return;
        }
        self.last = Some(now);
        let text = format!("{}{}", self.simulated(), crate::terminal::line(&text()));
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
