//! Contradictions proven by as few events as possible.
//!
//! A witness is made of the nearest events that prove a contradiction. Some of them may prove part of it twice: that
//! nil was first needs no event, the readings of the znode tree are none. So events are left out, one after the other,
//! as long as what is left is still contradicted.

use super::PATH;
use super::accesses::Accesses;
use super::contradictions::{MADE_UP, RegisterContradiction, contradiction};
use crate::analysis::Analysis;
use std::collections::{HashMap, HashSet};
use zooquake_history::{Event, EventType, History, Process, Record, TreeReadings, evidence::Reading};

/// The longest witness that is tried; each event of it takes another check of all others.
const LONGEST: usize = 200;

/// The processes whose requests and answers do not all pair, and an event of each that fits none.
type UnpairedProcesses<'a> = HashMap<&'a Process, usize>;

/// What a history is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub run: &'a Analysis<'a>,
    /// Whether the readings of its znode tree count.
    pub tree: bool,
    /// Whether reads are promised to be linearizable.
    pub promised: bool,
    /// Values that are not judged.
    pub ambiguous: &'a HashSet<i64>,
}

/// The contradiction without the events that can be left out. A witness longer than [`LONGEST`] is not reduced, and its
/// `why` states that.
pub fn told(terms: Terms<'_>, mut contradiction: RegisterContradiction) -> RegisterContradiction {
    let mut keep = contradiction.witness.clone();
    keep.sort_unstable();
    keep.dedup();
    if keep.len() > LONGEST {
        contradiction.why += " Whether each event of this long witness is needed was not tried.";
        return contradiction;
    }
    let property = contradiction.property;
    let misfits = terms.run.ops.misfits.iter();
    let unpaired: UnpairedProcesses<'_> = misfits.map(|&(at, _)| (&terms.run.events[at].process, at)).collect();
    let find = |keep: &[usize]| find(terms, &unpaired, keep, property);
    for event in keep.clone() {
        let less: Vec<usize> = keep.iter().copied().filter(|&other| other != event).collect();
        if find(&less).is_some() {
            keep = less;
        }
    }
    match find(&keep) {
        Some(mut least) => {
            least.witness.iter_mut().for_each(|event| *event = keep[*event]);
            if property == MADE_UP {
                // All events together show that nobody had written a value by then; those of the witness alone do not.
                least.why = contradiction.why;
            }
            least
        }
        None => contradiction,
    }
}

fn find(
    terms: Terms<'_>,
    unpaired: &UnpairedProcesses<'_>,
    keep: &[usize],
    property: &str,
) -> Option<RegisterContradiction> {
    let record = only(terms, unpaired, keep);
    let run = Analysis::new(&record);
    let accesses = Accesses::new(&run, terms.promised, terms.ambiguous);
    let all = [accesses.all.as_slice(), &accesses.of_tree(&run, PATH).0].concat();
    contradiction(&run, all, property)
}

/// A record of some events of a run, in the same order, and of its readings of the register if the tree counts. Of the
/// processes that are `unpaired` not all requests and answers pair.
fn only(Terms { run, tree, .. }: Terms<'_>, unpaired: &UnpairedProcesses<'_>, keep: &[usize]) -> Record {
    let event = |(index, &at): (usize, &usize)| Event {
        index,
        process: process(run, unpaired, at),
        ..run.events[at].clone()
    };
    let place = |index: usize| keep.partition_point(|&at| at < index);
    let reading = |reading: &Reading| Reading {
        index: place(reading.index),
        end_index: place(reading.end_index),
        znodes: reading
            .znodes
            .iter()
            .filter(|znode| znode.path == PATH)
            .cloned()
            .collect(),
    };
    let readings = run.record.readings.filter(|_| tree);
    Record {
        history: History {
            events: keep.iter().enumerate().map(event).collect(),
        },
        tree: readings.map(|readings| TreeReadings {
            readings: readings.iter().map(reading).collect(),
        }),
        ..Record::default()
    }
}

/// The process of an event: of a work operation one of its own, so that an answer pairs although the requests around it
/// are left out. One whose requests and answers do not all pair decides which of its answers are disputed, and stays.
/// All are numbered anew, the former odd and the latter even, so that none has another's number.
fn process(run: &Analysis<'_>, unpaired: &UnpairedProcesses<'_>, at: usize) -> Process {
    let event = &run.events[at];
    if let Process::Name(_) = event.process {
        return event.process.clone();
    }
    let number = match (unpaired.get(&event.process), event.kind) {
        (Some(misfit), _) => misfit * 2,
        (None, EventType::Invoke) => at * 2 + 1,
        (None, _) => {
            let asked = run.ops.completes[at].and_then(|op| run.ops.work.get(op)?.invoke);
            asked.map_or(at * 2, |asked| asked * 2 + 1)
        }
    };
    Process::Number(number as u64)
}
