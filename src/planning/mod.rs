//! What comes before a run: from the options of a command line to a plan that can be executed.
//!
//! [`spec`] is what is asked of one run, [`values`] how its options are read, and [`names`] what its names stand for:
//! built-in variants, faults, or a [`recipe`] of the user's own. [`drawing`] makes the plan from a seed, [`scenes`]
//! has those without clients, [`schedule`] puts windows of the user's own into one, [`network`] draws those of
//! consensus protocols, [`plan_file`] takes one from a file, and [`placement`] spreads nodes over hosts. A [`case`] is
//! a plan with what its names stand for, which runs take. [`admission`] refuses plans that cannot be run here, or on
//! their backend, or could not end valid. [`reproduction`] is the way back: from a plan to the command lines that run
//! it again.

pub mod admission;
pub mod case;
pub mod drawing;
pub mod names;
pub mod network;
pub mod placement;
pub mod plan_file;
pub mod recipe;
pub mod reproduction;
pub mod scenes;
pub mod schedule;
pub mod spec;
pub mod values;
