//! Failures that were found: each is reported once, whatever the number of schedules that show it.

use crate::shrink::WantedAnomaly;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use zooquake_checkers::Anomaly;
use zooquake_history::{Event, Process, Record};

/// What identifies a failure: two with the same signature have the same anomaly of the same property, and the same
/// events in their witnesses up to the names of clients.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signature {
    /// The property that does not hold.
    pub property: String,
    /// The anomaly, such as `stale-write`.
    pub anomaly: String,
    /// Whether the variant declares it as known under a fault of the schedule. In one so short any of them may have
    /// brought it about, also one that is not near it: what a lost reply has left keeps out who asks after recovery.
    pub known: bool,
    /// The events of the witness in order, such as `a invoke acquire, b ok write`; clients are named by their first
    /// appearance. Of a long witness, such as a balance of all increments, only its kinds of events.
    pub shape: String,
}

impl Signature {
    /// The signature of an anomaly of a record.
    pub fn new(record: &Record, anomaly: &Anomaly) -> Self {
        Self {
            property: anomaly.property.clone(),
            anomaly: anomaly.kind.clone(),
            known: anomaly.accepted || is_declared(record, anomaly),
            shape: shape(record, anomaly),
        }
    }

    /// What another run has to show to show the same: the shape of the witness may differ.
    pub fn wanted(&self) -> WantedAnomaly {
        WantedAnomaly {
            property: self.property.clone(),
            anomaly: self.anomaly.clone(),
            advisory: false,
        }
    }
}

fn is_declared(record: &Record, anomaly: &Anomaly) -> bool {
    let plan = &record.plan;
    plan.workload
        .accepted
        .iter()
        .filter(|known| known.anomaly == anomaly.kind)
        .any(|known| {
            known
                .faults
                .iter()
                .any(|fault| fault == "none" || plan.faults.contains(fault))
        })
}

/// Witnesses with more events than this have about as many orders as there are schedules that show them.
const LONG: usize = 12;

fn shape(record: &Record, anomaly: &Anomaly) -> String {
    let events = anomaly
        .witness
        .iter()
        .filter_map(|&index| record.history.events.get(index));
    let kind = |event: &Event| format!("{:?} {}", event.kind, event.f).to_lowercase();
    if anomaly.witness.len() > LONG {
        let kinds: Vec<String> = events.map(kind).collect::<BTreeSet<_>>().into_iter().collect();
        return format!("more than {LONG} of: {}", kinds.join(", "));
    }
    let mut names: HashMap<&str, usize> = HashMap::new();
    let words = events.map(|event| match (&event.process, event.node.as_deref()) {
        (Process::Number(_), Some(node)) => {
            let next = names.len();
            let number = *names.entry(node).or_insert(next);
            format!("{} {}", letter(number), kind(event))
        }
        _ => kind(event),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// `a`, `b`, …, and `c27` where letters end.
fn letter(number: usize) -> String {
    match u8::try_from(number) {
        Ok(small) if small < 26 => char::from(b'a' + small).to_string(),
        _ => format!("c{}", number + 1),
    }
}

/// The anomalies of a check that count, each signature once: of the advisory ones only those of the kind `also`.
pub fn signatures(record: &Record, anomalies: &[Anomaly], also: Option<&str>) -> Vec<(Signature, String)> {
    let mut found: Vec<(Signature, String)> = Vec::new();
    let counts = |anomaly: &&Anomaly| !anomaly.advisory || also == Some(anomaly.kind.as_str());
    for anomaly in anomalies.iter().filter(counts) {
        let signature = Signature::new(record, anomaly);
        if found.iter().all(|(other, _)| *other != signature) {
            let cause = anomaly.cause.as_ref().map(|cause| format!(" {}", cause.sentence));
            found.push((signature, anomaly.why.clone() + &cause.unwrap_or_default()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zooquake_history::event::parse_jsonl;

    fn record(clients: [&str; 2]) -> Record {
        let event = |index: usize, client: &str, kind: &str, f: &str| json!({"index": index, "time": index, "process": index, "type": kind, "f": f, "value": null, "node": client});
        let lines = [
            event(0, clients[0], "invoke", "acquire"),
            event(1, clients[1], "ok", "write"),
            event(2, clients[0], "ok", "acquire"),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let (history, damage) = parse_jsonl(text.as_bytes());
        assert_eq!(damage, None);
        Record {
            history,
            ..Record::default()
        }
    }

    fn anomaly(witness: &[usize]) -> Anomaly {
        Anomaly {
            kind: "stale-write".into(),
            property: "mutual exclusion".into(),
            advisory: false,
            accepted: false,
            witness: witness.to_vec(),
            span: None,
            stuck: None,
            cause: None,
            why: String::new(),
        }
    }

    #[test]
    fn failures_are_the_same_up_to_the_names_of_clients() {
        let one = Signature::new(&record(["c1", "c2"]), &anomaly(&[0, 1, 2]));
        assert_eq!(one.shape, "a invoke acquire, b ok write, a ok acquire");
        assert_eq!(one, Signature::new(&record(["c5", "c3"]), &anomaly(&[0, 1, 2])));
        assert_ne!(one, Signature::new(&record(["c1", "c1"]), &anomaly(&[0, 1, 2])));
        assert_ne!(one, Signature::new(&record(["c1", "c2"]), &anomaly(&[0, 1])));
    }

    #[test]
    fn of_a_long_witness_only_the_kinds_of_events_count() {
        let record = record(["c1", "c2"]);
        let long = |order: [usize; 3]| Signature::new(&record, &anomaly(&order.repeat(5))).shape;
        assert_eq!(long([0, 1, 2]), "more than 12 of: invoke acquire, ok acquire, ok write");
        assert_eq!(long([0, 1, 2]), long([2, 1, 0]));
        assert_eq!(
            long([0, 1, 2]),
            Signature::new(&record, &anomaly(&[0, 1, 2].repeat(9))).shape
        );
    }

    #[test]
    fn advisory_anomalies_are_no_failures_and_each_is_told_once() {
        let record = record(["c1", "c2"]);
        let advisory = Anomaly {
            advisory: true,
            ..anomaly(&[0])
        };
        let all = [anomaly(&[0, 1]), advisory, anomaly(&[0, 1]), anomaly(&[1])];
        let found = |also| signatures(&record, &all, also).len();
        assert_eq!(
            (found(None), found(Some("stale-holder")), found(Some("stale-write"))),
            (2, 2, 3)
        );
    }
}
