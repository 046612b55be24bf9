//! What leads to a message that is acknowledged in a replicated log, or lost from it.

use super::network_run::{NetworkRun, listed};
use super::scope::DiagramScope;
use crate::messages::DiagramTone;
use crate::text;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::{Event, EventType, MessageRecord};

/// A message that was acknowledged.
#[derive(Debug, Clone, Copy)]
struct Acknowledged {
    value: u32,
    /// Its first offset in a log.
    offset: Option<u32>,
    time: u64,
}

impl Acknowledged {
    fn new(run: &NetworkRun<'_>, (time, value): (u64, i64)) -> Option<Self> {
        let value = u32::try_from(value).ok()?;
        let offset = run.steps.iter().find_map(|step| match step.what {
            Announcement::Stored {
                offset, value: stored, ..
            } if stored == value => Some(offset),
            _ => None,
        });
        Some(Self { value, offset, time })
    }

    /// Whether a message helped to acknowledge it: it carries the value, or asks for what comes after it.
    fn is_helped_by(self, message: &MessageRecord) -> bool {
        let value = self.value.to_string();
        let offset = self.offset.map(|offset| format!("{offset}: {value} "));
        match message.kind.as_str() {
            "append" | "ack" => message.detail == value,
            "entry" => offset.is_some_and(|begin| format!("{} ", message.detail).starts_with(&begin)),
            "fetch" => self
                .offset
                .is_some_and(|offset| message.detail == (offset + 1).to_string()),
            _ => false,
        }
    }

    /// The messages that acknowledged it: the first one of each kind between two nodes.
    fn path(self, run: &NetworkRun<'_>) -> Vec<usize> {
        let mut known: Vec<(&str, &str, &str)> = Vec::new();
        let mut path = Vec::new();
        for (place, message) in run.sent_in(0, self.time) {
            let key = (message.from.as_str(), message.to.as_str(), message.kind.as_str());
            let arrived = message.received.is_some_and(|at| at <= self.time);
            if arrived && self.is_helped_by(message) && !known.contains(&key) {
                known.push(key);
                path.push(place);
            }
        }
        path
    }

    /// The replicas whose logs had it when it was acknowledged.
    fn holders(self, run: &NetworkRun<'_>) -> Vec<usize> {
        let mut holders: Vec<usize> = Vec::new();
        for step in run.steps.iter().filter(|step| step.time <= self.time) {
            match step.what {
                Announcement::Stored { value, .. } if value == self.value && !holders.contains(&step.node) => {
                    holders.push(step.node);
                }
                Announcement::Truncated { offset } if self.offset.is_some_and(|own| offset <= own) => {
                    holders.retain(|node| *node != step.node);
                }
                _ => {}
            }
        }
        holders.sort_unstable();
        holders
    }
}

fn changes_leadership(message: &MessageRecord) -> bool {
    matches!(message.kind.as_str(), "cas" | "swapped" | "refused")
}

/// From the request of a message that is lost to the end of the run.
pub fn lost_message(run: &NetworkRun<'_>, witness: &[&Event]) -> Option<DiagramScope> {
    let answer = witness.iter().find(|event| event.kind == EventType::Ok)?;
    let lost = Acknowledged::new(run, (answer.time, answer.content()?))?;
    let leader = witness.iter().find_map(|event| {
        let step = run.step(event.index)?;
        match step.what {
            Announcement::Leading { round } => Some((step.node, round, step.time)),
            _ => None,
        }
    });
    let asked = run
        .operations()
        .find(|(event, _, value)| event.kind == EventType::Invoke && *value == i64::from(lost.value));
    let mut scope = DiagramScope {
        from: asked.map_or(0, |(event, ..)| event.time),
        until: witness.iter().map(|event| event.time).max()?,
        value: Some(lost.value),
        ..DiagramScope::default()
    };
    let epochs = first_of_epochs(run, scope.from);
    scope.core.extend(epochs.iter().copied());
    scope.add_core(run, |message| {
        let before = message.sent <= lost.time;
        let cuts = matches!(message.kind.as_str(), "epoch?" | "epoch-end") && !before;
        (changes_leadership(message) && before) || cuts || (lost.is_helped_by(message) && before)
    });
    scope.stand_out(run, &lost.path(run), DiagramTone::First);
    let of_leader = |place: &usize| leader.is_some_and(|(_, round, _)| run.messages[*place].round == Some(round));
    let change: Vec<usize> = epochs.into_iter().filter(of_leader).collect();
    scope.stand_out(run, &change, DiagramTone::Second);
    scope.sentences = sentences(run, lost, leader);
    Some(scope)
}

/// The messages that first made each epoch: one of each kind that arrived, after a moment.
fn first_of_epochs(run: &NetworkRun<'_>, from: u64) -> Vec<usize> {
    let mut known: Vec<(&str, Option<u32>)> = Vec::new();
    let mut found = Vec::new();
    // An epoch is made by the first swap that is answered with it.
    for (place, message) in run.sent_in(0, u64::MAX) {
        if message.kind != "swapped" || message.received.is_none() || known.contains(&("swapped", message.round)) {
            continue;
        }
        known.push(("swapped", message.round));
        let asked = run.sent_in(0, message.sent).filter(|(_, other)| {
            other.kind == "cas"
                && other.round == message.round
                && other.from == message.to
                && other.received <= Some(message.sent)
        });
        let asked = asked
            .filter(|(_, other)| other.received.is_some())
            .map(|(place, _)| place)
            .last();
        if message.sent >= from {
            found.extend(asked);
            found.push(place);
        }
    }
    found
}

fn sentences(run: &NetworkRun<'_>, lost: Acknowledged, leader: Option<(usize, u32, u64)>) -> Vec<String> {
    let named = |nodes: &[usize]| listed(&nodes.iter().map(|node| run.name(*node)).collect::<Vec<_>>());
    let holders = lost.holders(run);
    let (logs, at) = (if holders.len() == 1 { "log" } else { "logs" }, text::moment(lost.time));
    let had = format!(
        "Message {} was in the {logs} of {} when it was acknowledged at {at}",
        lost.value,
        named(&holders)
    );
    let Some((leader, round, since)) = leader else {
        return vec![format!("{had}.")];
    };
    let mut cut: Vec<usize> = Vec::new();
    for step in run.steps.iter().filter(|step| step.time >= lost.time) {
        if let Announcement::Truncated { offset } = step.what
            && lost.offset.is_some_and(|own| offset <= own)
            && !cut.contains(&step.node)
        {
            cut.push(step.node);
        }
    }
    let since = text::moment(since);
    let leads = format!("{} leads epoch {round} from {since} on without it", run.name(leader));
    let cut = match cut.as_slice() {
        [] => String::new(),
        cut => format!(
            "; {} cut {} off to follow",
            named(cut),
            if cut.len() == 1 { "its log" } else { "their logs" }
        ),
    };
    vec![format!("{had}; {leads}{cut}.")]
}

/// From the first request, or the first message where there is room, to its acknowledgement.
pub fn acknowledged(run: &NetworkRun<'_>) -> Option<DiagramScope> {
    let (answer, _, value) = run.operations().find(|(event, ..)| event.kind == EventType::Ok)?;
    let first = Acknowledged::new(run, (answer.time, value))?;
    let request = run.first_request().unwrap_or(0);
    let fits = run.sent_in(0, answer.time).count() <= super::scope::CALM;
    let mut scope = DiagramScope {
        from: if fits { 0 } else { request },
        until: answer.time,
        ..DiagramScope::default()
    };
    scope.add_core(run, |message| {
        changes_leadership(message) || first.is_helped_by(message)
    });
    scope.stand_out(run, &first.path(run), DiagramTone::First);
    let holders = first.holders(run);
    let holders: Vec<&str> = holders.iter().map(|node| run.name(*node)).collect();
    let at = text::moment(first.time);
    let said = format!(
        "Message {value} is in the logs of {} when it is acknowledged at {at}.",
        listed(&holders)
    );
    scope.sentences.push(said);
    Some(scope)
}
