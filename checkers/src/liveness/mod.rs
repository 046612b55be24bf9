//! Liveness after recovery: the bound, which answers finish an operation, and what did not finish.

pub mod bound;
mod completion;
pub mod refused_for_ever;
pub mod unfinished;
