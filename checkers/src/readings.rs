//! Histories with requests and answers that do not pair ([`crate::pairing`]) can be read in more than one way. An anomaly
//! is reported only if every reading has it, with the same witness.
//!
//! Four readings stand for all: what a process was first asked for and first answered counts; what it was last asked for and
//! last answered does; what it was asked for meanwhile was another process's, and never answered; and answers that name another operation than was asked for mean that one. An answer of a process
//! that had answered no such request before only lacks its own: that may have been sent at any time, and the checkers know
//! that.

use crate::Record;
use crate::history::{Event, EventType, Process};
use crate::ops::node;
use crate::results::{Anomaly, Results};
use crate::run::few;
use crate::verdict::verdict;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The results of a record by `check`, without the anomalies that not every reading has; these are a reason against
/// `valid`.
pub fn check(record: &Record, check: fn(&Record) -> Results) -> Results {
    let mut results = check(record);
    let events = &record.history.events;
    if results.anomalies.is_empty() || Reader::new(Reading::First).read(events).is_empty() {
        return results;
    }
    let readings = [Reading::First, Reading::Last, Reading::Apart, Reading::Named]
        .map(|reading| found(record, Reader::new(reading).read(events), check));
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

/// What counts where requests and answers do not pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    First,
    Last,
    Apart,
    Named,
}

/// What a reading makes of an event: it is left out, or belongs to an operation of this name, or is another
/// process's.
#[derive(Debug)]
enum Change {
    LeftOut,
    Named(String),
    Apart,
}

/// What a numbered process is at, and what it has answered.
#[derive(Debug, Default)]
struct State<'a> {
    open: Option<(usize, &'a str)>,
    answered: HashMap<&'a str, usize>,
}

/// Goes through a history, one process beside the other.
struct Reader<'a> {
    reading: Reading,
    processes: HashMap<u64, State<'a>>,
    /// Where the stream of each client ended last.
    exits: HashMap<&'a str, usize>,
    changes: HashMap<usize, Change>,
}

impl<'a> Reader<'a> {
    fn new(reading: Reading) -> Self {
        Self {
            reading,
            processes: HashMap::new(),
            exits: HashMap::new(),
            changes: HashMap::new(),
        }
    }

    /// What the reading changes; nothing if all pairs.
    fn read(mut self, events: &'a [Event]) -> HashMap<usize, Change> {
        for (at, event) in events.iter().enumerate() {
            match &event.process {
                Process::Name(lane) if event.f == "exit" => {
                    self.exits.insert(lane, at);
                }
                Process::Name(_) => {}
                Process::Number(number) if event.kind == EventType::Invoke => self.request(*number, at, event),
                Process::Number(number) => self.answer(*number, at, event),
            }
        }
        self.changes
    }

    fn request(&mut self, number: u64, at: usize, event: &'a Event) {
        let state = self.processes.entry(number).or_default();
        let exit = self.exits.get(node(event)).copied();
        // What an ended process was asked for is over.
        match state.open.filter(|&(asked, _)| exit.is_none_or(|exit| exit < asked)) {
            Some((open, _)) if self.reading == Reading::Last => self.changes.insert(open, Change::LeftOut),
            Some(_) => {
                let apart = self.reading == Reading::Apart;
                self.changes
                    .insert(at, if apart { Change::Apart } else { Change::LeftOut });
                return;
            }
            None => None,
        };
        state.open = Some((at, &event.f));
    }

    fn answer(&mut self, number: u64, at: usize, event: &'a Event) {
        let state = self.processes.entry(number).or_default();
        let f = event.f.as_str();
        let (odd, contradicted) = match (state.open, state.answered.get(f)) {
            (Some((_, asked)), _) if asked == f => (false, None),
            (Some((open, _)), _) => (true, Some(open)),
            (None, Some(&before)) => (true, Some(before)),
            (None, None) => (false, None),
        };
        match (self.reading, state.open) {
            (Reading::First | Reading::Apart, _) if odd => {
                self.changes.insert(at, Change::LeftOut);
                return;
            }
            (Reading::Named, Some((_, asked))) if odd => {
                self.changes.insert(at, Change::Named(asked.to_owned()));
            }
            (Reading::Named, None) if odd => {
                self.changes.insert(at, Change::LeftOut);
                return;
            }
            _ => self.changes.extend(contradicted.map(|other| (other, Change::LeftOut))),
        }
        state.open = None;
        state.answered.insert(f, at);
    }
}

/// What makes two anomalies of two readings the same one: its kind, its witness, and the words of one without a witness.
type Key = (String, Vec<usize>, Option<String>);

fn key(anomaly: &Anomaly) -> Key {
    let Anomaly { kind, witness, why, .. } = anomaly;
    (kind.clone(), witness.clone(), witness.is_empty().then(|| why.clone()))
}

/// What is found in a history with some changes, the witnesses in terms of the whole.
fn found(record: &Record, mut changes: HashMap<usize, Change>, check: fn(&Record) -> Results) -> HashSet<Key> {
    let mut reading = record.clone();
    let numbers = record.history.events.iter().filter_map(|event| match event.process {
        Process::Number(number) => Some(number),
        Process::Name(_) => None,
    });
    let mut unused = numbers.max().unwrap_or(0);
    let mut kept = Vec::with_capacity(reading.history.events.len());
    reading.history.events.retain_mut(|event| {
        match changes.remove(&event.index) {
            Some(Change::LeftOut) => return false,
            Some(Change::Named(f)) => event.f = f,
            Some(Change::Apart) => {
                unused = unused.saturating_add(1);
                event.process = Process::Number(unused);
            }
            None => {}
        }
        kept.push(event.index);
        event.index = kept.len() - 1;
        true
    });
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
