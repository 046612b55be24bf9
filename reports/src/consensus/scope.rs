//! The part of a run that a diagram shows, and which of its messages are drawn if there are too many of them.

use super::leaders::ROUTINE;
use super::network_run::{NetworkRun, arrived};
use crate::messages::DiagramTone;
use std::collections::{BTreeSet, HashMap, HashSet};
use zooquake_history::{Event, MessageRecord};

/// The most messages that are drawn of a run without an anomaly.
pub const CALM: usize = 60;
/// Up to how many messages there are in all others than those of the core are drawn too.
const OTHERS: usize = 40;
/// The same of those that repeat others, or only show that somebody is there.
const ROUTINES: usize = 14;

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
    /// What the violation comes from, as a sentence; `None` where the messages do not show it.
    pub cause: Option<String>,
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

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MessageRank {
    /// It only shows that somebody is there, was neither received nor lost, and repeats another one.
    Futile,
    /// It only shows that somebody is there.
    Routine,
    /// It repeats another one.
    Repeated,
    /// It belongs to something else.
    Other,
    /// It would belong to the core, and was lost.
    Lost,
    /// It belongs to the core.
    Core,
    /// It stands out.
    Key,
}

/// The places of the messages that are drawn, in order.
pub fn choose(run: &NetworkRun<'_>, scope: &DiagramScope) -> Vec<usize> {
    let ranked = ranks(run, scope);
    // The latest first, since they lead to the end; or by turns the latest and the earliest.
    let (count, edges) = (ranked.len(), scope.edges);
    let turn = |nth: usize| match edges {
        true => (count - 1 - nth).min(2 * nth),
        false => count - 1 - nth,
    };
    let mut order: Vec<(usize, (usize, MessageRank))> = ranked.into_iter().enumerate().collect();
    order.sort_by_key(|(nth, (_, rank))| (std::cmp::Reverse(*rank), turn(*nth)));
    let all_fit = count <= OTHERS;
    let mut chosen: Vec<usize> = Vec::new();
    for (_, (place, rank)) in order {
        let most = match rank {
            MessageRank::Futile => 0,
            _ if all_fit || edges => scope.most,
            MessageRank::Key | MessageRank::Core => scope.most,
            MessageRank::Lost | MessageRank::Other => OTHERS.min(scope.most),
            MessageRank::Repeated | MessageRank::Routine => ROUTINES.min(scope.most),
        };
        if chosen.len() < most {
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// What two messages have alike of which one is enough: sender, receiver, kind, detail, round, and whether it arrived.
type MessageLikeness<'a> = (&'a str, &'a str, &'a str, &'a str, Option<u32>, bool);

/// The messages of a part in order, each with its rank.
fn ranks(run: &NetworkRun<'_>, scope: &DiagramScope) -> Vec<(usize, MessageRank)> {
    let mut known: HashSet<MessageLikeness<'_>> = HashSet::new();
    let rank = |place: usize, message: &MessageRecord| {
        if scope.key.contains_key(&place) {
            return MessageRank::Key;
        }
        match (scope.core.contains(&place), ROUTINE.contains(&message.kind.as_str())) {
            (true, _) => MessageRank::Core,
            (false, true) => MessageRank::Routine,
            (false, false) => MessageRank::Other,
        }
    };
    let mut ranked = Vec::new();
    for (place, message) in scope.messages(run) {
        let arrived = arrived(message, scope.until);
        let same = (
            message.from.as_str(),
            message.to.as_str(),
            message.kind.as_str(),
            message.detail.as_str(),
            message.round,
            arrived,
        );
        let first = known.insert(same);
        let rank = match rank(place, message) {
            MessageRank::Core | MessageRank::Other if !first => MessageRank::Repeated,
            MessageRank::Core if !arrived => MessageRank::Lost,
            MessageRank::Routine if !first && !arrived && message.lost.is_none() => MessageRank::Futile,
            rank => rank,
        };
        ranked.push((place, rank));
    }
    ranked
}
