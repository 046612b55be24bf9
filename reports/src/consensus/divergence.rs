//! What leads to logs of two replicas that differ though both are in sync.

use super::network_run::{NetworkRun, PublicStep, arrived};
use super::scope::DiagramScope;
use crate::messages::DiagramTone;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::{Event, EventType, MessageRecord};

/// A record in the log of a replica.
#[derive(Debug, Clone, Copy)]
struct DrawnRecord {
    node: usize,
    offset: u32,
    value: u32,
    round: Option<u32>,
    /// When the replica made it public.
    time: u64,
}

impl DrawnRecord {
    fn new(step: &PublicStep) -> Option<Self> {
        match step.what {
            Announcement::Stored { offset, round, value } => Some(Self {
                node: step.node,
                offset,
                value,
                round,
                time: step.time,
            }),
            _ => None,
        }
    }

    /// Whether a message carries it to its replica.
    fn is_carried_by(self, run: &NetworkRun<'_>, message: &MessageRecord) -> bool {
        let value = self.value.to_string();
        let carries = match message.kind.as_str() {
            "produce" => message.detail == value,
            "fetched" => message.detail.split(' ').next() == Some(value.as_str()),
            _ => false,
        };
        carries && run.node(&message.to) == Some(self.node)
    }

    /// The place of the message that brought it: the last one to arrive before it was stored.
    fn carrier(self, run: &NetworkRun<'_>) -> Option<usize> {
        let carriers = run
            .sent_in(0, self.time)
            .filter(|(_, message)| arrived(message, self.time) && self.is_carried_by(run, message));
        let last = carriers.max_by_key(|(_, message)| message.received)?;
        Some(last.0)
    }

    fn words(self, run: &NetworkRun<'_>) -> String {
        let epoch = self.round.map_or(String::new(), |round| format!(" of epoch {round}"));
        format!("{} has message {}{epoch}", run.name(self.node), self.value)
    }
}

/// From the first request for one of two messages that have one place in the logs of two replicas to the last thing
/// that proves it.
pub fn diverging(run: &NetworkRun<'_>, witness: &[&Event]) -> Option<DiagramScope> {
    let steps = witness.iter().filter_map(|event| run.step(event.index));
    let mut records: Vec<DrawnRecord> = steps.filter_map(DrawnRecord::new).collect();
    records.sort_by_key(|record| (record.offset, record.node));
    let (&[one, other], shared) = records.split_first_chunk()?;
    let until = witness.iter().map(|event| event.time).max()?;
    let asked = run.operations().find(|(event, _, value)| {
        let either = [one.value, other.value].map(i64::from).contains(value);
        event.kind == EventType::Invoke && either
    });
    let mut scope = DiagramScope {
        from: asked.map_or(0, |(event, ..)| event.time),
        until,
        ..DiagramScope::default()
    };
    scope.add_core(run, |message| {
        let leads = matches!(message.kind.as_str(), "changed to" | "end of epoch" | "epoch");
        leads || records.iter().any(|record| record.is_carried_by(run, message))
    });
    for (record, tone) in [(one, DiagramTone::First), (other, DiagramTone::Second)] {
        let carrier: Vec<usize> = record.carrier(run).into_iter().collect();
        scope.stand_out(run, &carrier, tone);
        scope.nodes.retain(|(_, other)| *other != tone);
        scope.nodes.push((record.node, tone));
    }
    let differ = format!("At offset {} {}, and {}.", one.offset, one.words(run), other.words(run));
    scope.sentences.push(differ);
    if let [record, ..] = shared {
        let round = record.round.unwrap_or_default();
        scope.sentences.push(format!(
            "At offset {} both have a record of epoch {round}, before which their logs are to be the same.",
            record.offset
        ));
    }
    Some(scope)
}
