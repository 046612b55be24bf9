//! What is printed. A reader that has gone (`| head -1`, a closed terminal) ends no run: what goes on in containers
//! must still be healed, cleared away and judged.
//!
//! Four macros take the place of the standard ones in the whole crate; those panic when they cannot write. What
//! `println!` writes is one line, whatever is in it, as [`crate::terminal::line`] has it, and what `eprintln!` writes
//! an [entry](crate::terminal::entry); `print!` and `eprint!` write what they are given. A fifth, `progress!`, writes
//! an entry on stderr that `--quiet` leaves out.

use crate::terminal::plain;
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde::Serialize;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Whether the reader of stdout has gone.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Why results could not be written, such as a full disk.
static LOST: OnceLock<String> = OnceLock::new();

/// How much is printed to stderr beside errors and warnings, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Quiet,
    /// What goes on.
    Progress,
    /// What goes on, step by step.
    Detail,
}

/// The present [`Level`].
static LEVEL: AtomicU8 = AtomicU8::new(Level::Progress as u8);

/// Sets how much is printed from now on.
pub fn say_up_to(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether messages of this level are printed.
pub fn says(level: Level) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

macro_rules! print {
    ($($part:tt)*) => { $crate::output::stdout(format_args!($($part)*)) };
}

macro_rules! println {
    () => { $crate::output::stdout(format_args!("\n")) };
    ($($part:tt)*) => { $crate::output::stdout(format_args!("{}\n", $crate::terminal::line(&format!($($part)*)))) };
}

macro_rules! eprint {
    ($($part:tt)*) => { $crate::output::stderr(format_args!($($part)*)) };
}

macro_rules! eprintln {
    () => { $crate::output::stderr(format_args!("\n")) };
    ($($part:tt)*) => { $crate::output::stderr(format_args!("{}\n", $crate::terminal::entry(&format!($($part)*)))) };
}

macro_rules! progress {
    ($($part:tt)*) => {
        if $crate::output::says($crate::output::Level::Progress) {
            eprintln!($($part)*);
        }
    };
}

/// Writes the records of zooquake's own crates to stderr: warnings and errors always, all others as progress. Records
/// of dependencies are dropped.
struct StderrLogger;

impl log::Log for StderrLogger {
    fn enabled(&self, about: &log::Metadata<'_>) -> bool {
        about.target().starts_with("zooquake_")
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
        } else if record.level() <= log::Level::Warn {
            eprintln!("zooquake: {}", record.args());
        } else {
            progress!("{}", record.args());
        }
    }

    fn flush(&self) {}
}

/// Installs the logger of the process, for records of level info and above. A second call has no effect.
pub fn install_logger() {
    log::set_max_level(log::LevelFilter::Info);
    // The only error is that there is a logger already.
    let _ = log::set_logger(&StderrLogger);
}

/// Writes results. Once their reader has gone, they are dropped; any other error is kept for [`lost`].
pub fn stdout(text: fmt::Arguments<'_>) {
    if UNREAD.load(Ordering::Relaxed) {
        return;
    }
    note(std::io::stdout().lock().write_fmt(text));
}

/// Writes a result as JSON that people can read, too.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).context("writing JSON")?;
    stdout(format_args!("{}\n", plain(&text)));
    Ok(())
}

/// Writes progress and remarks, above the line of [`keep_below`]; no error of it matters to a run.
pub fn stderr(text: fmt::Arguments<'_>) {
    let write = || drop(std::io::stderr().lock().write_fmt(text));
    match &*line() {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// Keeps a line that renews itself below what else is written to stderr; `None` takes it away.
pub fn keep_below(kept: Option<ProgressBar>) {
    if let Some(before) = std::mem::replace(&mut *line(), kept) {
        before.finish_and_clear();
    }
}

fn line() -> MutexGuard<'static, Option<ProgressBar>> {
    static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);
    // It is whole at any time.
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why the results on stdout are incomplete; `None` if they are complete, or their reader has gone.
pub fn lost() -> Option<&'static str> {
    note(std::io::stdout().flush());
    LOST.get().map(String::as_str)
}

fn note(written: std::io::Result<()>) {
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => UNREAD.store(true, Ordering::Relaxed),
        // Only the first reason is reported.
        Err(error) => drop(LOST.set(error.to_string())),
    }
}
