//! The leader: it conducts ballots until every learner has learned which value is chosen.

use super::{Paxos, PaxosDisk, PaxosMessage, PaxosTimer};
use crate::consensus::protocol::{Input, InputOf, Node, NodeSet, Output, OutputOf};
use crate::consensus::quorum::{DecisionReports, PaxosGroup, PaxosVote, majority, to_all};

/// The number of ballots a leader, of all leaders, after which they wait longer.
const MANY_BALLOTS: u32 = 4;

/// The leader that a ballot belongs to: of L leaders the first has the ballots 1, 1 + L, 1 + 2L, …
pub fn owner(group: PaxosGroup, ballot: u32) -> Node {
    let turn = (ballot - 1) % u32::from(group.leaders);
    group.leaders().start + turn as Node
}

/// How far the ballot of a leader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum BallotPhase {
    /// No ballot is under way.
    Idle,
    /// It was refused, and waits for [`PaxosTimer::Backoff`].
    Refused,
    /// Phase 1.
    Preparing {
        /// The acceptors that have answered.
        promises: NodeSet,
        /// Of their votes the one of the highest ballot.
        highest: PaxosVote,
    },
    /// Phase 1 is over, any value may be proposed, and there is none.
    Ready,
    /// Phase 2.
    Proposing {
        /// The value that votes are asked for.
        value: u32,
    },
}

/// A leader, by "Paxos Made Simple", sections 2.2 and 2.4.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PaxosLeader {
    group: PaxosGroup,
    node: Node,
    /// The ballot under way; without one the highest that it has begun or was refused for.
    ballot: u32,
    phase: BallotPhase,
    /// What it proposes where acceptors leave the choice to it: some proposer's value. While there is one the leader
    /// goes on, unless all learners have learned what is chosen.
    requested: Option<u32>,
    reports: DecisionReports,
}

impl PaxosLeader {
    /// The leader that starts with this disk.
    pub fn boot(group: PaxosGroup, node: Node, disk: &PaxosDisk) -> Self {
        Self {
            group,
            node,
            ballot: disk.ballot,
            phase: BallotPhase::Idle,
            requested: None,
            reports: DecisionReports::default(),
        }
    }

    /// Takes an input.
    pub fn step(&mut self, input: InputOf<Paxos>) -> Vec<OutputOf<Paxos>> {
        match input {
            // A ballot from before a crash may have chosen a value, with no other leader left to go on until all
            // learners have learned it.
            Input::Start if self.node == self.group.leaders().start || self.ballot > 0 => self.begin(),
            Input::Receive { from, message } => self.receive(from, message),
            Input::Timer(PaxosTimer::Ballot) => self.repeat(),
            Input::Timer(PaxosTimer::Backoff | PaxosTimer::LongBackoff) if self.phase == BallotPhase::Refused => {
                self.begin()
            }
            _ => Vec::new(),
        }
    }

    fn receive(&mut self, from: Node, message: PaxosMessage) -> Vec<OutputOf<Paxos>> {
        match message {
            PaxosMessage::Request { value } => self.request(from, value),
            PaxosMessage::Phase1b { ballot, vote } if ballot == self.ballot => self.promised(from, vote),
            PaxosMessage::Nack { promised } if promised > self.ballot => self.refused(promised),
            PaxosMessage::Learned { value } => self.learned(from, value),
            _ => Vec::new(),
        }
    }

    /// Begins the lowest ballot of its own above the last. It is written before the leader names it, so that none is
    /// used twice ("Paxos Made Simple", section 2.5).
    fn begin(&mut self) -> Vec<OutputOf<Paxos>> {
        self.ballot += 1;
        while owner(self.group, self.ballot) != self.node {
            self.ballot += 1;
        }
        self.phase = BallotPhase::Preparing {
            promises: NodeSet::EMPTY,
            highest: PaxosVote::NONE,
        };
        let ballot = self.ballot;
        let mut outputs = vec![Output::Write(PaxosDisk {
            ballot,
            vote: PaxosVote::NONE,
        })];
        outputs.extend(to_all(self.group.acceptors(), PaxosMessage::Phase1a { ballot }));
        outputs.push(Output::SetTimer(PaxosTimer::Ballot));
        outputs
    }

    fn request(&mut self, proposer: Node, value: u32) -> Vec<OutputOf<Paxos>> {
        if let Some(value) = self.reports.value() {
            return vec![Output::Send {
                to: proposer,
                message: PaxosMessage::Learned { value },
            }];
        }
        self.requested.get_or_insert(value);
        match self.phase {
            BallotPhase::Idle => self.begin(),
            BallotPhase::Ready => self.propose(value),
            BallotPhase::Refused | BallotPhase::Preparing { .. } | BallotPhase::Proposing { .. } => Vec::new(),
        }
    }

    /// A majority has promised: "Paxos Made Simple", section 2.2, phase 2 (a), by which the value is "the value of the
    /// highest-numbered proposal among the responses, or is any value if the responses reported no proposals".
    fn promised(&mut self, acceptor: Node, vote: PaxosVote) -> Vec<OutputOf<Paxos>> {
        let BallotPhase::Preparing { promises, highest } = &mut self.phase else {
            return Vec::new();
        };
        promises.insert(acceptor);
        if vote.ballot > highest.ballot {
            *highest = vote;
        }
        if promises.len() < majority(self.group.acceptors) {
            return Vec::new();
        }
        let bound = (!highest.is_none()).then_some(highest.value);
        match bound.or(self.requested) {
            Some(value) => self.propose(value),
            None => {
                self.phase = BallotPhase::Ready;
                vec![Output::CancelTimer(PaxosTimer::Ballot)]
            }
        }
    }

    fn propose(&mut self, value: u32) -> Vec<OutputOf<Paxos>> {
        self.phase = BallotPhase::Proposing { value };
        self.requested.get_or_insert(value);
        self.ask_for_votes(value)
    }

    fn ask_for_votes(&self, value: u32) -> Vec<OutputOf<Paxos>> {
        let ballot = self.ballot;
        let proposal = PaxosVote { ballot, value };
        let asked = to_all(self.group.acceptors(), PaxosMessage::Phase2a { proposal });
        asked.chain([Output::SetTimer(PaxosTimer::Ballot)]).collect()
    }

    fn refused(&mut self, promised: u32) -> Vec<OutputOf<Paxos>> {
        match self.phase {
            BallotPhase::Idle => return Vec::new(),
            BallotPhase::Refused => {
                self.ballot = promised;
                return Vec::new();
            }
            BallotPhase::Preparing { .. } | BallotPhase::Ready | BallotPhase::Proposing { .. } => {}
        }
        self.ballot = promised;
        let mut outputs = vec![Output::CancelTimer(PaxosTimer::Ballot)];
        if self.requested.is_some() {
            self.phase = BallotPhase::Refused;
            let few = self.ballot <= MANY_BALLOTS * u32::from(self.group.leaders);
            let timer = if few {
                PaxosTimer::Backoff
            } else {
                PaxosTimer::LongBackoff
            };
            outputs.push(Output::SetTimer(timer));
        } else {
            self.phase = BallotPhase::Idle;
        }
        outputs
    }

    fn learned(&mut self, learner: Node, value: u32) -> Vec<OutputOf<Paxos>> {
        if !self.reports.record(learner, value) {
            return Vec::new();
        }
        if self.reports.are_complete(self.group) {
            self.phase = BallotPhase::Idle;
            self.requested = None;
            return vec![
                Output::CancelTimer(PaxosTimer::Ballot),
                Output::CancelTimer(PaxosTimer::Backoff),
                Output::CancelTimer(PaxosTimer::LongBackoff),
            ];
        }
        self.requested = Some(value);
        match self.phase {
            BallotPhase::Idle | BallotPhase::Ready => vec![Output::SetTimer(PaxosTimer::Ballot)],
            BallotPhase::Refused | BallotPhase::Preparing { .. } | BallotPhase::Proposing { .. } => Vec::new(),
        }
    }

    /// Messages may have been lost: those that are not answered go out again. Where another leader's ballot chose a
    /// value and some learners have not learned it, this one conducts a ballot of its own.
    fn repeat(&mut self) -> Vec<OutputOf<Paxos>> {
        let ballot = self.ballot;
        match (self.phase, self.requested) {
            (BallotPhase::Preparing { promises, .. }, _) => {
                let silent = self.group.acceptors().filter(|&node| !promises.contains(node));
                let message = PaxosMessage::Phase1a { ballot };
                let asked = silent.map(|to| Output::Send { to, message });
                asked.chain([Output::SetTimer(PaxosTimer::Ballot)]).collect()
            }
            (BallotPhase::Proposing { value }, _) => self.ask_for_votes(value),
            (BallotPhase::Idle, Some(_)) => self.begin(),
            (BallotPhase::Ready, Some(value)) => self.propose(value),
            (BallotPhase::Refused, _) | (_, None) => Vec::new(),
        }
    }
}
