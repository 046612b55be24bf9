//! Exploring: as many simulated schedules of a variant as there is time for, on all cores and in memory.
//!
//! A schedule is a plan of a few operations and faults, drawn from a seed, and the order in which things happen on the
//! simulated ensemble, drawn from the same seed: a random walk over the schedules, or priorities. Or
//! all orders up to a bound are played, of plans that are small enough.

pub mod corpus;
pub mod coverage;
pub mod drive;
pub mod failure;
pub mod failure_runs;
pub mod merged_corpus;
pub mod network;
#[cfg(test)]
mod promise_tests;
mod schedule_queue;
pub mod space;
#[cfg(test)]
mod tests;
