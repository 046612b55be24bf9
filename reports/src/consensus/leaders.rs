//! What leads to a leader: the votes that it had, and what made its leadership known.

use super::network_run::{NetworkRun, arrived, listed};
use super::scope::DiagramScope;
use crate::messages::DiagramTone;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::{Event, MessageRecord};

/// Kinds of message by which a node supports a leader.
const SUPPORT: [&str; 5] = ["join", "ack", "ACKEPOCH", "ACK", "changed to"];
/// Kinds of message that only show that somebody is there.
pub const ROUTINE: [&str; 9] = [
    "ping",
    "pong",
    "check",
    "alive",
    "fetch",
    "fetched nothing",
    "read",
    "state",
    "produce",
];

/// A node that begins to lead, or is elected.
#[derive(Debug, Clone, Copy)]
struct Rise {
    node: usize,
    /// When it began to look for a leader.
    since: u64,
    time: u64,
    round: u32,
}

impl Rise {
    /// The rise that ends with an event of a node.
    fn new(run: &NetworkRun<'_>, index: usize) -> Option<Self> {
        let step = run.step(index)?;
        let (Announcement::Leading { round } | Announcement::Elected { round, .. }) = step.what else {
            return None;
        };
        let looks = |other: &&super::network_run::PublicStep| {
            other.node == step.node && other.index < index && matches!(other.what, Announcement::Looking { .. })
        };
        Some(Self {
            node: step.node,
            since: run.steps.iter().rev().find(looks).map_or(0, |looking| looking.time),
            time: step.time,
            round,
        })
    }

    /// The messages by which others supported it: the first one of each sender and kind.
    fn support(self, run: &NetworkRun<'_>) -> Vec<usize> {
        let own_vote = format!("({},", self.node + 1);
        run.firsts((self.since, self.time), |message| {
            let (from, kind) = (message.from.as_str(), message.kind.as_str());
            let names_it = kind == "vote" && message.detail.starts_with(&own_vote);
            // An observer acknowledges too, which counts for nothing.
            let supports = !from.starts_with("observer") && (names_it || SUPPORT.contains(&kind));
            let arrived = arrived(message, self.time) && run.node(&message.to) == Some(self.node);
            (supports && arrived).then_some((from, kind))
        })
    }

    fn concerns(self, run: &NetworkRun<'_>, message: &MessageRecord) -> bool {
        let its_own = run.node(&message.from) == Some(self.node) || run.node(&message.to) == Some(self.node);
        let then = (self.since..=self.time).contains(&message.sent);
        its_own && then && !ROUTINE.contains(&message.kind.as_str())
    }
}

/// Lets what concerns leaders be the core, and what supported them stand out.
fn emphasize(run: &NetworkRun<'_>, rises: &[Rise], until: u64) -> Option<DiagramScope> {
    let from = rises.iter().map(|rise| rise.since).min()?;
    let mut scope = DiagramScope {
        from,
        until,
        ..DiagramScope::default()
    };
    scope.add_core(run, |message| rises.iter().any(|rise| rise.concerns(run, message)));
    let mut said = Vec::new();
    for (rise, tone) in rises.iter().zip([DiagramTone::First, DiagramTone::Second]) {
        let support = rise.support(run);
        scope.stand_out(run, &support, tone);
        scope.nodes.push((rise.node, tone));
        let by = match run.senders(&support).as_slice() {
            [] => "without the vote of another node".to_owned(),
            senders => format!("by the votes or acknowledgements of {}", listed(senders)),
        };
        let at = crate::text::moment(rise.time);
        said.push(format!("{} leads from {at} on, {by}", run.name(rise.node)));
    }
    scope.sentences.push(format!("{}.", said.join("; ")));
    Some(scope)
}

/// From the election of the first of two leaders to the moment at which the second one leads; where the first one has
/// led for long what lies between is left out by the choice of messages.
pub fn two(run: &NetworkRun<'_>, witness: &[&Event]) -> Option<DiagramScope> {
    let rises = witness.iter().filter_map(|event| Rise::new(run, event.index));
    let rises: Vec<Rise> = rises.take(2).collect();
    let until = rises.iter().map(|rise| rise.time).max()?;
    let mut scope = emphasize(run, &rises, until)?;
    if let [first, second] = rises.as_slice() {
        let between = first.time..=second.time;
        let ended = run.steps.iter().any(|step| {
            let ends = matches!(step.what, Announcement::Resigned { .. } | Announcement::Looking { .. });
            ends && step.node == first.node && between.contains(&step.time)
        });
        let alone = rises.iter().filter(|rise| rise.support(run).is_empty());
        let alone: Vec<usize> = alone.map(|rise| rise.node).collect();
        if !alone.is_empty() {
            let names = run.listed(&alone);
            scope.cause = Some(format!("{names} began to lead without the vote of another node."));
        } else if !ended {
            scope.cause = Some(format!(
                "{} had not resigned when {} began to lead.",
                run.name(first.node),
                run.name(second.node)
            ));
        } else if first.round == second.round {
            scope.sentences.push(format!("Both lead epoch {}.", first.round));
        }
    }
    Some(scope)
}

/// The election that a lesser vote won.
pub fn lesser_vote(run: &NetworkRun<'_>, witness: &[&Event]) -> Option<DiagramScope> {
    let rise = witness.iter().find_map(|event| Rise::new(run, event.index))?;
    let mut scope = emphasize(run, &[rise], rise.time)?;
    scope.sentences.clear();
    let mut said = Vec::new();
    for step in witness.iter().filter_map(|event| run.step(event.index)) {
        let Announcement::Credentials { epoch, zxid } = step.what else {
            continue;
        };
        let node = step.node;
        let verb = if node == rise.node {
            "was elected with"
        } else {
            "had voted for it with"
        };
        said.push(format!("{} {verb} epoch {epoch}, zxid {zxid}", run.name(node)));
        if node == rise.node {
            continue;
        }
        // The votes of the better one for itself.
        let own_vote = format!("({},", node + 1);
        let own = run.firsts((rise.since, rise.time), |message| {
            let better = run.node(&message.from) == Some(node) && message.detail.starts_with(&own_vote);
            (better && message.kind == "vote").then_some(&message.to)
        });
        scope.stand_out(run, &own, DiagramTone::Second);
    }
    scope.cause = Some(format!("{}.", said.join("; ")));
    Some(scope)
}

/// Up to the first leader that a majority follows; without one, the first that leads at all.
pub fn established(run: &NetworkRun<'_>) -> Option<DiagramScope> {
    let first = run
        .steps
        .iter()
        .find(|step| matches!(step.what, Announcement::Leading { .. }))?;
    let rise = Rise::new(run, first.index)?;
    let votes = |name: &&String| !name.starts_with("observer") && !is_client(name);
    let voters = run.names.iter().filter(votes).count();
    let mut with_it = 1;
    let mut until = first.time;
    for step in run.steps.iter().filter(|step| step.index > first.index) {
        let Announcement::Following { leader, round } = step.what else {
            continue;
        };
        if with_it <= voters / 2 && usize::from(leader) == rise.node && round == rise.round {
            with_it += 1;
            until = step.time;
        }
    }
    let mut scope = emphasize(run, &[rise], until)?;
    scope.credentials = true;
    Some(scope)
}

fn is_client(name: &str) -> bool {
    name.starts_with("producer") || name.starts_with("proposer") || name.starts_with("register")
}
