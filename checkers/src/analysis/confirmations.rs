//! What a client has confirmed by a quorum write, and may read after it.

use super::{NamedClients, Ops};
use std::collections::HashMap;
use zooquake_history::operation::control::f;
use zooquake_history::{Event, EventType};

/// The `confirm` requests that were answered `ok`, by client.
#[derive(Debug, Default)]
pub struct Confirms<'a> {
    /// Of each where it was answered and where it was sent, in the order of the answers.
    by_client: HashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Confirms<'a> {
    pub fn new(events: &[Event], ops: &Ops<'a>) -> Self {
        let mut by_client: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for op in ops.control.iter().filter(|op| op.f == f::CONFIRM) {
            if let (Some(asked), Some(end)) = (op.sent(), op.end)
                && events[end].kind == EventType::Ok
            {
                by_client.entry(op.node).or_default().push((end, asked));
            }
        }
        by_client.values_mut().for_each(|all| all.sort_unstable());
        Self { by_client }
    }

    /// Where the last `confirm` of a client was sent and answered before the client was `sent` a request. `None` if
    /// there is none, or if the client may have had another session by the event `read`: what it reads in one session
    /// shows all that had been acknowledged before its `confirm` was sent.
    pub fn before(&self, clients: &NamedClients<'_>, node: &str, sent: usize, read: usize) -> Option<(usize, usize)> {
        let all = self.by_client.get(node)?;
        let (confirmed, asked) = all[all.partition_point(|&(confirmed, _)| confirmed < sent).checked_sub(1)?];
        clients.one_session(node, asked, read).then_some((asked, confirmed))
    }
}
