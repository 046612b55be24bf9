//! Ctrl-C, SIGTERM and SIGHUP: the first asks the run to stop, heal and check; a second Ctrl-C or SIGTERM leaves at
//! once.

use crate::run::stage;
use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use zooquake_backend::docker::clean_command;
use zooquake_history::plan::PlannedHost;

/// Exit code of a shell for a program ended by SIGINT.
const LEFT_AT_ONCE: i32 = 130;

/// Listens for them; the receiver becomes true at the first.
///
/// # Errors
/// If the signals cannot be listened for.
pub fn listen() -> Result<watch::Receiver<bool>> {
    listen_over(&[])
}

/// The same in a run over these hosts, which the line to `clean` names that a second Ctrl-C prints.
///
/// # Errors
/// If the signals cannot be listened for.
pub fn listen_over(hosts: &[PlannedHost]) -> Result<watch::Receiver<bool>> {
    let addresses: Vec<&str> = hosts.iter().map(|host| host.address.as_str()).collect();
    let clean = clean_command(None, &addresses);
    let (sender, receiver) = watch::channel(false);
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut hangup = match hangup_is_ignored() {
        true => None,
        false => Some(signal(SignalKind::hangup()).context("listening for SIGHUP")?),
    };
    tokio::spawn(async move {
        loop {
            let asked_by_user = tokio::select! {
                _ = interrupt.recv() => true,
                _ = terminate.recv() => true,
                // A closed terminal sends more than one of these, a stopped service SIGTERM as well: none is in a
                // hurry.
                () = next(&mut hangup) => false,
            };
            if *sender.borrow() && asked_by_user {
                eprintln!("zooquake: left at once; its watcher heals, `{clean}` removes the containers");
                std::process::exit(LEFT_AT_ONCE);
            }
            say(stage::on_interrupt());
            sender.send_replace(true);
        }
    });
    Ok(receiver)
}

/// A flag that becomes true with the receiver: for threads, which wait for nothing.
pub fn flag(interrupt: &watch::Receiver<bool>) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let (set, mut interrupt) = (Arc::clone(&flag), interrupt.clone());
    tokio::spawn(async move {
        // Closed only when the program ends.
        let _ = interrupt.wait_for(|stop| *stop).await;
        set.store(true, Ordering::SeqCst);
    });
    flag
}

/// Prints the effect of the interrupt; nothing for an empty text.
fn say(what: &str) {
    if !what.is_empty() {
        eprintln!("interrupted: {what} (once more to leave at once)");
    }
}

async fn next(signals: &mut Option<Signal>) {
    match signals {
        Some(signals) => {
            signals.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether this program was started by `nohup`, or in another way that lets it outlive its terminal.
fn hangup_is_ignored() -> bool {
    // Only Linux has this file; elsewhere the answer is no.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(ignores_hangup)
}

/// Whether a line of /proc/self/status is the mask of ignored signals, with the bit of SIGHUP, the lowest.
fn ignores_hangup(line: &str) -> bool {
    let mask = line.strip_prefix("SigIgn:").map(str::trim);
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::ignores_hangup;

    #[test]
    fn a_program_under_nohup_outlives_its_terminal() {
        assert!(ignores_hangup("SigIgn:\t0000000000001001"));
        assert!(!ignores_hangup("SigIgn:\t0000000000001000"));
        assert!(!ignores_hangup("SigBlk:\t0000000000000001"));
    }
}
