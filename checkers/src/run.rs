//! A run as its checkers see it: the record, and what is read out of it once for all of them.

use crate::Record;
use crate::clients::Clients;
use crate::grants::{Grant, Grants};
use crate::history::Event;
use crate::names::Names;
use crate::near::Faults;
use crate::ops::Ops;
use crate::recovery::Recovery;
use crate::results::WindowResult;
use crate::windows;
use std::collections::BTreeMap;

/// The record of a run of exclusive grants, taken apart.
#[derive(Debug)]
pub struct Run<'a> {
    /// All that was recorded.
    pub record: &'a Record,
    /// The events of the history.
    pub events: &'a [Event],
    /// What the family calls things.
    pub names: &'static Names,
    /// The operations.
    pub ops: Ops<'a>,
    /// The grants.
    pub grants: Grants<'a>,
    /// The clients, their processes and sessions.
    pub clients: Clients<'a>,
    /// What became of the fault windows.
    pub windows: Vec<WindowResult>,
    /// When faults were on.
    pub faults: Faults<'a>,
    /// Where liveness is judged, or why it cannot be.
    pub recovery: Recovery<'a>,
    phases: BTreeMap<&'a str, usize>,
}

impl<'a> Run<'a> {
    /// Takes a record apart, in time nearly linear in its events.
    pub fn new(record: &'a Record, names: &'static Names) -> Self {
        let events = record.history.events.as_slice();
        let ops = Ops::new(events);
        let grants = Grants::new(events, &ops, names);
        let clients = Clients::new(record, &ops, &grants);
        let windows = windows::results(record, &ops, &grants);
        let mut phases = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            if let Some(name) = event.entered() {
                phases.insert(name, at);
            }
        }
        let recovery = Recovery::new(record, &phases, &ops, &clients);
        Self {
            record,
            events,
            names,
            ops,
            grants,
            clients,
            windows,
            faults: Faults::new(events, record.plan.cluster.timing.session_ms),
            recovery,
            phases,
        }
    }

    /// The event that began a phase, the last one if it began more than once.
    pub fn phase(&self, name: &str) -> Option<usize> {
        self.phases.get(name).copied()
    }

    /// Nanoseconds since the run began.
    pub fn time(&self, at: usize) -> u64 {
        self.events[at].time
    }

    /// `12.402 s`, when an event was recorded.
    pub fn at(&self, at: usize) -> String {
        seconds(self.time(at))
    }

    /// A grant for a text: its name, client, and its age if that is known.
    pub fn grant(&self, number: usize) -> String {
        let Grant { name, node, czxid, .. } = &self.grants.all[number];
        match czxid {
            Some(czxid) => format!("grant {name} of {node} (czxid 0x{czxid:x})"),
            None => format!("grant {name} of {node}"),
        }
    }
}

/// Names for a text: all of them, of many the first ones and how many more there are.
pub fn few<S: AsRef<str>>(names: &[S]) -> String {
    let first = |count: usize| names[..count].iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() {
        all @ 0..=20 => first(all),
        all => format!("{} and {} more", first(10), all - 10),
    }
}

/// A number of things: `1 item`, `2 items`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Nanoseconds as seconds with three decimals, `12.402 s`; what is below a millisecond is cut off.
pub fn seconds(ns: u64) -> String {
    format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}
