//! Campaigns: many runs one after the other, on record, so that a campaign that was stopped goes on.
//!
//! [`engine`] attempts the places of a campaign in their order, within its budget; [`ledger`] is the record of what
//! came of them, [`attempt`] its line for a run, and [`ensembles`] carries runs out, each with a [`run_outcome`].
//! [`orphans`] are what a killed program left. Nights, comparisons and measurements define their places, in which order
//! they come, and what each still needs.

pub mod attempt;
pub mod engine;
pub mod ensembles;
pub mod journal;
pub mod ledger;
pub mod orphans;
pub mod run_outcome;
pub mod shard;
