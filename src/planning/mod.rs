//! What comes before a run: from the options of a command line to a plan that can be executed.
//!
//! [`spec`] is what is asked of one run, [`values`] how its options are read, and [`names`] what its names stand for:
//! built-in variants, faults, or a [`recipe`] of the user's own. [`drawing`] makes the plan from a seed, [`scenes`] has
//! those without clients, [`network`] draws those of consensus protocols. [`feasibility`] finds plans that cannot end
//! `valid`, [`refusal`] rejects specs by it, and [`admission`] rejects plans from elsewhere that cannot be run here;
//! [`support`] holds a plan against what its backend is capable of, and [`placement`] spreads its nodes over hosts.
//! [`reproduction`] is the way back: from a plan to the command lines that run it again.

pub mod admission;
pub mod drawing;
pub mod feasibility;
mod in_doubt_kill;
pub mod names;
pub mod network;
pub mod placement;
pub mod recipe;
pub mod refusal;
pub mod reproduction;
pub mod scenes;
pub mod spec;
pub mod support;
pub mod values;
