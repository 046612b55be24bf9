//! Histories with requests and answers that do not pair ([`crate::pairing`]) can be read in more than one way. An anomaly
//! is reported only if every reading has it, with the same witness.
//!
//! Two readings stand for all: one without the events that do not fit, and one without those that they contradict. An
//! answer of a process that had answered no such request before only lacks its own: that may have been sent at any time,
//! and the checkers know that.

use crate::Record;
use crate::history::{Event, EventType, Process};
use crate::ops::Ops;
use crate::pairing::Misfit;
use crate::results::{Anomaly, Results};
use crate::run::few;
use crate::verdict::verdict;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The results of a record by `check`, without the anomalies that not every reading has; these are a reason against
/// `valid`.
pub fn check(record: &Record, check: fn(&Record) -> Results) -> Results {
    let mut results = check(record);
    let (odd, other): (HashSet<usize>, HashSet<usize>) = contradictions(&record.history.events).into_iter().unzip();
    if odd.is_empty() || results.anomalies.is_empty() {
        return results;
    }
    let readings = [odd, other].map(|left_out| found(record, &left_out, check));
    let every = |anomaly: &Anomaly| readings.iter().all(|found| found.contains(&key(anomaly)));
    let (kept, doubtful): (Vec<Anomaly>, Vec<Anomaly>) = results.anomalies.into_iter().partition(every);
    results.anomalies = kept;
    if !doubtful.is_empty() {
        let kinds: BTreeSet<&str> = doubtful.iter().map(|anomaly| anomaly.kind.as_str()).collect();
        results.reasons.push(format!(
            "{} anomalies ({}) rest on requests and answers that do not pair, and are not reported",
            doubtful.len(),
            few(&Vec::from_iter(kinds))
        ));
    }
    results.verdict = verdict(&results.anomalies, &results.reasons);
    results
}

/// Events that do not fit, each with the one that it contradicts.
fn contradictions(events: &[Event]) -> Vec<(usize, usize)> {
    let misfits = Ops::new(events).misfits;
    if misfits.is_empty() {
        return Vec::new();
    }
    let mut misfits = misfits.into_iter().peekable();
    let mut answered: HashMap<(&Process, &str), usize> = HashMap::new();
    let mut all = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let key = (&event.process, event.f.as_str());
        if let Some((_, misfit)) = misfits.next_if(|&(odd, _)| odd == at) {
            let other = match misfit {
                Misfit::Busy(other) | Misfit::Other(other) | Misfit::Again(other) => Some(other),
                // It may be one that was answered before.
                Misfit::Unasked => answered.get(&key).copied(),
            };
            all.extend(other.map(|other| (at, other)));
        }
        if event.kind != EventType::Invoke {
            answered.insert(key, at);
        }
    }
    all
}

/// What makes two anomalies of two readings the same one: its kind, its witness, and the words of one without a witness.
type Key = (String, Vec<usize>, Option<String>);

fn key(anomaly: &Anomaly) -> Key {
    let Anomaly { kind, witness, why, .. } = anomaly;
    (kind.clone(), witness.clone(), witness.is_empty().then(|| why.clone()))
}

/// What is found in a history without some of its events, the witnesses in terms of the whole.
fn found(record: &Record, left_out: &HashSet<usize>, check: fn(&Record) -> Results) -> HashSet<Key> {
    let mut reading = record.clone();
    reading.history.events.retain(|event| !left_out.contains(&event.index));
    let mut kept = Vec::with_capacity(reading.history.events.len());
    for (index, event) in reading.history.events.iter_mut().enumerate() {
        kept.push(std::mem::replace(&mut event.index, index));
    }
    let place = |at: usize| kept.partition_point(|&other| other < at);
    for of_tree in reading.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        of_tree.index = place(of_tree.index);
        of_tree.end_index = place(of_tree.end_index);
    }
    let anomalies = check(&reading).anomalies.into_iter();
    let whole = |mut anomaly: Anomaly| {
        anomaly.witness.iter_mut().for_each(|event| *event = kept[*event]);
        key(&anomaly)
    };
    anomalies.map(whole).collect()
}
