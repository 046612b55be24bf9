//! What an interrupt does at the moment, in words for the user.

use std::sync::{Mutex, PoisonError};

static DOES: Mutex<&str> = Mutex::new("");

/// Sets the text for what an interrupt does from now on; empty where nothing is to be printed.
pub fn enter(does: &'static str) {
    *DOES.lock().unwrap_or_else(PoisonError::into_inner) = does;
}

/// What an interrupt does now.
pub fn on_interrupt() -> &'static str {
    *DOES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an interrupt does in a phase of a run.
pub fn of_phase(phase: &str) -> &'static str {
    match phase {
        "ops" | "heal" => "healing, then checking what was recorded",
        "recover" | "recovered" | "final" => "giving up the recovery, then checking what was recorded",
        "audit" => "finishing the audit, then checking",
        _ => "checking what was recorded",
    }
}
