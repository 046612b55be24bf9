//! The register: each anomaly by one history, silence on its nearest innocent twins, and the definitions taken
//! literally.

mod agreement;
pub mod brute_force;
mod linearizability;
mod lost_writes;
mod scale;
pub mod simulated_registers;
mod stale_reads;
mod verdicts;

use crate::script::{holding, run, standing};
use zooquake_history::{Record, evidence::Znode};

/// What a register promises from variant to variant.
const VARIANTS: [&str; 3] = ["quorum-read", "sync-read", "read"];

pub fn quorum(text: &str) -> Record {
    run("quorum-read", text)
}

pub fn plain(text: &str) -> Record {
    run("read", text)
}

/// The run with a register that holds this in both readings of the tree.
fn held(record: Record, data: &str, mzxid: i64) -> Record {
    standing(record, vec![znode(data, mzxid)])
}

/// The znode with these data, written last by this transaction.
pub fn znode(data: &str, mzxid: i64) -> Znode {
    Znode {
        czxid: 1,
        mzxid,
        ..holding("/register", data)
    }
}
