//! The ZooKeeper recipes under test, and the client program that drives one of them in a container; and the state
//! machines of [`consensus`] protocols.
//!
//! Recipes are written against [`zk::Zk`] and [`zk::Host`] alone, so that they also run on a model of ZooKeeper.

pub mod client;
pub mod consensus;
pub mod recipes;
pub mod service;
pub mod stderr;
pub mod zk;

pub use zooquake_history::protocol;
