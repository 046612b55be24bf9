//! Logs of replicas that are in sync.

mod agreement;
mod definition;
mod innocent_logs;
pub mod simulated_logs;
