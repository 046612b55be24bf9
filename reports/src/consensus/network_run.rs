//! A run on a network, as diagrams read it.

use crate::lists;
use crate::model::{RunModel, round_word};
use std::collections::BTreeSet;
use zooquake_checkers::consensus::node_names;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::{ConsensusGoal, Scheduler};
use zooquake_history::{Event, EventType, MessageRecord, Node, Process};

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
        let nodes: Vec<Node> = names.iter().map(|name| name.as_str().into()).collect();
        let steps = events.iter().filter_map(|event| {
            let (node, what) = Announcement::read(event, &nodes)?;
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
            round: model.voting_word,
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

    /// The places of messages that were sent in a span: of those that have a key, the first of each.
    pub fn firsts<K: PartialEq>(
        &self,
        (from, until): (u64, u64),
        key: impl Fn(&'a MessageRecord) -> Option<K>,
    ) -> Vec<usize> {
        let mut known: Vec<K> = Vec::new();
        let mut places = Vec::new();
        for (place, message) in self.sent_in(from, until) {
            if let Some(key) = key(message).filter(|key| !known.contains(key)) {
                known.push(key);
                places.push(place);
            }
        }
        places
    }

    /// The names of nodes that sent messages, each once, in the order of the nodes' numbers.
    pub fn senders(&self, places: &[usize]) -> Vec<&str> {
        let senders = places.iter().filter_map(|&place| self.node(&self.messages[place].from));
        let senders: BTreeSet<usize> = senders.collect();
        senders.into_iter().map(|node| self.name(node)).collect()
    }

    /// Nodes in a sentence, by their names.
    pub fn listed(&self, nodes: &[usize]) -> String {
        listed(&nodes.iter().map(|node| self.name(*node)).collect::<Vec<_>>())
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
        let (asked, ..) = self.operations().find(|(event, ..)| event.kind == EventType::Invoke)?;
        Some(asked.time)
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
            goal => round_word(goal),
        }
    }

    /// The log of a replica after the event of an index, by what it made public until then: the values, by offset.
    pub fn log(&self, node: usize, index: usize) -> Vec<u32> {
        let mut log: Vec<u32> = Vec::new();
        let before = |step: &&PublicStep| step.node == node && step.index <= index;
        for step in self.steps.iter().filter(before) {
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
    let listed: Vec<String> = node_names(events).iter().map(Node::to_string).collect();
    let used = messages.iter().flat_map(|message| [&message.from, &message.to]);
    lists::distinct(listed.iter().chain(used).map(String::as_str), NODES_SHOWN)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// Whether a message arrived by a moment.
pub fn arrived(message: &MessageRecord, until: u64) -> bool {
    message.received.is_some_and(|at| at <= until)
}

/// Names in a sentence: `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().map(|name| crate::text::clip(name, 24)).collect();
    match shown.as_slice() {
        [] => "nobody".to_owned(),
        shown => lists::in_sentence(shown),
    }
}
