//! What clients declared that they cannot do or report.

use crate::analysis::ops;
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, protocol::ClientLimit};

/// What each client declared in the `hello` of one of its processes: a program that cannot report something never can.
#[derive(Debug, Default)]
pub struct ClientLimits<'a>(BTreeSet<(&'a str, ClientLimit)>);

impl<'a> ClientLimits<'a> {
    pub(crate) fn new(events: &'a [Event]) -> Self {
        let words = events
            .iter()
            .filter(|event| event.f == "hello" && event.kind == EventType::Info)
            .filter_map(|event| Some((ops::named_client(event)?, event.cannot()?)));
        let each = words.flat_map(|(node, words)| {
            let known = words.iter().filter_map(|word| ClientLimit::from_word(word.as_str()?));
            known.map(move |cannot| (node, cannot))
        });
        Self(each.collect())
    }

    /// Whether a client declared it.
    pub fn cannot(&self, node: &str, what: ClientLimit) -> bool {
        self.0.contains(&(node, what))
    }

    /// Whether some client declared it.
    pub fn any(&self, what: ClientLimit) -> bool {
        self.0.iter().any(|&(_, cannot)| cannot == what)
    }
}
