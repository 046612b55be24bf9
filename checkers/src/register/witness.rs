//! The events that prove what a contradiction rests on, and their description in words.

use super::accesses::{Access, AccessMoment, Action, BEGINNING, RegisterValue};
use crate::analysis::Analysis;
use zooquake_linearizability::unique::RegisterAccess as _;
use zooquake_linearizability::unique::clusters::Clusters;
use zooquake_linearizability::unique::order::{Block, Pair};

/// Tells of contradictions between accesses.
#[derive(Debug, Clone, Copy)]
pub struct ContradictionWriter<'r, 'a> {
    pub run: &'r Analysis<'a>,
    /// Its accesses, by value.
    pub clusters: &'r Clusters<'r, Access<'a>>,
}

impl ContradictionWriter<'_, '_> {
    /// The events that prove that an access was over, and what it did.
    pub fn over(&self, access: usize) -> Vec<usize> {
        let Access {
            end, invoke, repeats, ..
        } = self.clusters.accesses[access];
        let asked = invoke.filter(|_| end.is_some() && !repeats);
        end.into_iter().chain(asked).collect()
    }

    /// The events that prove what an access did that is known to have happened, whenever.
    pub fn link(&self, access: usize) -> Vec<usize> {
        match self.clusters.accesses[access].certain() {
            true => self.over(access),
            false => self.clusters.accesses[access].invoke.into_iter().collect(),
        }
    }

    /// The events that prove that an access happened.
    pub fn happened(&self, access: usize) -> Vec<usize> {
        let mut events = self.link(access);
        if !self.clusters.accesses[access].certain() {
            let proof = self.clusters.proof(&[self.clusters.left_by(access)]);
            events.extend(proof.into_iter().flat_map(|access| self.link(access)));
        }
        events
    }

    /// The events that prove that an access happened, and not before it was sent; `proved` if others prove the former.
    fn sent(&self, access: usize, proved: bool) -> Vec<usize> {
        let Access {
            action,
            invoke,
            own,
            asks,
            ..
        } = self.clusters.accesses[access];
        let mut events: Vec<usize> = invoke.into_iter().collect();
        events.extend(own.into_iter().flat_map(|(sent, acknowledged)| [sent, acknowledged]));
        if matches!(action, Action::Read(_)) || !asks || !proved {
            events.extend(self.happened(access));
        }
        events
    }

    /// The events that prove a pair of a block, `sent` not before `first`.
    pub fn pair(&self, block: &Block, Pair { over, sent }: Pair, first: AccessMoment) -> Vec<usize> {
        let mut events = self.over(over.1);
        if over == sent {
            if first > BEGINNING {
                events.extend(self.sent(sent.1, true));
            }
            return events;
        }
        // What is found later in the block proves the writes before.
        events.extend(self.sent(sent.1, over.0 > sent.0));
        let (low, high) = (over.0.min(sent.0) / 2, over.0.max(sent.0) / 2);
        let links = block.clusters[low..=high].iter().skip(1);
        events.extend(
            links
                .flat_map(|&cluster| self.clusters.all[cluster].writer.map(|set| self.link(set)))
                .flatten(),
        );
        events
    }

    /// An access: `the write of 3 by c2`.
    pub fn name(&self, access: usize) -> String {
        let Access {
            node, action, server, ..
        } = self.clusters.accesses[access];
        let of = match server {
            Some(server) => format!("by {node} through {server}"),
            None => format!("by {node}"),
        };
        match action {
            Action::Begin => "the creation of the register".to_owned(),
            Action::Read(value) if node.is_empty() => {
                format!("the reading of the znode tree that found {}", show(value))
            }
            Action::Read(value) => format!("the read of {} {of}", show(value)),
            Action::Write(to) => format!("the write of {to} {of}"),
            Action::Cas { from, to } => format!("the compare-and-set from {} to {to} {of}", show(from)),
        }
    }

    /// That one access was over when another was sent.
    pub fn before(&self, over: usize, sent: usize) -> String {
        let Access { own, node, .. } = self.clusters.accesses[sent];
        let (one, other) = (self.name(over), self.name(sent));
        if self.clusters.accesses[over].action == Action::Begin {
            return format!("nil was there at first, before {other}");
        }
        let ended = match self.clusters.accesses[over].end {
            Some(end) => format!("{one} was answered at {}", self.run.at(end)),
            None if self.clusters.accesses[over].of_tree() => format!("{one} was done"),
            None => one,
        };
        match (own, self.clusters.accesses[sent].invoke) {
            (Some((write, _)), _) => format!(
                "{ended}, before the last write was sent at {} that the session of {other} had had acknowledged by then, \
                 since which {node} can have been shown any state but none from before",
                self.run.at(write)
            ),
            (None, Some(invoke)) => format!("{ended}, before {other} was sent at {}", self.run.at(invoke)),
            (None, None) => format!("{ended}, before {other} was begun"),
        }
    }
}

/// A value as people write it.
pub fn show(value: RegisterValue) -> String {
    value.map_or("nil".to_owned(), |value| value.to_string())
}
