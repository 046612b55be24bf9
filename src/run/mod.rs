//! One run, from its plan to its folder.

pub mod draw;
mod execute;
pub mod feasible;
pub mod folder;
mod in_doubt;
pub mod patience;
mod progress;
mod recorder;
mod samples;
pub mod scenes;
mod shell;
pub mod simulated;
pub mod stage;
mod steady;
mod store;
#[cfg(test)]
mod tests;
mod txnlogs;
mod watchdog;

pub use execute::{Finished, Order, execute};
