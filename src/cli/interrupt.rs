//! Ctrl-C and SIGTERM: the first asks the run to stop, heal and check; the second leaves at once.

use crate::run::stage;
use anyhow::{Context, Result};
use std::io::IsTerminal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Exit code of a shell for a program ended by SIGINT.
const LEFT_AT_ONCE: i32 = 130;

/// Listens for both; the receiver becomes true at the first.
///
/// # Errors
/// If the signals cannot be listened for.
pub fn listen() -> Result<watch::Receiver<bool>> {
    let (sender, receiver) = watch::channel(false);
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if *sender.borrow() {
                eprintln!("zooquake: left at once; its watcher heals, `zooquake clean` removes the containers");
                std::process::exit(LEFT_AT_ONCE);
            }
            say(stage::on_interrupt());
            sender.send_replace(true);
        }
    });
    Ok(receiver)
}

/// Says what comes now, in place of the progress line if there is one.
fn say(what: &str) {
    if what.is_empty() {
        return;
    }
    let clear = if std::io::stderr().is_terminal() {
        "\r\x1b[K"
    } else {
        ""
    };
    eprintln!("{clear}interrupted: {what} (once more to leave at once)");
}
