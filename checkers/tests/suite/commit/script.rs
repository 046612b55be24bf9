//! Records of two-phase commits.

use crate::script::{holding, run};
use zooquake_checkers::Record;
use zooquake_checkers::evidence::Znode;

/// A record of a commit by three clients, without faults, and with a tree that was read twice at the end and had nothing in it.
pub fn commit(text: &str) -> Record {
    let mut record = run("atomic", text);
    let end = record.history.events.len();
    for reading in record.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        (reading.index, reading.end_index) = (end, end);
    }
    record
}

/// The same with a znode in each reading of the tree.
pub fn with_tree(text: &str, znodes: [Znode; 2]) -> Record {
    let mut record = commit(text);
    for (reading, znode) in record.tree.iter_mut().flat_map(|tree| &mut tree.readings).zip(znodes) {
        reading.znodes = vec![znode];
    }
    record
}

/// The same where the decision znode of t1 says this in each reading.
pub fn decided(text: &str, words: [&str; 2]) -> Record {
    with_tree(text, words.map(|word| holding("/app/t1/decision", word)))
}
