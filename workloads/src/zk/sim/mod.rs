//! A ZooKeeper in memory and in virtual time: one order of transactions, sessions, ephemerals and watches, and connections
//! that are lost, with or without the request that was under way. It knows no followers that lag.

mod net;
mod script;
mod server;
mod world;

pub use net::{Net, OUTAGE};
pub use script::{Fate, Fits, Scripted};
pub use server::{PARENTS, Server};
pub use world::World;
