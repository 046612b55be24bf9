//! What leads to a message that is acknowledged in a replicated log, or lost from it, and to logs of two replicas that
//! differ though both are in sync.

use super::network_run::{NetworkRun, PublicStep, arrived};
use super::scope::{CALM, DiagramScope};
use crate::messages::DiagramTone;
use crate::text;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::{Event, EventType, MessageRecord};

/// A message that was acknowledged.
#[derive(Debug, Clone, Copy)]
struct AcknowledgedMessage {
    value: u32,
    /// Its first offset in a log.
    offset: Option<u32>,
    time: u64,
}

impl AcknowledgedMessage {
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
        match message.kind.as_str() {
            "produce" | "ack" => message.detail == value,
            "fetched" => message
                .detail
                .strip_prefix(&value)
                .is_some_and(|rest| rest.starts_with(" at ")),
            "fetch" => self
                .offset
                .is_some_and(|offset| message.detail == format!("from {}", offset + 1)),
            _ => false,
        }
    }

    /// The messages that acknowledged it: the first one of each kind between two nodes.
    fn path(self, run: &NetworkRun<'_>) -> Vec<usize> {
        run.firsts((0, self.time), |message| {
            let helped = arrived(message, self.time) && self.is_helped_by(message);
            helped.then_some((&message.from, &message.to, &message.kind))
        })
    }

    /// When it is seen to be gone after a moment: a replica cuts it off, else another one is stored in its place; the
    /// moment if the run has neither.
    fn gone(self, run: &NetworkRun<'_>, after: u64) -> u64 {
        let first = |is_so: &dyn Fn(Announcement) -> bool| {
            let mut later = run.steps.iter().filter(|step| step.time > after);
            later.find(|step| is_so(step.what)).map(|step| step.time)
        };
        let cut = first(&|what| matches!(what, Announcement::Truncated { offset } if Some(offset) <= self.offset));
        let replaced = first(
            &|what| matches!(what, Announcement::Stored { offset, value, .. } if Some(offset) == self.offset && value != self.value),
        );
        cut.or(replaced).unwrap_or(after)
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
    matches!(message.kind.as_str(), "change to" | "changed to" | "refused")
}

/// From the request of a message that is lost to the moment at which it is seen to be gone: when the leader without it
/// leads and, if the run goes on, another replica that had it cuts it off, or another message takes its place.
pub fn lost_message(run: &NetworkRun<'_>, witness: &[&Event]) -> Option<DiagramScope> {
    let answer = witness.iter().find(|event| event.kind == EventType::Ok)?;
    let lost = AcknowledgedMessage::new(run, (answer.time, answer.content()?))?;
    let leader = witness.iter().find_map(|event| {
        let step = run.step(event.index)?;
        let Announcement::Leading { round } = step.what else {
            return None;
        };
        Some((step.node, round, step.time))
    });
    let asked = run
        .operations()
        .find(|(event, _, value)| event.kind == EventType::Invoke && *value == i64::from(lost.value));
    let proven = witness.iter().map(|event| event.time).max()?;
    let mut scope = DiagramScope {
        from: asked.map_or(0, |(event, ..)| event.time),
        until: lost.gone(run, proven),
        value: Some(lost.value),
        offset: lost.offset,
        ..DiagramScope::default()
    };
    let epochs = first_of_epochs(run, scope.from);
    scope.core.extend(epochs.iter().copied());
    scope.add_core(run, |message| {
        let before = message.sent <= lost.time;
        let cuts = matches!(message.kind.as_str(), "end of epoch" | "epoch") && !before;
        (changes_leadership(message) && before) || cuts || (lost.is_helped_by(message) && before)
    });
    scope.stand_out(run, &lost.path(run), DiagramTone::First);
    let of_leader = |place: &usize| leader.is_some_and(|(_, round, _)| run.messages[*place].round == Some(round));
    let change: Vec<usize> = epochs.into_iter().filter(of_leader).collect();
    scope.stand_out(run, &change, DiagramTone::Second);
    scope.cause = Some(cause(run, lost, leader));
    let replaced = leader.and_then(|(leader, round, _)| Some((leader, state_before(run, round)?)));
    let replaced = replaced.map(|(leader, state)| format!("The state that {} replaced: {state}.", run.name(leader)));
    scope.sentences.extend(replaced);
    Some(scope)
}

/// The messages that first made each epoch: one of each kind that arrived, after a moment.
fn first_of_epochs(run: &NetworkRun<'_>, from: u64) -> Vec<usize> {
    let mut known: Vec<Option<u32>> = Vec::new();
    let mut found = Vec::new();
    // An epoch is made by the first swap that is answered with it.
    for (place, message) in run.sent_in(0, u64::MAX) {
        if message.kind != "changed to" || message.received.is_none() || known.contains(&message.round) {
            continue;
        }
        known.push(message.round);
        let asked = run.sent_in(0, message.sent).filter(|(_, other)| {
            other.kind == "change to"
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

/// Where a message was that is lost, and how a leader comes to be without it.
fn cause(run: &NetworkRun<'_>, lost: AcknowledgedMessage, leader: Option<(usize, u32, u64)>) -> String {
    let holders = lost.holders(run);
    let (logs, at) = (if holders.len() == 1 { "log" } else { "logs" }, text::moment(lost.time));
    let had = format!(
        "Message {} was in the {logs} of {} when it was acknowledged at {at}",
        lost.value,
        run.listed(&holders)
    );
    let Some((leader, round, since)) = leader else {
        return format!("{had}.");
    };
    let (mut cut, mut unflushed): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for step in run.steps.iter().filter(|step| step.time >= lost.time) {
        let Announcement::Truncated { offset } = step.what else {
            continue;
        };
        let nodes = match run.is_restart(step) {
            true => &mut unflushed,
            false => &mut cut,
        };
        if lost.offset.is_some_and(|own| offset <= own) && !nodes.contains(&step.node) {
            nodes.push(step.node);
        }
    }
    let since = text::moment(since);
    let mut said = vec![had];
    if !unflushed.is_empty() {
        let lacks = if unflushed.len() == 1 {
            "its disk"
        } else {
            "their disks"
        };
        said.push(format!(
            "it was not yet on {lacks} when {} died and started again",
            run.listed(&unflushed)
        ));
    }
    said.push(format!(
        "{} leads epoch {round} from {since} on without it",
        run.name(leader)
    ));
    if !cut.is_empty() {
        let logs = if cut.len() == 1 { "its log" } else { "their logs" };
        said.push(format!("{} cut {logs} off to follow", run.listed(&cut)));
    }
    format!("{}.", said.join("; "))
}

/// What the register had before an epoch began: `leader 1, ISR {1}, v3`.
fn state_before(run: &NetworkRun<'_>, epoch: u32) -> Option<String> {
    let mut changes = run.messages.iter().rev();
    let before = changes.find(|message| message.kind == "changed to" && message.round < Some(epoch))?;
    Some(text::clip(&before.detail, 60))
}

/// From the first request, or the first message where there is room, to its acknowledgement.
pub fn acknowledged(run: &NetworkRun<'_>) -> Option<DiagramScope> {
    let (answer, _, value) = run.operations().find(|(event, ..)| event.kind == EventType::Ok)?;
    let first = AcknowledgedMessage::new(run, (answer.time, value))?;
    let request = run.first_request().unwrap_or(0);
    let fits = run.sent_in(0, answer.time).count() <= CALM;
    let mut scope = DiagramScope {
        from: if fits { 0 } else { request },
        until: answer.time,
        ..DiagramScope::default()
    };
    scope.add_core(run, |message| {
        changes_leadership(message) || first.is_helped_by(message)
    });
    scope.stand_out(run, &first.path(run), DiagramTone::First);
    let (holders, at) = (run.listed(&first.holders(run)), text::moment(first.time));
    let said = format!("Message {value} is in the logs of {holders} when it is acknowledged at {at}.");
    scope.sentences.push(said);
    Some(scope)
}

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
