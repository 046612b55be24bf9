//! `rwlock/fenced`: ZooKeeper's recipe "Shared Locks" in protected queues, whose writers carry a token. Grants are given in the order of the
//! znodes: a reader that comes after a waiting writer waits behind it.

use std::sync::Arc;

use super::PARENT;
use crate::recipes::Env;
use crate::recipes::grant::{Protected, Queue, Queues};
use crate::recipes::lock::Token;

const QUEUES: Queues = Queues {
    exclusive: Queue::single(PARENT, "-write-"),
    shared: Some(Queue::single(PARENT, "-read-")),
};

/// A client that begins to open its session.
pub fn fenced(env: &Env) -> Protected {
    Protected::moded(env, QUEUES, Arc::new(Token(true)))
}
