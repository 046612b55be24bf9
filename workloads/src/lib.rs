//! The ZooKeeper recipes under test, and the client program that drives one of them in a container.

pub mod protocol;
