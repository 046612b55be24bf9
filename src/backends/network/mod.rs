//! Networks of consensus protocols, in memory and in virtual time: messages take their time, are lost, doubled and
//! overtaken, links are cut, processes die, start again from their disks, and freeze. No ZooKeeper takes part.

mod connection;
pub mod disturbance;
pub mod draft;
mod host;
pub mod judging;
pub mod observer;
pub mod play;
mod queue;
pub mod recording;
pub mod script;
pub mod transit;
pub mod world;

pub use connection::{KIND, in_memory};
