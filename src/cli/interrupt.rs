//! Ctrl-C and SIGTERM: the first asks the run to stop, heal and check; the second leaves at once.

use anyhow::{Context, Result};
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
            sender.send_replace(true);
        }
    });
    Ok(receiver)
}
