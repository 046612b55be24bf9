//! ZooKeeper's own elections, from the servers' logs.

mod real;
