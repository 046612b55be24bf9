//! Contradictions told by as few events as can be.
//!
//! A witness is made of the nearest events that prove a contradiction. Some of them may prove part of it twice: that nil was
//! first needs no event, the readings of the znode tree are none. So events are left out, one after the other, as long as
//! what is left is still contradicted.

use super::PATH;
use super::accesses::Accesses;
use super::linear::{Contradiction, contradictions};
use crate::Record;
use crate::history::{Event, History};
use crate::names;
use crate::run::Run;

/// The longest witness that is tried; each event of it takes another check of all others.
const LONGEST: usize = 200;

/// What a history is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The record.
    pub record: &'a Record,
    /// Whether the readings of its znode tree count.
    pub tree: bool,
    /// Whether reads are promised to be linearizable.
    pub promised: bool,
    /// Values that are not judged.
    pub ambiguous: &'a [i64],
}

/// The contradiction with what can be left out left out.
pub fn told(terms: Terms<'_>, contradiction: Contradiction) -> Contradiction {
    let mut keep = contradiction.witness.clone();
    keep.sort_unstable();
    keep.dedup();
    if keep.len() > LONGEST {
        return contradiction;
    }
    let property = contradiction.property;
    for event in keep.clone() {
        let less: Vec<usize> = keep.iter().copied().filter(|&other| other != event).collect();
        if find(terms, &less, property).is_some() {
            keep = less;
        }
    }
    match find(terms, &keep, property) {
        Some(mut least) => {
            least.witness.iter_mut().for_each(|event| *event = keep[*event]);
            least
        }
        None => contradiction,
    }
}

fn find(terms: Terms<'_>, keep: &[usize], property: &str) -> Option<Contradiction> {
    let record = only(terms, keep);
    let run = Run::new(&record, &names::NONE);
    let accesses = Accesses::new(&run, terms.promised, terms.ambiguous);
    let all = [accesses.all.as_slice(), &accesses.of_tree(&run, PATH)].concat();
    let mut found = contradictions(&run, all, true).into_iter();
    found.find(|found| found.property == property && !found.witness.is_empty())
}

/// A record of some events of another, in the same order, and of its readings of the tree if they count.
fn only(Terms { record, tree, .. }: Terms<'_>, keep: &[usize]) -> Record {
    let event = |(index, &at): (usize, &usize)| Event {
        index,
        ..record.history.events[at].clone()
    };
    let mut small = Record {
        plan: record.plan.clone(),
        history: History {
            events: keep.iter().enumerate().map(event).collect(),
        },
        tree: record.tree.clone().filter(|_| tree),
        ..Record::default()
    };
    for reading in small.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        reading.index = keep.partition_point(|&at| at < reading.index);
        reading.end_index = keep.partition_point(|&at| at < reading.end_index);
    }
    small
}
