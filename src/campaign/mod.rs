//! Campaigns: many runs one after the other, on record, so that a campaign that was stopped goes on.
//!
//! [`spec`] is what is asked of one run, [`values`] how its options are read.

pub mod spec;
pub mod values;
