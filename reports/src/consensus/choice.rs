//! Which messages of a part are drawn, if there are too many of them.

use super::leaders::ROUTINE;
use super::network_run::{NetworkRun, arrived};
use super::scope::DiagramScope;
use std::collections::HashSet;
use zooquake_history::MessageRecord;

/// Up to how many messages there are in all others than those of the core are drawn too.
const OTHERS: usize = 40;
/// The same of those that repeat others, or only show that somebody is there.
const ROUTINES: usize = 14;

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
