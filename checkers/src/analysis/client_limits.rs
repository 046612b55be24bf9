//! What clients declared that they cannot do or report, and what they were seen not to.

use super::announcements::announced_answers;
use super::{Ops, ops};
use std::collections::BTreeSet;
use zooquake_history::operation::{control::notice, queue};
use zooquake_history::{Event, EventType, plan::Workload, protocol::ClientLimit};

/// What each client declared in the `hello` of one of its processes: a program that cannot report something never can.
#[derive(Debug, Default)]
pub struct ClientLimits<'a> {
    declared: BTreeSet<(&'a str, ClientLimit)>,
    nameless: NamelessClients<'a>,
}

/// The clients of a user's own recipe that do not name the items of a queue that they take.
#[derive(Debug, Default)]
enum NamelessClients<'a> {
    #[default]
    None,
    /// Those that were answered with an item which they had not named.
    Some(BTreeSet<&'a str>),
    /// All: not one of the run ever named an item.
    All,
}

impl<'a> ClientLimits<'a> {
    pub(crate) fn new(events: &'a [Event], ops: &Ops<'a>, workload: &Workload) -> Self {
        let words = events
            .iter()
            .filter(|event| event.f == "hello" && event.kind == EventType::Info)
            .filter_map(|event| Some((ops::named_client(event)?, event.cannot()?)));
        let each = words.flat_map(|(node, words)| {
            let known = words.iter().filter_map(|word| ClientLimit::from_word(word.as_str()?));
            known.map(move |cannot| (node, cannot))
        });
        let own = workload.recipe.is_some() && workload.family == queue::FAMILY.name;
        Self {
            declared: each.collect(),
            nameless: if own {
                NamelessClients::new(events, ops)
            } else {
                NamelessClients::None
            },
        }
    }

    /// Whether a client declared it.
    pub fn cannot(&self, node: &str, what: ClientLimit) -> bool {
        self.declared.contains(&(node, what))
    }

    /// Whether some client declared it.
    pub fn any(&self, what: ClientLimit) -> bool {
        self.declared.iter().any(|&(_, cannot)| cannot == what)
    }

    /// Whether a client does not name the items that it takes, so that a dequeue of it whose end is unknown may have
    /// taken any: it declared that, or was answered with one that it had not named, or no client of the run, which all
    /// are one program, ever named one. The latter two are of users' own recipes.
    pub fn is_nameless(&self, node: &str) -> bool {
        let seen = match &self.nameless {
            NamelessClients::None => false,
            NamelessClients::Some(nodes) => nodes.contains(node),
            NamelessClients::All => true,
        };
        seen || self.cannot(node, ClientLimit::Taking)
    }
}

impl<'a> NamelessClients<'a> {
    fn new(events: &'a [Event], ops: &Ops<'a>) -> Self {
        let named = |event: &Event| event.f == notice::TAKING && ops::named_client(event).is_some();
        if !events.iter().any(named) {
            return Self::All;
        }
        let answers = announced_answers(events, ops, &queue::TAKING).into_iter();
        Self::Some(answers.filter(|&(.., named)| !named).map(|(node, ..)| node).collect())
    }
}
