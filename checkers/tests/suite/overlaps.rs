//! Overlaps of holds, by the definition and in the plainest way.

use crate::brute_force::{capacity, confirms, names, read, sent, shared};
use crate::liveness::node;
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Record};

/// To where the hold of a grant is certain: the sending of its last request that was answered as holder.
fn certain(events: &[Event], name: &str) -> Option<usize> {
    let read = read(events, name)?;
    let answered = |at: &usize| {
        let event = &events[*at];
        let refused =
            event.kind == EventType::Fail && event.error.as_deref().is_some_and(|error| error.starts_with("refused"));
        let works = ["read", "write"].contains(&event.f.as_str());
        works && event.grant() == Some(name) && (event.kind == EventType::Ok || refused)
    };
    let writes = (read..events.len()).filter(answered).filter_map(|at| sent(events, at));
    writes
        .chain(confirms(events, name).into_iter().map(|(sent, _)| sent))
        .filter(|&sent| sent > read)
        .max()
}

/// The readings of grants that overlap earlier ones of other clients.
pub struct Overlaps {
    /// One that excludes the grant, both confirmed.
    pub doubles: BTreeSet<usize>,
    /// As many as several clients may hold, all confirmed.
    pub over: BTreeSet<usize>,
    /// Either of the two, certain and not confirmed.
    pub stale: BTreeSet<usize>,
}

pub fn overlaps(record: &Record) -> Overlaps {
    let events = &record.history.events;
    let capacity = capacity(record);
    let mut found = Overlaps {
        doubles: BTreeSet::new(),
        over: BTreeSet::new(),
        stale: BTreeSet::new(),
    };
    for later in names(events) {
        let Some(second) = read(events, later) else { continue };
        let others = |holds: &dyn Fn(&str) -> bool| {
            let before = |name: &&str| read(events, name).is_some_and(|first| first < second);
            let all = names(events).into_iter().filter(before);
            let all: Vec<&str> = all.filter(|name| holds(name) && holds(later)).collect();
            let of = |name: &&str| node(&events[read(events, name).expect("it was read")]);
            let all = all.into_iter().filter(|name| of(name) != node(&events[second]));
            let (shared, exclusive): (Vec<&str>, Vec<&str>) = all.partition(|name| shared(events, name));
            let clients: BTreeSet<&str> = exclusive.iter().map(of).collect();
            (!shared.is_empty(), clients.len())
        };
        let overlaps = |holds: &dyn Fn(&str) -> bool| match (others(holds), shared(events, later)) {
            ((_, exclusive), true) => (exclusive > 0, false),
            ((shared, exclusive), false) => (
                shared || capacity == 1 && exclusive > 0,
                capacity > 1 && exclusive >= capacity,
            ),
        };
        let after = |name: &str| confirms(events, name).iter().any(|&(sent, _)| sent > second);
        let (both, all) = overlaps(&after);
        // The later one need not confirm if the others had been granted when it was asked for.
        let asked = sent(events, second);
        let before = |name: &str| name == later || read(events, name) < asked && after(name);
        let (admitted, beyond) = overlaps(&before);
        let (double, over) = (both || admitted, all || beyond);
        found.doubles.extend(double.then_some(second));
        found.over.extend(over.then_some(second));
        let (double_too, over_too) = overlaps(&|name| certain(events, name).is_some_and(|end| end > second));
        let stale = (double_too || over_too) && !double && !over;
        found.stale.extend(stale.then_some(second));
    }
    found
}
