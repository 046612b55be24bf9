//! One run, from its plan to its folder.

mod cluster;
mod execute;
pub mod folder;
pub mod interruption;
mod network;
mod progress;
mod provenance;
mod readiness;
pub mod recorder;
mod server_evidence;
mod shell;
pub mod simulation;
pub mod slot;
pub mod stage;
pub mod store;
#[cfg(test)]
mod tests;
mod watchdog;

pub use execute::{FinishedRun, RunOrder, execute, execute_in};
