//! Schedules of faults of an ensemble, and what must hold of the announcements of each.

use super::super::{FleConfig, FleMessage, FleNotification, FleOutput, FleServer};
use crate::consensus::protocol::{Node, NodeSet};
use crate::consensus::test_network::{NetworkEvent, Surroundings, TestNetwork};
use zooquake_history::operation::consensus::Announcement;

pub const SECOND: u64 = 1_000_000;

/// How bad the network is, in thousandths.
#[derive(Clone, Copy, Default)]
pub struct Disturbances {
    pub loss: u32,
    pub duplication: u32,
    pub lateness: u32,
    /// Of steps, after some of whose outputs the server crashes.
    pub crash: u32,
    /// Number of kills, pauses and partitions.
    pub faults: u32,
    pub until: u64,
}

/// A run of an ensemble.
pub type FleSchedule = TestNetwork<FleServer, DisturbedLinks>;

/// What disturbs a run, and what is seen of it.
pub struct DisturbedLinks {
    disturbances: Disturbances,
    pub judge: AnnouncementJudge,
    /// Each vote that was cast by a look, by its caster, without repetitions.
    pub votes: Vec<(Node, FleNotification)>,
    pub steps: u64,
}

impl FleSchedule {
    pub fn new(config: FleConfig, seed: u64, disturbances: Disturbances) -> Self {
        let surroundings = DisturbedLinks {
            disturbances,
            judge: AnnouncementJudge::new(config.servers),
            votes: Vec::new(),
            steps: 0,
        };
        let mut schedule = Self::in_surroundings(surroundings, config, disturbances.until, seed);
        for node in 0..schedule.nodes() {
            let at = schedule.random.u64(0..=disturbances.until.min(20_000));
            schedule.schedule(at, NetworkEvent::Restart(node));
        }
        for _ in 0..disturbances.faults {
            schedule.plan_fault();
        }
        schedule
    }

    fn plan_fault(&mut self) {
        let at = self.random.u64(0..self.faulty);
        let long = self.random.u64(10_000..1_500_000);
        let node = self.random.u8(0..self.nodes());
        match self.random.u8(0..3) {
            0 => self.kill(at, node, long),
            1 => self.schedule(at, NetworkEvent::Pause { node, long }),
            _ => {
                let side = NodeSet(self.random.u32(..) & ((1 << self.nodes()) - 1));
                self.schedule(at, NetworkEvent::Cut(side));
                self.schedule(at + long, NetworkEvent::Cut(NodeSet::EMPTY));
            }
        }
    }

    fn disturbed(&mut self, thousandths: u32) -> bool {
        thousandths > 0 && self.is_faulty() && self.random.u32(0..1000) < thousandths
    }

    /// Plays until a leader is established after the faults, to a moment at most; when that was, if there is one.
    pub fn play_to_leader(&mut self, until: u64) -> Option<u64> {
        while self.next(until) {
            let healed = self.now > self.faulty + 1_600_000;
            if healed && self.judge.established().is_some() {
                break;
            }
        }
        self.judge.established().map(|_| self.now)
    }
}

impl Surroundings<FleServer> for DisturbedLinks {
    fn send(network: &mut FleSchedule, from: Node, to: Node, message: FleMessage) {
        let Disturbances {
            loss,
            duplication,
            lateness,
            ..
        } = network.disturbances;
        if let FleMessage::Vote(vote) = message
            && !network.votes.contains(&(from, vote))
        {
            network.votes.push((from, vote));
        }
        let copies = 1 + u8::from(network.disturbed(duplication));
        for _ in 0..copies {
            let late = network.disturbed(lateness);
            let longest = if late { 1_600_000 } else { 10_000 };
            let cut = network.cut.contains(from) != network.cut.contains(to);
            if !cut && !network.disturbed(loss) {
                let at = network.now + network.random.u64(1_000..longest);
                network.schedule(at, NetworkEvent::Message { from, to, message });
            }
        }
    }

    fn announced(network: &mut FleSchedule, node: Node, announcement: Announcement) {
        let now = network.now;
        network.judge.take(now, node, announcement);
    }

    fn died(network: &mut FleSchedule, node: Node) {
        network.judge.crashed(node);
    }

    fn carry_out(network: &mut FleSchedule, node: Node, outputs: Vec<FleOutput>) {
        network.steps += 1;
        let crash = network.disturbances.crash;
        let crashes = !outputs.is_empty() && network.disturbed(crash);
        let done = if crashes {
            network.random.usize(0..outputs.len())
        } else {
            outputs.len()
        };
        for output in outputs.into_iter().take(done) {
            network.output(node, output);
        }
        if crashes {
            let down = network.random.u64(1_000..500_000);
            network.die(node, down);
        }
    }
}

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
