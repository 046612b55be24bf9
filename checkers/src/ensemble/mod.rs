//! ZooKeeper's own leader elections (FastLeaderElection), vote by vote, from the servers' logs and from what the servers
//! said of themselves. They are judged in every run of every family: `docs/ensemble.md` says what is read, and what
//! proves nothing.

mod elections;
mod event;
mod line;
mod log;
mod vote;

pub use elections::{Ballot, Election, elections};
pub use event::{Notification, State};
pub use log::{Cast, Established, Life, Look, ServerLog};
pub use vote::{Rule, Vote};
