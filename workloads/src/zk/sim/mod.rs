//! A ZooKeeper ensemble in memory and in virtual time: servers that order transactions into a replicated log, elect
//! leaders and lag behind each other, sessions whose timeouts the leader decides, and clients with the library's own
//! timeouts. Messages take a while that is drawn from the world's seed, so that the same seed gives the same execution.
//!
//! What it leaves out: ACLs, quotas, TTL and container znodes, reconfiguration, local sessions, limits on sizes and
//! connections, and disks that fail or are slow. A vote of an election is counted from the candidates' state instead of
//! being sent.

mod agenda;
mod client;
mod connection;
mod ensemble;
mod faults;
mod leader;
mod net;
mod quorum;
mod scheduler;
mod script;
mod server;
mod session;
mod tree;
mod txn;
mod watches;
mod wire;
mod world;

pub use ensemble::{Config, Ensemble};
pub use faults::Refusal;
pub use net::{Net, OUTAGE, PARENTS};
pub use script::{Before, Fate, Fits, ScriptedRequest, StruckRequest};
pub use tree::SimZnode;
pub use wire::HoldOutcome;
pub use world::World;
