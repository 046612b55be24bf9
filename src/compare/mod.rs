//! A comparison: the same plans for several subjects, interleaved, round by round.
//!
//! [`setup`] defines what is compared and with which plans, [`header`] what is on record of that, [`order`] the
//! sequence of the runs; [`drive`] is what the engine of campaigns attempts and what is on record of it, and [`report`]
//! the outcome. What a decision of a consensus protocol takes is no matter of such runs: [`decision`] plays it.

pub mod decision;
pub mod drive;
pub mod header;
pub mod order;
pub mod report;
pub mod setup;
