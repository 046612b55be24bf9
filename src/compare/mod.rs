//! A comparison: the same plans for several subjects, interleaved, round by round.
//!
//! [`setup`] says what is compared and with which plans, [`order`] who runs when; [`ledger`] is the record, from which
//! everything else can be made again, [`drive`] runs what is left to run, and [`report`] says what came of it.

pub mod drive;
pub mod ledger;
pub mod order;
pub mod report;
pub mod setup;
