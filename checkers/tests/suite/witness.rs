//! A record reduced to a witness.

use std::collections::{BTreeSet, HashMap};
use zooquake_checkers::{Event, EventType, Process, Record};

/// The record with only some of its events, under new indexes; the readings of the tree keep their places among them. Each
/// operation has a process of its own, so that what is left of a process pairs.
pub fn only(record: &Record, keep: &BTreeSet<usize>) -> Record {
    let mut small = record.clone();
    apart(&mut small.history.events);
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

/// Gives each operation of a numbered process a process of its own.
fn apart(events: &mut [Event]) {
    let mut open: HashMap<Process, (Process, String)> = HashMap::new();
    for event in events {
        if let Process::Name(_) = event.process {
            continue;
        }
        let asked = open.remove(&event.process);
        let own = asked.filter(|(_, f)| event.kind != EventType::Invoke && *f == event.f);
        let own = own.map_or_else(|| Process::Number(event.index as u64), |(own, _)| own);
        let process = std::mem::replace(&mut event.process, own.clone());
        if event.kind == EventType::Invoke {
            open.insert(process, (own, event.f.to_string()));
        }
    }
}
