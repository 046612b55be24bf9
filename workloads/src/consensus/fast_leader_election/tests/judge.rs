//! What must hold of the announcements of a run.

use crate::consensus::protocol::{Node, NodeSet};
use zooquake_history::operation::consensus::Announcement;

type Credentials = (u32, u32, Node);

/// The announcements of a run, and what is wrong with them.
#[derive(Default)]
pub struct AnnouncementJudge {
    voters: Node,
    /// Microseconds, node, announcement.
    pub announced: Vec<(u64, Node, Announcement)>,
    credentials: [Credentials; 12],
    /// By node the rounds in which it looked, each with the lowest credentials with which it did.
    looks: [Vec<(u32, Credentials)>; 12],
    /// By node the leader and epoch that it serves under.
    pub serving: [Option<(Node, u32)>; 12],
    led: Vec<(Node, u32)>,
    /// A voter's credentials were higher than the winner's in every look of the round.
    pub lesser_votes: usize,
    /// A voter's credentials are higher than the winner's when that announces its election.
    pub lesser_now: usize,
    /// Two servers led one epoch.
    pub shared_epochs: usize,
    /// A server followed one that did not lead.
    pub unfounded: usize,
}

impl AnnouncementJudge {
    pub fn new(voters: Node) -> Self {
        Self {
            voters,
            ..Self::default()
        }
    }

    pub fn take(&mut self, now: u64, node: Node, announcement: Announcement) {
        self.announced.push((now, node, announcement));
        let at = usize::from(node);
        match announcement {
            Announcement::Credentials { epoch, zxid } => self.credentials[at] = (epoch, zxid, node),
            Announcement::Looking { round } => {
                self.serving[at] = None;
                let credentials = self.credentials[at];
                match self.looks[at].iter_mut().find(|look| look.0 == round) {
                    Some(look) => look.1 = look.1.min(credentials),
                    None => self.looks[at].push((round, credentials)),
                }
            }
            Announcement::Elected { round, voters } => self.elected(node, round, NodeSet(voters)),
            Announcement::Leading { round } => {
                self.serving[at] = Some((node, round));
                if self.led.iter().any(|&(other, epoch)| other != node && epoch == round) {
                    self.shared_epochs += 1;
                }
                self.led.push((node, round));
            }
            Announcement::Following { leader, round } => {
                self.serving[at] = Some((leader, round));
                if !self.led.contains(&(leader, round)) {
                    self.unfounded += 1;
                }
            }
            Announcement::Resigned { round } => {
                assert_eq!(self.serving[at].map(|serving| serving.1), Some(round));
                self.serving[at] = None;
            }
            other => panic!("no server announces {other:?}"),
        }
    }

    fn elected(&mut self, winner: Node, round: u32, voters: NodeSet) {
        let won = self.credentials[usize::from(winner)];
        assert!(voters.contains(winner));
        for voter in voters.iter().map(usize::from) {
            assert!(voter < usize::from(self.voters), "an observer is counted");
            let look = self.looks[voter].iter().find(|look| look.0 == round);
            let (_, lowest) = *look.expect("who votes in a round looks in it");
            self.lesser_votes += usize::from(lowest > won);
            self.lesser_now += usize::from(self.credentials[voter] > won);
        }
    }

    pub fn crashed(&mut self, node: Node) {
        self.serving[usize::from(node)] = None;
    }

    /// The leader that a majority of voters serves under, itself among them.
    pub fn established(&self) -> Option<Node> {
        let majority = |leader: Node, epoch: u32| {
            let under = |serving: &&Option<(Node, u32)>| **serving == Some((leader, epoch));
            self.serving.iter().take(usize::from(self.voters)).filter(under).count() * 2 > usize::from(self.voters)
        };
        (0..self.voters).find(|&leader| {
            self.serving[usize::from(leader)].is_some_and(|(of, epoch)| of == leader && majority(leader, epoch))
        })
    }

    /// Who was elected, in order.
    pub fn winners(&self) -> Vec<Node> {
        let won = self
            .announced
            .iter()
            .filter(|(.., what)| matches!(what, Announcement::Elected { .. }));
        won.map(|&(_, node, _)| node).collect()
    }
}
