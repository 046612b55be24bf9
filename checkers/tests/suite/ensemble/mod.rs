//! ZooKeeper's own elections, from the servers' logs.

mod anomalies;
mod leaders;
mod random;
mod real_logs;
mod scenes;
pub mod server_log_lines;
pub mod simulator;
