//! `rwlock/fenced`: ZooKeeper's recipe "Shared Locks" in protected queues, whose writers carry a token. Grants are
//! given in the order of the znodes: a reader that comes after a waiting writer waits behind it.

use super::PARENT;
use crate::recipes::Env;
use crate::recipes::grant::{ContenderQueue, ProtectedQueue, Queues};
use crate::recipes::lock::Token;

const QUEUES: Queues = Queues {
    exclusive: ContenderQueue::single(PARENT, "-write-"),
    shared: Some(ContenderQueue::single(PARENT, "-read-")),
};

/// A client that begins to open its session.
pub fn fenced(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUES, Token(true))
}
