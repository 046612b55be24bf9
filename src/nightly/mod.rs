//! A night of runs: a matrix of variants × faults × seeds, judged against what is known of the variants.
//!
//! [`campaign`] is what was asked for, [`seeds`] where its seeds come from, [`cell`] one place in its matrix with its
//! runs and what it still needs, [`previous_nights`] what earlier nights saw, and which cells come first. [`header`] is
//! what a night is, with the part of the cells of one of several machines, [`folder`] where its record lies, [`drive`]
//! what the engine of campaigns attempts, [`jobs`] how many cells are run at once, [`report`] the outcome, and
//! [`conclusion`] what decides the exit code. [`sightings`] is what failed in many nights, and [`retention`] compresses
//! runs that showed nothing new.

pub mod campaign;
pub mod cell;
pub mod conclusion;
pub mod drive;
pub mod failures;
pub mod folder;
pub mod header;
pub mod jobs;
pub mod previous_nights;
pub mod report;
pub mod retention;
pub mod seeds;
pub mod sightings;
