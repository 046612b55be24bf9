//! The counter: each anomaly by one history, silence on its nearest innocent twins, and the definitions taken
//! literally.

mod agreement;
pub mod brute_force;
pub mod simulated_counters;
mod verdicts;

use crate::script::{holding, run, standing};
use zooquake_history::{Record, evidence::Znode};

/// A run by three clients, with this history and an empty tree that was read twice.
pub fn counter(text: &str) -> Record {
    run("versioned", text)
}

/// The run with a counter that holds this in both readings of the tree.
pub fn held(text: &str, data: &str) -> Record {
    standing(counter(text), vec![znode(data)])
}

pub fn znode(data: &str) -> Znode {
    Znode {
        czxid: 1,
        mzxid: 1,
        ..holding("/counter", data)
    }
}
