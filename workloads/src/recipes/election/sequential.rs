//! The tutorial's fair election, faults and all: each candidate watches the one before it, and looks at the list again
//! when that one goes. The first leads.

use super::PARENT;
use crate::recipes::Env;
use crate::recipes::grant::{Chain, TutorialClient};

/// A client of `election/sequential` that begins to open its session.
pub fn sequential(env: &Env) -> TutorialClient {
    let candidates = Chain {
        parent: PARENT,
        exclusive: "n_",
        shared: None,
    };
    TutorialClient::new(env, candidates)
}
