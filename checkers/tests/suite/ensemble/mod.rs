//! ZooKeeper's own elections, from the servers' logs.

mod anomalies;
mod leaders;
mod random;
mod real;
mod scenes;
pub mod simulator;
pub mod teller;
