//! A copy of the recipe "Shared Locks" as a tutorial's reader makes it: a reader looks at its neighbour only, the znode
//! just before its own, and believes that it holds if that is another reader's. Whether that one holds it does not ask:
//! a writer may hold, or wait, before it.

use super::PARENT;
use crate::recipes::Env;
use crate::recipes::grant::{Chain, TutorialClient};

/// A client of `rwlock/neighbour` that begins to open its session.
pub fn neighbour(env: &Env) -> TutorialClient {
    let queue = Chain {
        parent: PARENT,
        exclusive: "write-",
        shared: Some("read-"),
    };
    TutorialClient::new(env, queue)
}
