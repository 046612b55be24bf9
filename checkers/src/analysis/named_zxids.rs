//! The transactions that an event names, in whichever field.

use super::Analysis;
use zooquake_history::{Event, EventType, Value};

/// The fields whose number is a zxid, at any depth: what answers of any family name, and what a fault's evidence names
/// of a lost reply.
const FIELDS: [&str; 3] = ["czxid", "mzxid", "zxid"];

/// The zxids that an answer or a notice names, in no order; none of a request, which names what is to be.
pub fn named(event: &Event) -> Vec<i64> {
    let mut found = Vec::new();
    if event.kind != EventType::Invoke {
        collect(&event.value, &mut found);
    }
    found
}

/// By transaction the first event that shows that it was made: that names it or a later one.
#[derive(Debug)]
pub struct NamedTransactions {
    /// By zxid; each event is the first from there on.
    first: Vec<(i64, usize)>,
}

impl NamedTransactions {
    /// Reads them out of a run; a disputed answer shows nothing.
    pub fn new(run: &Analysis<'_>) -> Self {
        let events = run.events.iter().enumerate();
        let certain = events.filter(|(at, _)| !run.ops.disputed.contains(at));
        let each = certain.flat_map(|(at, event)| named(event).into_iter().map(move |zxid| (zxid, at)));
        let mut first: Vec<(i64, usize)> = each.collect();
        first.sort_unstable();
        for at in (1..first.len()).rev() {
            first[at - 1].1 = first[at - 1].1.min(first[at].1);
        }
        Self { first }
    }

    /// The first event that names this transaction or a later one.
    pub fn first_from(&self, zxid: i64) -> Option<usize> {
        let place = self.first.partition_point(|&(other, _)| other < zxid);
        self.first.get(place).map(|&(_, at)| at)
    }
}

fn collect(value: &Value, found: &mut Vec<i64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter() {
                match value.as_i64() {
                    Some(zxid) if FIELDS.iter().any(|field| name == field) => found.push(zxid),
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
