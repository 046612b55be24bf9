//! The coordinator: it conducts rounds until every learner has learned which value is chosen.

use super::rounds::{FastRounds, PickedValue, RoundPlace};
use super::{CollisionRecovery, FastPaxos, FastPaxosMessage, FastPaxosTimer};
use crate::consensus::protocol::{Input, InputOf, Node, NodeSet, Output, OutputOf};
use crate::consensus::quorum::{DecisionReports, PaxosDisk, PaxosVote, VoteNews, VotesByAcceptor, to_all};

/// The number of rounds a coordinator, of all coordinators, after which they wait longer.
const MANY_ROUNDS: u32 = 12;

/// How far the round of a coordinator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RoundPhase {
    /// No round is under way.
    Idle,
    /// It was refused, and waits for [`FastPaxosTimer::Backoff`].
    Refused,
    /// Phase 1.
    Preparing {
        /// The acceptors that have answered.
        joined: NodeSet,
        /// Their last votes.
        votes: VotesByAcceptor,
    },
    /// Phase 1 of a classic round is over, any value may be proposed, and there is none.
    Ready,
    /// Phase 2 of a fast round: acceptors vote for what proposers send.
    Open {
        /// The votes in the round.
        votes: VotesByAcceptor,
    },
    /// Phase 2 with one value.
    Proposing {
        /// The value that votes are asked for.
        value: u32,
    },
}

/// A coordinator, by sections 2.2.1, 3.1 and 3.2.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FastCoordinator {
    rounds: FastRounds,
    node: Node,
    /// The round under way, crnd\[c\] in the paper; without one the highest that it has begun or was refused for.
    round: u32,
    phase: RoundPhase,
    /// Some proposer's value. While there is one the coordinator goes on, unless all learners have learned what is
    /// chosen.
    requested: Option<u32>,
    reports: DecisionReports,
}

impl FastCoordinator {
    /// The coordinator that starts with this disk.
    pub fn boot(rounds: FastRounds, node: Node, disk: &PaxosDisk) -> Self {
        Self {
            rounds,
            node,
            round: disk.ballot,
            phase: RoundPhase::Idle,
            requested: None,
            reports: DecisionReports::default(),
        }
    }

    /// Takes an input.
    pub fn step(&mut self, input: InputOf<FastPaxos>) -> Vec<OutputOf<FastPaxos>> {
        match input {
            Input::Start if self.node == self.rounds.group.leaders().start => self.begin(RoundPlace::Opening),
            // A round from before a crash may have chosen a value, with no other coordinator left to go on until all
            // learners have learned it.
            Input::Start if self.round > 0 => self.begin(RoundPlace::Closing),
            Input::Receive { from, message } => self.receive(from, message),
            Input::Timer(FastPaxosTimer::Round) => self.overdue(),
            Input::Timer(FastPaxosTimer::Backoff | FastPaxosTimer::LongBackoff)
                if self.phase == RoundPhase::Refused =>
            {
                self.begin(RoundPlace::Closing)
            }
            _ => Vec::new(),
        }
    }

    fn receive(&mut self, from: Node, message: FastPaxosMessage) -> Vec<OutputOf<FastPaxos>> {
        match message {
            FastPaxosMessage::Request { value } => self.request(from, value),
            FastPaxosMessage::Phase1b { round, vote } if round == self.round => self.joined(from, vote),
            FastPaxosMessage::Phase2b { vote } if vote.ballot == self.round => self.voted(from, vote),
            FastPaxosMessage::Nack { promised } if promised > self.round => self.refused(promised),
            FastPaxosMessage::Learned { value } => self.learned(from, value),
            _ => Vec::new(),
        }
    }

    /// Begins a higher round with phase 1. It is written before the coordinator names it, so that none is used twice.
    fn begin(&mut self, place: RoundPlace) -> Vec<OutputOf<FastPaxos>> {
        let round = self.rounds.next(self.round, self.node, place);
        self.round = round;
        self.phase = RoundPhase::Preparing {
            joined: NodeSet::EMPTY,
            votes: VotesByAcceptor::default(),
        };
        let mut outputs = vec![self.write()];
        let acceptors = self.rounds.group.acceptors();
        outputs.extend(to_all(acceptors, FastPaxosMessage::Phase1a { round }));
        outputs.push(Output::SetTimer(FastPaxosTimer::Round));
        outputs
    }

    fn write(&self) -> OutputOf<FastPaxos> {
        Output::Write(PaxosDisk {
            ballot: self.round,
            vote: PaxosVote::NONE,
        })
    }

    /// A proposer asks a coordinator only if it was not answered in time: an open round has not led to a decision.
    fn request(&mut self, proposer: Node, value: u32) -> Vec<OutputOf<FastPaxos>> {
        if let Some(value) = self.reports.value() {
            return vec![Output::Send {
                to: proposer,
                message: FastPaxosMessage::Learned { value },
            }];
        }
        self.requested.get_or_insert(value);
        match self.phase {
            RoundPhase::Idle => self.begin(RoundPlace::Closing),
            RoundPhase::Ready => self.propose(value),
            RoundPhase::Open { votes } => self.recover(&votes),
            RoundPhase::Refused | RoundPhase::Preparing { .. } | RoundPhase::Proposing { .. } => Vec::new(),
        }
    }

    /// Section 3.1, phase 2a. A classic quorum is enough to begin a fast round too: with it the rule of figure 2 finds
    /// whatever may be chosen in a lower round, and the paper's i-quorum serves for nothing else.
    fn joined(&mut self, acceptor: Node, vote: PaxosVote) -> Vec<OutputOf<FastPaxos>> {
        let RoundPhase::Preparing { joined, votes } = &mut self.phase else {
            return Vec::new();
        };
        joined.insert(acceptor);
        votes.record(acceptor, vote);
        if joined.len() < self.rounds.classic_quorum() {
            return Vec::new();
        }
        let fast = self.rounds.is_fast(self.round);
        match self.rounds.pick(votes, *joined) {
            PickedValue::Bound(value) => self.propose(value),
            PickedValue::Free(voted) if fast => self.open(voted),
            PickedValue::Free(voted) => match voted.or(self.requested) {
                Some(value) => self.propose(value),
                None => {
                    self.phase = RoundPhase::Ready;
                    vec![Output::CancelTimer(FastPaxosTimer::Round)]
                }
            },
        }
    }

    fn open(&mut self, voted: Option<u32>) -> Vec<OutputOf<FastPaxos>> {
        self.phase = RoundPhase::Open {
            votes: VotesByAcceptor::default(),
        };
        self.requested = self.requested.or(voted);
        self.ask_for_any()
    }

    fn ask_for_any(&self) -> Vec<OutputOf<FastPaxos>> {
        let any = FastPaxosMessage::Any { round: self.round };
        let asked = to_all(self.rounds.group.acceptors(), any);
        asked.chain([Output::SetTimer(FastPaxosTimer::Round)]).collect()
    }

    fn propose(&mut self, value: u32) -> Vec<OutputOf<FastPaxos>> {
        self.phase = RoundPhase::Proposing { value };
        self.requested.get_or_insert(value);
        self.ask_for_votes(value)
    }

    fn ask_for_votes(&self, value: u32) -> Vec<OutputOf<FastPaxos>> {
        let ballot = self.round;
        let proposal = PaxosVote { ballot, value };
        let asked = to_all(self.rounds.group.acceptors(), FastPaxosMessage::Phase2a { proposal });
        asked.chain([Output::SetTimer(FastPaxosTimer::Round)]).collect()
    }

    fn voted(&mut self, acceptor: Node, vote: PaxosVote) -> Vec<OutputOf<FastPaxos>> {
        let RoundPhase::Open { votes } = &mut self.phase else {
            return Vec::new();
        };
        if votes.record(acceptor, vote) != VoteNews::Later {
            return Vec::new();
        }
        let votes = *votes;
        let enough = match self.rounds.recovery {
            CollisionRecovery::Restart => true,
            CollisionRecovery::Coordinated => votes.voters(self.round).len() >= self.rounds.classic_quorum(),
            CollisionRecovery::Uncoordinated => false,
        };
        if enough && self.rounds.collided(&votes, self.round) {
            self.requested.get_or_insert(vote.value);
            return self.recover(&votes);
        }
        if self.requested.is_some() {
            return Vec::new();
        }
        self.requested = Some(vote.value);
        vec![Output::SetTimer(FastPaxosTimer::Round)]
    }

    /// Gives up an open round for a classic one, section 3.2: without phase 1 in coordinated recovery, once enough
    /// votes have arrived.
    fn recover(&mut self, votes: &VotesByAcceptor) -> Vec<OutputOf<FastPaxos>> {
        let voters = votes.voters(self.round);
        let coordinated = self.rounds.recovery == CollisionRecovery::Coordinated;
        if !coordinated || voters.len() < self.rounds.classic_quorum() {
            return self.begin(RoundPlace::Closing);
        }
        let picked = match self.rounds.pick(votes, voters) {
            PickedValue::Bound(value) => Some(value),
            PickedValue::Free(voted) => voted,
        };
        let value = picked.expect("all of the quorum have voted");
        self.round += 1;
        let mut outputs = vec![self.write()];
        outputs.extend(self.propose(value));
        outputs
    }

    /// An acceptor takes part in a higher round, possibly by uncoordinated recovery from an open round of this
    /// coordinator.
    fn refused(&mut self, promised: u32) -> Vec<OutputOf<FastPaxos>> {
        let goes_on = match self.phase {
            RoundPhase::Idle => return Vec::new(),
            RoundPhase::Refused => {
                self.round = promised;
                return Vec::new();
            }
            RoundPhase::Open { .. } => true,
            RoundPhase::Preparing { .. } | RoundPhase::Ready | RoundPhase::Proposing { .. } => self.requested.is_some(),
        };
        self.round = promised;
        let mut outputs = vec![Output::CancelTimer(FastPaxosTimer::Round)];
        self.phase = RoundPhase::Idle;
        if goes_on {
            self.phase = RoundPhase::Refused;
            let few = self.round <= MANY_ROUNDS * u32::from(self.rounds.group.leaders);
            let timer = if few {
                FastPaxosTimer::Backoff
            } else {
                FastPaxosTimer::LongBackoff
            };
            outputs.push(Output::SetTimer(timer));
        }
        outputs
    }

    fn learned(&mut self, learner: Node, value: u32) -> Vec<OutputOf<FastPaxos>> {
        if !self.reports.record(learner, value) {
            return Vec::new();
        }
        if self.reports.are_complete(self.rounds.group) {
            self.phase = RoundPhase::Idle;
            self.requested = None;
            return vec![
                Output::CancelTimer(FastPaxosTimer::Round),
                Output::CancelTimer(FastPaxosTimer::Backoff),
                Output::CancelTimer(FastPaxosTimer::LongBackoff),
            ];
        }
        self.requested = Some(value);
        match self.phase {
            RoundPhase::Idle | RoundPhase::Ready => vec![Output::SetTimer(FastPaxosTimer::Round)],
            _ => Vec::new(),
        }
    }

    /// The round makes no progress: messages go out again, but a fast round in which acceptors have voted is given up.
    /// Where another coordinator's round chose a value and some learners have not learned it, this one conducts a round
    /// of its own.
    fn overdue(&mut self) -> Vec<OutputOf<FastPaxos>> {
        match (self.phase, self.requested) {
            (RoundPhase::Preparing { joined, .. }, _) => {
                let message = FastPaxosMessage::Phase1a { round: self.round };
                let silent = self.rounds.group.acceptors().filter(|&node| !joined.contains(node));
                let asked = silent.map(|to| Output::Send { to, message });
                asked.chain([Output::SetTimer(FastPaxosTimer::Round)]).collect()
            }
            (RoundPhase::Proposing { .. }, _) if self.rounds.is_fast(self.round) => self.begin(RoundPlace::Closing),
            (RoundPhase::Proposing { value }, _) => self.ask_for_votes(value),
            (RoundPhase::Open { .. }, None) => self.ask_for_any(),
            (RoundPhase::Open { votes }, Some(_)) => self.recover(&votes),
            (RoundPhase::Idle, Some(_)) => self.begin(RoundPlace::Closing),
            (RoundPhase::Ready, Some(value)) => self.propose(value),
            (RoundPhase::Refused, _) | (_, None) => Vec::new(),
        }
    }
}
