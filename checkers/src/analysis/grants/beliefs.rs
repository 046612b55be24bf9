//! What clients believe of their grants: which answers to `confirm` convict.
//!
//! An answer `"holds":true` to a request sent at S convicts if S comes after all grants concerned were read, and before
//! the client's own release was sent; when it is answered does not matter, nor when others release. Let S be the
//! earliest of such sendings, one of each client. Then all of them held at S:
//!
//! - Each client had its grant at S, as that was read before. It looked at its belief after its own request was sent,
//!   so not before S, and believed in this grant still. Belief in a grant ends once, so it believed at S.
//! - Before it looked it wrote in the session that the grant rests on, to a request sent not before S. So that session
//!   lived at S, and had not been replaced.
//! - Its own release was sent later than its own `confirm`, so not before S: nothing had asked it to give the grant
//!   back.
//!
//! The argument needs the premise that belief ends once. A client whose stream has a denial before the answer breaks
//! it: a `lost` or a `not-held` of that grant, or `"holds":false` to a request sent after the grant was read. One
//! client's lines are read in the order in which they were written, so that is certain. So does a process that holds by
//! a grant of an earlier process of its client: a grant dies with the process that was given it. Such an answer
//! convicts nobody, and is a reason against `valid`. What the client confirmed before the denial stands.
//!
//! Which request an answer belongs to is not always certain. An answer pairs with the oldest open `confirm`; it may be
//! that to a later one, so it counts only if no `confirm` was sent between the release and it. Where the request of a
//! release is not in the history the release may have been sent before every `confirm`.

use super::Grant;
use std::collections::HashMap;

/// What denies that a client holds by a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// At this event its client reported that it no longer holds: `lost`, `not-held` or `"holds":false`.
    Words(usize),
    /// At this event the process ended that was given the grant.
    Exit(usize),
    /// At this event its client reported the same, but it is not certain of which grant.
    Perhaps(usize),
}

/// The denials until an event, and the last `confirm` of each client. Positions are those of events.
#[derive(Debug, Default)]
pub struct Beliefs<'a> {
    /// By grant: the first.
    by_grant: HashMap<usize, usize>,
    /// By client: where its process ended last.
    exits: HashMap<&'a str, usize>,
    /// By client: the last sending of a `confirm` that it answered with `"holds":false`, and that answer.
    disclaimers: HashMap<&'a str, (usize, usize)>,
    /// By client: the last denial of which the grant is not certain.
    uncertain: HashMap<&'a str, usize>,
    /// By client: where it was sent a `confirm` last.
    asked: HashMap<&'a str, usize>,
}

impl<'a> Beliefs<'a> {
    /// Records that the client of this grant reported that it no longer holds.
    pub fn denied(&mut self, grant: usize, at: usize) {
        self.by_grant.entry(grant).or_insert(at);
    }

    /// Records that a client reported the same for a grant that is not identified.
    pub fn denied_any(&mut self, node: &'a str, at: usize) {
        self.uncertain.insert(node, at);
    }

    /// Records that a client's process ended.
    pub fn exited(&mut self, node: &'a str, at: usize) {
        self.exits.insert(node, at);
    }

    /// A client was sent a `confirm`.
    pub fn asked(&mut self, node: &'a str, at: usize) {
        self.asked.insert(node, at);
    }

    /// A client answered a `confirm` with `"holds":false`; `sent` is where that was sent, if it is certain.
    pub fn disclaimed(&mut self, node: &'a str, at: usize, sent: Option<usize>) {
        match sent {
            Some(sent) if self.disclaimers.get(node).is_none_or(|&(last, _)| last < sent) => {
                self.disclaimers.insert(node, (sent, at));
            }
            Some(_) => {}
            None => self.denied_any(node, at),
        }
    }

    /// Whether a client was sent a `confirm` after an event.
    pub fn asked_after(&self, node: &str, event: usize) -> bool {
        self.asked.get(node).is_some_and(|&asked| asked > event)
    }

    /// What denies until now that a grant is held.
    pub fn denial(&self, number: usize, grant: &Grant<'_>) -> Option<Denial> {
        if let Some(&at) = self.by_grant.get(&number) {
            return Some(Denial::Words(at));
        }
        let read = grant.read?;
        let exit = self.exits.get(grant.node).filter(|&&at| at > read);
        let disclaimer = self.disclaimers.get(grant.node).filter(|(sent, _)| *sent > read);
        let uncertain = self.uncertain.get(grant.node).filter(|&&at| at > read);
        exit.map(|&at| Denial::Exit(at))
            .or(disclaimer.map(|&(_, at)| Denial::Words(at)))
            .or(uncertain.map(|&at| Denial::Perhaps(at)))
    }
}
