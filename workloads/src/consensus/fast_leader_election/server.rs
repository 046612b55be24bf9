//! A server of an ensemble: it looks for a leader, and then leads or follows until that fails.

use super::{FastLeaderElection, FleNotification, FleState, MAX_VOTERS};
use crate::consensus::discovery::{DiscoveryMessage, FollowerDiscovery, LeaderDiscovery};
use crate::consensus::protocol::{Input, InputOf, MessageFigure, Node, NodeRole, NodeSet, Output, OutputOf, Protocol};
use std::ops::Range;
use zooquake_history::operation::consensus::Announcement;

/// What a server does.
pub type FleOutput = OutputOf<FleServer>;

/// A rule of the election that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FleBug {
    None,
    /// Votes are compared without their epochs, where `totalOrderPredicate` has "new epoch is higher" before all else:
    /// a server of a lower epoch with a higher zxid wins over one of a higher epoch.
    IgnoresEpoch,
}

/// When the process of a server begins to take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerLaunch {
    /// As soon as its node starts.
    AtOnce,
    /// This number of seconds after each start of its node.
    After(u8),
    /// Never: the server is dead from the beginning to the end.
    Never,
}

/// How a server begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ServerStart {
    /// The epoch on its disk, both accepted and current.
    pub epoch: u32,
    /// The number of the last transaction on its disk.
    pub zxid: u32,
    /// When it begins.
    pub launch: ServerLaunch,
}

/// An ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleConfig {
    /// Number of servers that vote, 1 to [`MAX_VOTERS`].
    pub servers: u8,
    /// Number of servers that only observe.
    pub observers: u8,
    /// How each begins, by its node; observers after the 8th node begin as the last entry does.
    pub start: [ServerStart; MAX_VOTERS],
    /// Whether an elected leader acquires an epoch by discovery. Otherwise it leads as soon as a majority has joined,
    /// in the round of its election, which another leader may have too.
    pub discovery: bool,
    /// The rule that is left out.
    pub bug: FleBug,
}

impl FleConfig {
    fn start_of(&self, node: Node) -> ServerStart {
        self.start[usize::from(node).min(MAX_VOTERS - 1)]
    }
}

/// What a server has on its disk. The logical clock is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FleDisk {
    /// The last epoch proposed by a leader that it accepted: `acceptedEpoch`.
    pub accepted: u32,
    /// The epoch of its history: `currentEpoch`.
    pub current: u32,
    /// The number of the last transaction of its history.
    pub zxid: u32,
}

/// What servers send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FleMessage {
    /// In an election.
    Vote(FleNotification),
    /// After it.
    Discovery(DiscoveryMessage),
}

/// What servers wait for. Limits are a tenth of those of a server with `tickTime` 2000, `initLimit` 10, `syncLimit` 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FleTimer {
    /// To begin to take part: this number of seconds.
    Launch(u8),
    /// For notifications: 200 ms, doubled this number of times.
    Poll(u8),
    /// For a higher vote, when a majority agrees: `finalizeWait`.
    Finalize,
    /// To send a ping, or again what is not answered: half a tick.
    Tick,
    /// For the leader to be established: 10 ticks.
    InitLimit,
    /// For pings of the leader, or of a majority: 5 ticks.
    SyncLimit,
}

/// What a server does now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ServerPhase {
    /// It has not begun.
    Idle,
    /// It looks for a leader.
    Election,
    /// It leads.
    Leader(LeaderDiscovery),
    /// It follows or observes.
    Follower(FollowerDiscovery),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FleServer {
    me: Node,
    voters: u8,
    launch: ServerLaunch,
    discovery: bool,
    disk: FleDisk,
    election: FastLeaderElection,
    phase: ServerPhase,
}

impl Protocol for FleServer {
    type Config = FleConfig;
    type Message = FleMessage;
    type Timer = FleTimer;
    type Disk = FleDisk;

    fn roles(config: &FleConfig) -> Vec<NodeRole> {
        let role = |name| NodeRole { name, client: false };
        let mut roles = vec![role("server"); usize::from(config.servers)];
        roles.resize(usize::from(config.servers + config.observers), role("observer"));
        roles
    }

    fn new_disk(config: &FleConfig, node: Node) -> FleDisk {
        let ServerStart { epoch, zxid, .. } = config.start_of(node);
        FleDisk {
            accepted: epoch,
            current: epoch,
            zxid,
        }
    }

    fn boot(config: &FleConfig, node: Node, disk: &FleDisk) -> Self {
        Self {
            me: node,
            voters: config.servers,
            launch: config.start_of(node).launch,
            discovery: config.discovery,
            disk: *disk,
            election: FastLeaderElection::new(node, config.servers, config.bug),
            phase: ServerPhase::Idle,
        }
    }

    fn step(&mut self, input: InputOf<Self>) -> Vec<FleOutput> {
        let mut out = Vec::new();
        match input {
            Input::Start => match self.launch {
                ServerLaunch::AtOnce => self.begin(&mut out),
                ServerLaunch::After(seconds) => out.push(Output::SetTimer(FleTimer::Launch(seconds))),
                ServerLaunch::Never => {}
            },
            Input::Timer(FleTimer::Launch(_)) if self.phase == ServerPhase::Idle => self.begin(&mut out),
            Input::Receive { from, message } if self.takes_part() => self.receive(from, message, &mut out),
            Input::Timer(timer) => self.timeout(timer, &mut out),
            Input::Receive { .. } | Input::Request(_) => {}
        }
        out
    }

    fn takes_part(&self) -> bool {
        self.phase != ServerPhase::Idle
    }

    fn duration(timer: FleTimer) -> Range<u32> {
        match timer {
            FleTimer::Launch(seconds) => {
                let after = 1_000_000 * u32::from(seconds);
                after..after + 1_000
            }
            FleTimer::Poll(doublings) => (200_000 << doublings)..(220_000 << doublings),
            FleTimer::Finalize => 200_000..205_000,
            FleTimer::Tick => 100_000..110_000,
            FleTimer::InitLimit => 2_000_000..2_100_000,
            FleTimer::SyncLimit => 1_000_000..1_050_000,
        }
    }

    fn figure(message: &FleMessage) -> MessageFigure {
        match message {
            FleMessage::Vote(notification) => notification.figure(),
            FleMessage::Discovery(message) => message.figure(),
        }
    }
}

impl FleServer {
    /// Begins to take part.
    fn begin(&mut self, out: &mut Vec<FleOutput>) {
        let FleDisk { current, zxid, .. } = self.disk;
        out.push(Output::Announce(Announcement::Credentials { epoch: current, zxid }));
        self.look(out);
    }

    fn look(&mut self, out: &mut Vec<FleOutput>) {
        self.phase = ServerPhase::Election;
        self.election.look(self.disk.current, self.disk.zxid, out);
    }

    fn receive(&mut self, from: Node, message: FleMessage, out: &mut Vec<FleOutput>) {
        let disk = &mut self.disk;
        let goes_on = match (message, &mut self.phase) {
            (FleMessage::Vote(notification), _) => {
                self.election.receive(from, notification, out);
                return self.serve_if_elected(out);
            }
            (FleMessage::Discovery(message), ServerPhase::Leader(leader)) => leader.receive(from, message, disk, out),
            (FleMessage::Discovery(message), ServerPhase::Follower(follower)) => {
                follower.receive(from, message, disk, out)
            }
            (FleMessage::Discovery(_), ServerPhase::Idle | ServerPhase::Election) => return,
        };
        self.serve_on(goes_on, out);
    }

    fn timeout(&mut self, timer: FleTimer, out: &mut Vec<FleOutput>) {
        let goes_on = match (timer, &mut self.phase) {
            (FleTimer::Poll(backoff), _) => return self.election.poll_timeout(backoff, out),
            (FleTimer::Finalize, _) => {
                self.election.finalize_timeout(out);
                return self.serve_if_elected(out);
            }
            (_, ServerPhase::Leader(leader)) => leader.timeout(timer, out),
            (_, ServerPhase::Follower(follower)) => follower.timeout(timer, &self.disk, out),
            (_, ServerPhase::Idle | ServerPhase::Election) => return,
        };
        self.serve_on(goes_on, out);
    }

    /// Begins to lead or to follow when the look has ended.
    fn serve_if_elected(&mut self, out: &mut Vec<FleOutput>) {
        if self.phase != ServerPhase::Election {
            return;
        }
        let joined = (!self.discovery).then_some(self.election.round);
        self.phase = match (self.election.state, self.election.leader()) {
            (FleState::Leading, _) => {
                let voters = NodeSet::range(0..self.voters);
                ServerPhase::Leader(LeaderDiscovery::begin(self.me, voters, joined, &mut self.disk, out))
            }
            (FleState::Following | FleState::Observing, Some(leader)) => {
                ServerPhase::Follower(FollowerDiscovery::begin(leader, joined, &self.disk, out))
            }
            (FleState::Looking, _) | (_, None) => return,
        };
        self.serve_on(true, out);
    }

    /// Serves on, with votes that carry the epoch in which it does; or resigns, if it served, and looks again.
    fn serve_on(&mut self, goes_on: bool, out: &mut Vec<FleOutput>) {
        let established = match &self.phase {
            ServerPhase::Leader(leader) => leader.established(),
            ServerPhase::Follower(follower) => follower.established(),
            ServerPhase::Idle | ServerPhase::Election => None,
        };
        if goes_on {
            if let Some(epoch) = established.filter(|_| self.discovery) {
                self.election.adopt_epoch(epoch);
            }
            return;
        }
        for timer in [FleTimer::Tick, FleTimer::InitLimit, FleTimer::SyncLimit] {
            out.push(Output::CancelTimer(timer));
        }
        out.extend(established.map(|round| Output::Announce(Announcement::Resigned { round })));
        self.look(out);
    }
}
