//! One run, from its plan to its folder.

mod cluster;
mod execute;
pub mod folder;
mod intent;
pub mod interruption;
mod network;
mod order;
mod progress;
mod provenance;
mod questions;
mod readiness;
pub mod recorder;
mod samples;
mod shell;
pub mod simulation;
pub mod slot;
pub mod stage;
pub mod store;
#[cfg(test)]
mod tests;
mod txnlogs;
mod watchdog;

pub use execute::{FinishedRun, execute, execute_in};
pub use order::RunOrder;
