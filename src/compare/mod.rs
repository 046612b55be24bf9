//! A comparison: the same plans for several subjects, interleaved, round by round.
//!
//! [`setup`] says what is compared and with which plans, [`order`] who runs when; [`drive`] is what the engine of
//! campaigns attempts and what is on record of it, and [`report`] says what came of it.

pub mod drive;
pub mod order;
pub mod report;
pub mod setup;
