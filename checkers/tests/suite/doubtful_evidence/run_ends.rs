//! Ends of histories: what a run needs to be valid, after whatever happened before.

use crate::liveness::phase;
use crate::script::event;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Process, Record, evidence::Znode};

/// Writes the end of a history.
pub struct RunEndWriter {
    pub record: Record,
    after: Vec<Event>,
    now: u64,
}

impl RunEndWriter {
    /// Cuts off what comes from the phase `audit` on; without a phase `recovered` adds that.
    pub fn new(mut record: Record) -> Self {
        let events = &mut record.history.events;
        let audit = phase(events, "audit").unwrap_or(events.len());
        let after = events.split_off(audit);
        let now = events.last().map_or(0, |event| event.time);
        let mut end = Self { record, after, now };
        if phase(&end.record.history.events, "recovered").is_none() {
            end.phase("recovered");
        }
        end
    }

    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += 1_000_000;
        let events = &mut self.record.history.events;
        events.push(event(events.len(), self.now, who, number, kind, f, value));
    }

    /// The nodes that the history names.
    fn nodes(&self) -> BTreeSet<String> {
        let events = self.record.history.events.iter();
        let nodes = events.filter_map(|event| event.node.as_ref());
        nodes.map(ToString::to_string).collect()
    }

    /// Clients that no operation is pending of.
    pub fn idle(&self) -> Vec<String> {
        let events = &self.record.history.events;
        let mut nodes = self.nodes();
        for (sent, end) in super::operations(events) {
            let numbered = matches!(events[sent].process, Process::Number(_));
            let died = |event: &Event| event.f == "exit" && event.node == events[sent].node;
            if let (true, None, Some(node)) = (numbered, end, &events[sent].node)
                && !events[sent..].iter().any(died)
            {
                nodes.remove(node.as_str());
            }
        }
        nodes.into_iter().collect()
    }

    /// Nothing happens until a moment, in nanoseconds since the run began.
    pub fn until(&mut self, time: u64) {
        self.now = self.now.max(time);
    }

    pub fn phase(&mut self, name: &str) {
        self.push("run", None, EventType::Info, "phase", json!(name));
    }

    pub fn op(&mut self, node: &str, kind: EventType, f: &str, value: Value) {
        let number = 1_000 + node[1..].parse::<u64>().expect("a client's number");
        self.push(node, Some(number), kind, f, value);
    }

    /// An operation and its answer.
    pub fn done(&mut self, node: &str, f: &str, asked: Value, told: Value) {
        self.op(node, EventType::Invoke, f, asked);
        self.op(node, EventType::Ok, f, told);
    }

    /// A control request to a client, or its answer.
    pub fn named(&mut self, node: &str, kind: EventType, f: &str) {
        self.push(node, None, kind, f, json!({}));
    }

    /// Ends with the phase `audit`, after which the tree is read as it was.
    pub fn keep_tree(mut self) -> Self {
        self.phase("audit");
        let last = self.record.history.events.len();
        for reading in self.record.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
            (reading.index, reading.end_index) = (last, last);
        }
        self
    }

    /// The phase `audit` and what came after it; without it the audit of an empty tree, or of these znodes, by all
    /// clients.
    pub fn audit(mut self, znodes: Vec<Znode>) -> Record {
        let shift = (self.record.history.events.len(), self.now);
        if self.after.is_empty() {
            self.phase("audit");
            for node in self.nodes() {
                self.named(&node, EventType::Invoke, "quiesce");
                self.push(
                    &node,
                    None,
                    EventType::Ok,
                    "quiesce",
                    json!({"sessions": [], "znodes": []}),
                );
            }
            self.phase("done");
            return crate::script::standing(self.record, znodes);
        }
        let first = (self.after[0].index, self.after[0].time);
        let later = std::mem::take(&mut self.after);
        for event in later {
            self.record.history.events.push(Event {
                index: event.index - first.0 + shift.0,
                time: (event.time - first.1 + shift.1).max(event.time),
                ..event
            });
        }
        for reading in self.record.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
            for index in [&mut reading.index, &mut reading.end_index] {
                if *index > first.0 {
                    *index = *index - first.0 + shift.0;
                }
            }
        }
        self.record
    }
}
