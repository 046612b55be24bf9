//! A night of runs: a matrix of variants × faults × seeds, judged against what is known of the variants.
//!
//! What is decided is pure and apart from what is done: [`campaign`] is what was asked for, [`cell`] one place in its
//! matrix, [`shard`] a part of it, [`order`] which cells come first, [`state`] what a cell still needs, [`budget`]
//! whether there is time for it, [`past`] what earlier nights saw. [`ledger`] is the record of a night, from which
//! everything else can be made again; [`folder`] is where it lies, [`drive`] runs what is left to run, and [`report`]
//! says what came of it.

pub mod attempt;
pub mod budget;
pub mod campaign;
pub mod cell;
pub mod clock;
pub mod drive;
pub mod failures;
pub mod folder;
pub mod ledger;
pub mod order;
pub mod past;
pub mod remarks;
pub mod report;
pub mod shard;
pub mod state;
pub mod thin;
