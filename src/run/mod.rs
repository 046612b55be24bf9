//! One run, from its plan to its folder.

mod audit;
mod control;
mod drain;
pub mod draw;
pub mod feasible;
pub mod folder;
mod holds;
mod inputs;
mod interpreter;
pub mod leftover;
mod ops;
mod progress;
pub mod ran;
mod recorder;
mod recovery;
mod resource;
pub mod scenes;
mod script;
mod slot;
pub mod stage;
mod steady;
mod trigger;
mod watchdog;
mod whole;

pub use whole::{Finished, Order, execute};
