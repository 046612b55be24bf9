//! A run on a network, as diagrams read it.

use crate::model::RunModel;
use zooquake_history::operation::consensus::{Announcement, NODES};
use zooquake_history::plan::{ConsensusGoal, Scheduler};
use zooquake_history::{Event, EventType, MessageRecord, Process};

/// The most nodes that get a lane.
const NODES_SHOWN: usize = 24;

/// Something that a node made public.
#[derive(Debug, Clone, Copy)]
pub struct PublicStep {
    /// The index of its event.
    pub index: usize,
    /// When.
    pub time: u64,
    pub node: usize,
    pub what: Announcement,
}

/// The events and messages of a run.
#[derive(Debug)]
pub struct NetworkRun<'a> {
    /// Names of nodes, by number.
    pub names: Vec<String>,
    /// The messages in the order in which they were sent.
    pub messages: Vec<&'a MessageRecord>,
    pub events: &'a [Event],
    /// What nodes made public.
    pub steps: Vec<PublicStep>,
    /// What the protocol is to bring about.
    pub goal: ConsensusGoal,
    /// What a round of a value's protocol is called in its paper.
    pub round: &'static str,
    /// Whether it plays a script, which delivers only what it needs.
    pub scripted: bool,
    /// Nodes whose processes started again, and when.
    pub restarts: Vec<(usize, u64)>,
}

impl<'a> NetworkRun<'a> {
    /// Reads a record; `None` of one without messages. Messages of nodes that get no lane are left out.
    pub fn new(model: &RunModel<'a>) -> Option<Self> {
        let record = model.record;
        let messages = record.messages.as_deref().filter(|messages| !messages.is_empty())?;
        let events = record.history.events.as_slice();
        let names = names(events, messages);
        let known = |name: &str| names.iter().any(|other| other == name);
        let mut messages: Vec<&MessageRecord> = messages.iter().filter(|m| known(&m.from) && known(&m.to)).collect();
        messages.sort_by_key(|message| (message.sent, message.number));
        let fast = messages
            .iter()
            .any(|message| message.kind == "2a" && message.detail == "any");
        let steps = events.iter().filter_map(|event| {
            let (node, what) = Announcement::read(event, &names)?;
            Some(PublicStep {
                index: event.index,
                time: event.time,
                node: usize::from(node),
                what,
            })
        });
        let killed = model.bands.iter().filter(|band| band.fault == "kill");
        let restarts = killed.flat_map(|band| {
            let nodes = band.targets.iter().filter_map(|target| number(&names, target));
            nodes.filter_map(|node| Some((node, band.until?)))
        });
        Some(Self {
            restarts: restarts.collect(),
            scripted: matches!(record.plan.scheduler, Scheduler::Script(_)),
            steps: steps.collect(),
            messages,
            events,
            goal: record.plan.workload.goal,
            round: if fast { "round" } else { "ballot" },
            names,
        })
    }

    /// The number of a node.
    pub fn node(&self, name: &str) -> Option<usize> {
        number(&self.names, name)
    }

    /// The name of a node.
    pub fn name(&self, node: usize) -> &str {
        self.names.get(node).map_or("a node", String::as_str)
    }

    /// The messages that were sent in a span, with their places.
    pub fn sent_in(&self, from: u64, until: u64) -> impl Iterator<Item = (usize, &'a MessageRecord)> {
        let all = self.messages.iter().copied().enumerate();
        all.filter(move |(_, message)| (from..=until).contains(&message.sent))
    }

    /// The step that an event is.
    pub fn step(&self, index: usize) -> Option<&PublicStep> {
        self.steps.iter().find(|step| step.index == index)
    }

    /// Operations of clients' nodes: the event, the node, and the value that it is about.
    pub fn operations(&self) -> impl Iterator<Item = (&'a Event, usize, i64)> {
        self.events.iter().filter_map(|event| {
            let (Process::Number(_), Some(name)) = (&event.process, event.node.as_deref()) else {
                return None;
            };
            Some((event, self.node(name)?, event.content()?))
        })
    }

    /// When a client's node was asked first; `None` if none ever was.
    pub fn first_request(&self) -> Option<u64> {
        let mut asked = self.operations().filter(|(event, ..)| event.kind == EventType::Invoke);
        asked.next().map(|(event, ..)| event.time)
    }

    /// The last moment of the run.
    pub fn end(&self) -> u64 {
        let events = self.events.last().map_or(0, |event| event.time);
        events.max(self.messages.last().map_or(0, |message| message.sent))
    }

    /// What the round of a message is called.
    pub fn round_of(&self, message: &MessageRecord) -> Option<String> {
        let round = message.round?;
        let word = match (self.goal, message.kind.as_str()) {
            (ConsensusGoal::EpochLeader, "vote") => "election",
            _ => self.round_word(),
        };
        Some(format!("{word} {round}"))
    }

    /// What that is called in which a node leads, or a value is voted for.
    pub fn round_word(&self) -> &'static str {
        match self.goal {
            ConsensusGoal::Value => self.round,
            ConsensusGoal::EpochLeader | ConsensusGoal::Log => "epoch",
            ConsensusGoal::OneLeader => "term",
            _ => "round",
        }
    }

    /// The log of a replica after the event of an index, by what it made public until then: the values, by offset.
    pub fn log(&self, node: usize, index: usize) -> Vec<u32> {
        let mut log: Vec<u32> = Vec::new();
        for step in self
            .steps
            .iter()
            .filter(|step| step.node == node && step.index <= index)
        {
            match step.what {
                Announcement::Stored { offset, value, .. } => {
                    log.truncate(offset as usize);
                    log.push(value);
                }
                Announcement::Truncated { offset } => log.truncate(offset as usize),
                _ => {}
            }
        }
        log
    }

    /// Whether a step is the first of a process that started again.
    pub fn is_restart(&self, step: &PublicStep) -> bool {
        self.restarts.contains(&(step.node, step.time))
    }
}

fn number(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|other| other == name)
}

/// The names of the nodes: as the history lists them, else those of the messages.
fn names(events: &[Event], messages: &[MessageRecord]) -> Vec<String> {
    let listed = events.iter().find(|event| event.f == NODES && event.is_of("run"));
    let listed = listed.and_then(|event| event.value.as_array()).into_iter().flatten();
    let listed = listed.filter_map(|name| name.as_str().map(str::to_owned));
    let used = messages
        .iter()
        .flat_map(|message| [&message.from, &message.to])
        .cloned();
    let mut names: Vec<String> = Vec::new();
    for name in listed.chain(used) {
        if names.len() == NODES_SHOWN {
            break;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Names in a sentence: `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().map(|name| crate::text::clip(name, 24)).collect();
    match shown.as_slice() {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
