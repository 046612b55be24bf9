//! A record reduced to a witness.

use std::collections::BTreeSet;
use zooquake_checkers::Record;

/// The record with only some of its events, under new indexes; the readings of the tree keep their places among them.
pub fn only(record: &Record, keep: &BTreeSet<usize>) -> Record {
    let mut small = record.clone();
    small.history.events.retain(|event| keep.contains(&event.index));
    for (index, event) in small.history.events.iter_mut().enumerate() {
        event.index = index;
    }
    for reading in small.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        reading.index = keep.range(..reading.index).count();
        reading.end_index = keep.range(..reading.end_index).count();
    }
    small
}
