//! A virtual network for schedules of faults.

use super::super::{FleConfig, FleDisk, FleMessage, FleNotification, FleOutput, FleServer, FleTimer};
use super::judge::AnnouncementJudge;
use crate::consensus::protocol::{Input, InputOf, Node, NodeSet, Output, Protocol};
use std::collections::BTreeMap;

pub const SECOND: u64 = 1_000_000;

enum ScheduledEvent {
    Delivery { from: Node, to: Node, message: FleMessage },
    Expiry { node: Node, timer: FleTimer, set: u64 },
    Restart(Node),
    Kill(Node, u64),
    Pause(Node, u64),
    Resume(Node),
    Cut(NodeSet),
}

#[derive(Default)]
struct PlayedNode {
    server: Option<FleServer>,
    disk: Option<FleDisk>,
    timers: Vec<(FleTimer, u64)>,
    paused: bool,
    waiting: Vec<InputOf<FleServer>>,
}

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
pub struct FleSchedule {
    config: FleConfig,
    rng: fastrand::Rng,
    disturbances: Disturbances,
    now: u64,
    serial: u64,
    events: BTreeMap<(u64, u64), ScheduledEvent>,
    nodes: Vec<PlayedNode>,
    cut: NodeSet,
    pub judge: AnnouncementJudge,
    /// Each vote that was cast by a look, by its caster, without repetitions.
    pub votes: Vec<(Node, FleNotification)>,
    pub steps: u64,
}

impl FleSchedule {
    pub fn new(config: FleConfig, seed: u64, disturbances: Disturbances) -> Self {
        let count = config.servers + config.observers;
        let mut schedule = Self {
            config,
            rng: fastrand::Rng::with_seed(seed),
            disturbances,
            now: 0,
            serial: 0,
            events: BTreeMap::new(),
            nodes: (0..count).map(|_| PlayedNode::default()).collect(),
            cut: NodeSet::EMPTY,
            judge: AnnouncementJudge::new(config.servers),
            votes: Vec::new(),
            steps: 0,
        };
        for node in 0..count {
            schedule.nodes[usize::from(node)].disk = Some(FleServer::new_disk(&config, node));
            let at = schedule.rng.u64(0..=disturbances.until.min(20_000));
            schedule.at(at, ScheduledEvent::Restart(node));
        }
        for _ in 0..disturbances.faults {
            schedule.plan_fault(count);
        }
        schedule
    }

    fn plan_fault(&mut self, count: Node) {
        let at = self.rng.u64(0..self.disturbances.until);
        let until = at + self.rng.u64(10_000..1_500_000);
        let node = self.rng.u8(0..count);
        match self.rng.u8(0..3) {
            0 => self.at(at, ScheduledEvent::Kill(node, until)),
            1 => self.at(at, ScheduledEvent::Pause(node, until)),
            _ => {
                let side = NodeSet(self.rng.u32(..) & ((1 << count) - 1));
                self.at(at, ScheduledEvent::Cut(side));
                self.at(until, ScheduledEvent::Cut(NodeSet::EMPTY));
            }
        }
    }

    fn at(&mut self, at: u64, event: ScheduledEvent) {
        self.serial += 1;
        self.events.insert((at, self.serial), event);
    }

    fn disturbed(&mut self, thousandths: u32) -> bool {
        thousandths > 0 && self.now < self.disturbances.until && self.rng.u32(0..1000) < thousandths
    }

    /// Plays until a time, or until it is quiet, a leader is established after the faults.
    pub fn play(&mut self, until: u64, stop_when_established: bool) -> Option<u64> {
        while let Some(entry) = self.events.first_entry() {
            let at = entry.key().0;
            if at > until {
                break;
            }
            self.now = at;
            let event = entry.remove();
            self.happen(event);
            let healed = self.now > self.disturbances.until + 1_600_000;
            if stop_when_established && healed && self.judge.established().is_some() {
                return Some(self.now);
            }
        }
        self.judge.established().map(|_| self.now)
    }

    fn happen(&mut self, event: ScheduledEvent) {
        match event {
            ScheduledEvent::Delivery { from, to, message } => self.input(to, Input::Receive { from, message }),
            ScheduledEvent::Expiry { node, timer, set } => {
                let timers = &mut self.nodes[usize::from(node)].timers;
                if let Some(place) = timers.iter().position(|&(_, number)| number == set) {
                    timers.swap_remove(place);
                    self.input(node, Input::Timer(timer));
                }
            }
            ScheduledEvent::Restart(node) => {
                let place = &mut self.nodes[usize::from(node)];
                if place.server.is_none() {
                    let disk = place.disk.expect("every node has a disk");
                    place.server = Some(FleServer::boot(&self.config, node, &disk));
                    self.input(node, Input::Start);
                }
            }
            ScheduledEvent::Kill(node, until) => self.kill(node, until),
            ScheduledEvent::Pause(node, until) => self.pause(node, until),
            ScheduledEvent::Resume(node) => {
                self.nodes[usize::from(node)].paused = false;
                for input in std::mem::take(&mut self.nodes[usize::from(node)].waiting) {
                    self.input(node, input);
                }
            }
            ScheduledEvent::Cut(side) => self.cut = side,
        }
    }

    pub fn kill(&mut self, node: Node, restart: u64) {
        let place = &mut self.nodes[usize::from(node)];
        if place.server.take().is_some() {
            place.timers.clear();
            place.waiting.clear();
            self.judge.crashed(node);
            self.at(restart, ScheduledEvent::Restart(node));
        }
    }

    pub fn pause(&mut self, node: Node, until: u64) {
        self.nodes[usize::from(node)].paused = true;
        self.at(until, ScheduledEvent::Resume(node));
    }

    fn input(&mut self, node: Node, input: InputOf<FleServer>) {
        let place = &mut self.nodes[usize::from(node)];
        let Some(server) = &mut place.server else {
            return;
        };
        if place.paused {
            place.waiting.push(input);
            return;
        }
        self.steps += 1;
        let outputs = server.step(input);
        let crash = self.disturbances.crash;
        let crashes = !outputs.is_empty() && self.disturbed(crash);
        let done = if crashes {
            self.rng.usize(0..outputs.len())
        } else {
            outputs.len()
        };
        for output in outputs.into_iter().take(done) {
            self.output(node, output);
        }
        if crashes {
            let restart = self.now + self.rng.u64(1_000..500_000);
            self.kill(node, restart);
        }
    }

    fn output(&mut self, node: Node, output: FleOutput) {
        let timers = &mut self.nodes[usize::from(node)].timers;
        match output {
            Output::Send { to, message } => self.send(node, to, message),
            Output::SetTimer(timer) => {
                timers.retain(|set| set.0 != timer);
                timers.push((timer, self.serial + 1));
                let (after, set) = (self.rng.u32(FleServer::duration(timer)), self.serial + 1);
                self.at(self.now + u64::from(after), ScheduledEvent::Expiry { node, timer, set });
            }
            Output::CancelTimer(timer) => timers.retain(|set| set.0 != timer),
            Output::Write(disk) => self.nodes[usize::from(node)].disk = Some(disk),
            Output::Announce(announcement) => self.judge.take(self.now, node, announcement),
        }
    }

    fn send(&mut self, from: Node, to: Node, message: FleMessage) {
        assert_ne!(from, to);
        let Disturbances {
            loss,
            duplication,
            lateness,
            ..
        } = self.disturbances;
        if let FleMessage::Vote(vote) = message
            && !self.votes.contains(&(from, vote))
        {
            self.votes.push((from, vote));
        }
        let copies = 1 + u8::from(self.disturbed(duplication));
        for _ in 0..copies {
            let late = self.disturbed(lateness);
            let longest = if late { 1_600_000 } else { 10_000 };
            let cut = self.cut.contains(from) != self.cut.contains(to);
            if !cut && !self.disturbed(loss) {
                let at = self.now + self.rng.u64(1_000..longest);
                self.at(at, ScheduledEvent::Delivery { from, to, message });
            }
        }
    }
}
