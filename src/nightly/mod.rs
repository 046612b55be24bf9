//! A night of runs: a matrix of variants × faults × seeds, judged against what is known of the variants.
//!
//! [`campaign`] is what was asked for, [`cell`] one place in its matrix with its runs and what it still needs,
//! [`previous_nights`] what earlier nights saw, and which cells come first. [`folder`] is what is on record and where,
//! [`drive`] what the engine of campaigns attempts, and [`report`] the outcome. [`retention`] compresses runs that
//! showed nothing new, and [`jobs`] decides how many cells are run at once.

pub mod campaign;
pub mod cell;
pub mod drive;
pub mod failures;
pub mod folder;
pub mod jobs;
pub mod previous_nights;
pub mod remarks;
pub mod report;
pub mod retention;
