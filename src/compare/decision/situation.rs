//! The situations in which a decision is measured: what is wrong with the network, and who proposes when.

use zooquake_network::disturbance::{Disturbance, DisturbanceKind};
use zooquake_network::transit::{LinkPriorities, Transit};
use zooquake_workloads::consensus::protocol::{Node, NodeRole};

/// How long each message takes, in microseconds. Timers run for at least twenty times as long.
pub const UNIT: u32 = 1_000;

/// When values are proposed, in microseconds: phase 1, which begins at 0, takes two units, and opening a fast round one
/// more.
const REQUEST: u32 = 10 * UNIT;

/// When processes die that do so after phase 1, in microseconds.
const AFTER_PHASE_1: u32 = 5 * UNIT;

/// When a run ends at the latest, in microseconds: some timeouts in succession.
pub const UNTIL: u32 = 5_000 * UNIT;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionSituation {
    /// Phase 1 is done, and one value is proposed.
    Prepared,
    /// Phase 1 begins with the request.
    Unprepared,
    /// Two values are proposed at once, and half of the acceptors get the one first, half the other.
    Collision,
    /// The leader has died before its phase 1 was over.
    LeaderLostEarly,
    /// The leader has died after its phase 1.
    LeaderLost,
    /// The same, and two values are proposed at once.
    CollisionWithoutLeader,
    /// One acceptor has died.
    AcceptorLost,
}

/// A situation as reports have it.
pub struct SituationText {
    /// Its name, such as `prepared`.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What is played, in a sentence or two.
    pub words: &'static str,
}

/// The nodes of a group that situations are about.
#[derive(Debug, Clone)]
pub struct DecisionNodes {
    /// Number of all nodes.
    pub all: usize,
    /// Number of acceptors; these are the first nodes.
    pub acceptors: Node,
    /// The leader, or coordinator, of the first round.
    pub leader: Node,
    /// Number of leaders or coordinators.
    pub leaders: usize,
    pub proposers: Vec<Node>,
    /// Number of learners.
    pub learners: usize,
    /// Whether proposals go through the leader.
    pub led: bool,
}

/// The names of the role that conducts rounds.
const LEADERS: [&str; 2] = ["leader", "coordinator"];

impl DecisionNodes {
    /// Those of a group with these roles; `None` if it has not at least an acceptor, a leader and two proposers.
    pub fn new(roles: &[NodeRole]) -> Option<Self> {
        let playing = |names: &'static [&'static str]| {
            (0..)
                .zip(roles)
                .filter(move |(_, role)| names.contains(&role.name))
                .map(|(node, _)| node)
        };
        let proposers: Vec<Node> = playing(&["proposer"]).collect();
        let leader = playing(&LEADERS).next()?;
        Some(Self {
            all: roles.len(),
            acceptors: playing(&["acceptor"]).count() as Node,
            leader,
            leaders: playing(&LEADERS).count(),
            learners: playing(&["learner"]).count(),
            led: roles[usize::from(leader)].name == "leader",
            proposers,
        })
        .filter(|nodes| nodes.acceptors > 0 && nodes.proposers.len() > 1)
    }
}

impl DecisionSituation {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Prepared,
        Self::Unprepared,
        Self::Collision,
        Self::LeaderLostEarly,
        Self::LeaderLost,
        Self::CollisionWithoutLeader,
        Self::AcceptorLost,
    ];

    /// What it is called, and what is played.
    pub fn text(self) -> SituationText {
        match self {
            Self::Prepared => SituationText {
                name: "prepared",
                title: "Phase 1 is done",
                words: "The first leader has executed phase 1 (of Fast Paxos it has also opened a fast round) before one value is proposed.",
            },
            Self::Unprepared => SituationText {
                name: "unprepared",
                title: "With phase 1",
                words: "The leader's process starts at the moment at which the request arrives there, and in Fast Paxos, where requests go past \
                 the coordinator, at which it is sent.",
            },
            Self::Collision => SituationText {
                name: "collision",
                title: "Two proposals collide",
                words: "Two values are proposed at once; the first acceptor gets the one first, the second the other, and so by turns. In Paxos \
                 both go to the leader, and nothing collides.",
            },
            Self::LeaderLostEarly => SituationText {
                name: "leader-lost-early",
                title: "The leader is lost before phase 1",
                words: "The first leader's process is dead when the request is sent, and has not finished phase 1. The proposer waits for its \
                 timeout and asks the next leader. Of Fast Paxos, whose proposer sends to the acceptors first, the first timeout passes \
                 before the dead coordinator is asked, and another before the next one is.",
            },
            Self::LeaderLost => SituationText {
                name: "leader-lost",
                title: "The leader is lost after phase 1",
                words: "The first leader's process has died after phase 1, and in Fast Paxos after it had opened a fast round.",
            },
            Self::CollisionWithoutLeader => SituationText {
                name: "collision-without-leader",
                title: "Two proposals collide without the leader",
                words: "The same, and two values are proposed at once, as above.",
            },
            Self::AcceptorLost => SituationText {
                name: "acceptor-lost",
                title: "One acceptor is lost",
                words: "One acceptor's process has died after phase 1, and one value is proposed. A majority of the acceptors lives, and of 4 or \
                 more also a fast quorum; of 3 a fast quorum is all three, and one crash ends fast rounds.",
            },
        }
    }

    /// What is wrong, and when.
    pub fn disturbances(self, nodes: &DecisionNodes) -> Vec<Disturbance> {
        let killed = |node, from, until| {
            vec![Disturbance {
                kind: DisturbanceKind::Kill(node),
                from,
                until,
            }]
        };
        match self {
            Self::Prepared | Self::Collision => Vec::new(),
            Self::Unprepared => killed(nodes.leader, 0, REQUEST),
            Self::LeaderLostEarly => killed(nodes.leader, 0, UNTIL),
            Self::LeaderLost | Self::CollisionWithoutLeader => killed(nodes.leader, AFTER_PHASE_1, UNTIL),
            Self::AcceptorLost => killed(nodes.acceptors - 1, AFTER_PHASE_1, UNTIL),
        }
    }

    /// The requests: when, of which proposer, for which value.
    pub fn requests(self, nodes: &DecisionNodes) -> Vec<(u32, Node, u32)> {
        let proposals = match self {
            Self::Collision | Self::CollisionWithoutLeader => 2,
            _ => 1,
        };
        // On its way to the leader while that starts.
        let at = match self {
            Self::Unprepared if nodes.led => REQUEST - UNIT,
            _ => REQUEST,
        };
        let proposers = nodes.proposers.iter().take(proposals);
        proposers
            .zip(1..)
            .map(|(&proposer, value)| (at, proposer, value))
            .collect()
    }

    /// How long messages take: [`UNIT`], but that of two proposals an acceptor gets one a microsecond later.
    pub fn transit(self, nodes: &DecisionNodes) -> Transit {
        if !matches!(self, Self::Collision | Self::CollisionWithoutLeader) {
            return Transit::Constant(UNIT);
        }
        let links = LinkPriorities::kept(nodes.all, |from, to| {
            let turn = nodes.proposers.iter().position(|&proposer| proposer == from);
            let late = to < nodes.acceptors && turn.is_some_and(|turn| turn != usize::from(to % 2));
            UNIT + u32::from(late)
        });
        Transit::Priorities(Box::new(links))
    }
}
