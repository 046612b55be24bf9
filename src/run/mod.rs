//! One run, from its plan to its folder.

mod control;
pub mod draw;
pub mod folder;
mod interpreter;
mod progress;
mod recorder;
mod recovery;
mod resource;
mod slot;
mod trigger;
mod whole;

pub use whole::{Finished, Order, execute};
