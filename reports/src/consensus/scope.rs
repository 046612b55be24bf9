//! The part of a run that a diagram shows.

use super::network_run::{NetworkRun, arrived};
use crate::messages::DiagramTone;
use std::collections::{BTreeSet, HashMap};
use zooquake_history::{Event, MessageRecord};

/// The most messages that are drawn of a run without an anomaly.
pub const CALM: usize = 60;

/// The part of a run that a diagram shows.
#[derive(Debug, Default)]
pub struct DiagramScope {
    /// Messages that were sent before are not drawn.
    pub from: u64,
    /// Nor are those that were sent afterwards, or the rest of the way of those that were received afterwards.
    pub until: u64,
    /// The most messages.
    pub most: usize,
    /// The places of messages that stand out.
    pub key: HashMap<usize, DiagramTone>,
    /// The places of messages that belong to it.
    pub core: BTreeSet<usize>,
    /// Nodes with the tones of what they take part in.
    pub nodes: Vec<(usize, DiagramTone)>,
    /// The value that it is about, if it is about one: others' entries and operations are left out.
    pub value: Option<u32>,
    /// The offset of that value in logs, if it has one: what takes its place there is shown too.
    pub offset: Option<u32>,
    /// Whether what servers have is shown at every moment, not only where it proves something.
    pub credentials: bool,
    /// Whether as much of its beginning as of its end is shown; else the end comes first.
    pub edges: bool,
    /// What stands out, in words.
    pub sentences: Vec<String>,
}

impl DiagramScope {
    /// From the first event of a witness to its last one; the whole run if it has none.
    pub fn around(run: &NetworkRun<'_>, witness: &[&Event]) -> Self {
        let times = || witness.iter().map(|event| event.time);
        Self {
            from: times().min().unwrap_or(0),
            until: times().max().unwrap_or_else(|| run.end()),
            edges: true,
            ..Self::default()
        }
    }

    /// The messages of the part, with their places. Of a script those are left out that it never delivers, but for what
    /// stands out, and unless it delivers none.
    pub fn messages<'r>(&self, run: &'r NetworkRun<'_>) -> Vec<(usize, &'r MessageRecord)> {
        let sent = || run.sent_in(self.from, self.until);
        let stays = |message: &MessageRecord| arrived(message, self.until) || message.lost.is_some();
        let all = !run.scripted || !sent().any(|(_, message)| stays(message));
        sent()
            .filter(|(place, message)| all || stays(message) || self.key.contains_key(place))
            .collect()
    }

    /// Lets messages of a span be its core.
    pub fn add_core(&mut self, run: &NetworkRun<'_>, belongs: impl Fn(&MessageRecord) -> bool) {
        let sent = run.sent_in(self.from, self.until);
        self.core
            .extend(sent.filter(|(_, message)| belongs(message)).map(|(place, _)| place));
    }

    /// Lets messages stand out, and the nodes that sent them have their tone.
    pub fn stand_out(&mut self, run: &NetworkRun<'_>, places: &[usize], tone: DiagramTone) {
        for &place in places {
            self.key.insert(place, tone);
            let sender = run.node(&run.messages[place].from);
            self.nodes.extend(sender.map(|node| (node, tone)));
        }
    }
}
