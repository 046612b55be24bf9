//! The ensemble in memory against what is known of ZooKeeper.

mod bed;
mod data;
mod replicas;
mod sessions;
mod watches;
