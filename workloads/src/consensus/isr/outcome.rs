//! What tests judge of a run.

use super::super::protocol::Node;
use super::super::zen::virtual_network::PublicEvent;
use std::collections::BTreeSet;
use zooquake_history::operation::consensus::Announcement;

/// What a record comes to.
pub struct LogOutcome {
    /// Messages that producers have an acknowledgement of.
    pub answered: BTreeSet<u32>,
    /// The leader of the highest epoch.
    pub leader: Option<Node>,
    /// The values in its log, by what was made public.
    pub log: Vec<Option<u32>>,
    /// Whether every other replica follows it in its epoch.
    pub followed: bool,
}

impl LogOutcome {
    pub fn read(record: &[PublicEvent], replicas: Node) -> Self {
        let mut answered = BTreeSet::new();
        let mut logs = vec![Vec::new(); replicas.into()];
        let mut last = vec![None; replicas.into()];
        let (mut epoch, mut leader) = (0, None);
        for &(_, node, event) in record {
            match event {
                Some(Announcement::Answered { value }) => drop(answered.insert(value)),
                Some(Announcement::Stored { offset, value, .. }) => {
                    let (log, offset) = (&mut logs[usize::from(node)], offset as usize);
                    log.resize(log.len().max(offset + 1), None);
                    log[offset] = Some(value);
                }
                Some(Announcement::Truncated { offset }) => logs[usize::from(node)].truncate(offset as usize),
                Some(Announcement::Leading { round }) if round > epoch => (epoch, leader) = (round, Some(node)),
                Some(Announcement::Leading { round }) => assert!(round < epoch, "{round} has one leader process"),
                _ => {}
            }
            let standing = matches!(
                event,
                Some(Announcement::Stored { .. } | Announcement::Truncated { .. })
            );
            if node < replicas && !standing {
                last[usize::from(node)] = event;
            }
        }
        let follows = |node: Node| match last[usize::from(node)] {
            Some(Announcement::Leading { round }) => Some(node) == leader && round == epoch,
            Some(Announcement::Following { leader: other, round }) => Some(other) == leader && round == epoch,
            _ => false,
        };
        let log = leader
            .map(|leader| logs[usize::from(leader)].clone())
            .unwrap_or_default();
        Self {
            answered,
            leader,
            log,
            followed: (0..replicas).all(follows),
        }
    }

    /// Acknowledged messages that are not in the last leader's log.
    pub fn lost(&self) -> Vec<u32> {
        self.answered
            .iter()
            .copied()
            .filter(|&value| !self.log.contains(&Some(value)))
            .collect()
    }
}
