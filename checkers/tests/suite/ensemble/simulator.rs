//! A small FastLeaderElection in virtual time, as ZooKeeper 3.8 does it, whose servers write logs.
//!
//! Links deliver in order and after random delays. What is left out never decides who wins: resending after a time-out,
//! and the observers, who have no vote.

use super::server_log_lines::ServerLogWriter;
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_history::server_log::LeaderVote;

/// How long a server with a quorum waits for a better vote, in milliseconds (`finalizeWait`).
const FINALIZE: i64 = 200;

#[derive(Debug, Clone, Copy, PartialEq)]
enum SimulatorState {
    Down,
    Looking,
    Following,
    Leading,
}

impl SimulatorState {
    fn word(self) -> &'static str {
        match self {
            Self::Down => "DOWN",
            Self::Looking => "LOOKING",
            Self::Following => "FOLLOWING",
            Self::Leading => "LEADING",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct VoteNotification {
    sid: i64,
    state: SimulatorState,
    round: i64,
    vote: LeaderVote,
}

#[derive(Debug)]
struct Server {
    state: SimulatorState,
    round: i64,
    init: LeaderVote,
    proposed: LeaderVote,
    received: BTreeMap<i64, LeaderVote>,
    settled: BTreeMap<i64, (SimulatorState, i64, LeaderVote)>,
    teller: ServerLogWriter,
}

/// The winner in the state of the simulator.
#[derive(Debug)]
pub struct Truth {
    pub winner: i64,
    pub vote: LeaderVote,
    /// Those counted, with the vote each of them had begun with.
    pub counted: BTreeMap<i64, LeaderVote>,
    /// Whether a server that was to take part had a higher vote, and came too late.
    pub outranked: bool,
}

/// An ensemble of servers `1..=n`.
#[derive(Debug)]
pub struct Simulator {
    random: Rng,
    servers: BTreeMap<i64, Server>,
    now: i64,
    /// Deliveries and decisions by time.
    queue: BTreeMap<(i64, u64), SimulatorStep>,
    links: BTreeMap<(i64, i64), i64>,
    number: u64,
    /// A server whose log claims that it put itself forward with this vote.
    pub liar: Option<LeaderVote>,
    pub truths: Vec<Truth>,
}

#[derive(Debug)]
enum SimulatorStep {
    Start(i64),
    Deliver(i64, VoteNotification),
    Decide(i64, LeaderVote, i64),
}

impl Simulator {
    pub fn new(seed: u64, count: i64) -> Self {
        let mut random = Rng::with_seed(seed);
        let servers = (1..=count).map(|sid| {
            let vote = LeaderVote {
                epoch: 0,
                zxid: 0,
                leader: sid,
            };
            let server = Server {
                state: SimulatorState::Down,
                round: 0,
                init: vote,
                proposed: vote,
                received: BTreeMap::new(),
                settled: BTreeMap::new(),
                teller: ServerLogWriter::new(sid, random.bool()),
            };
            (sid, server)
        });
        let servers = servers.collect();
        Self {
            random,
            servers,
            now: 0,
            queue: BTreeMap::new(),
            links: BTreeMap::new(),
            number: 0,
            liar: None,
            truths: Vec::new(),
        }
    }

    pub fn tellers(&self) -> impl Iterator<Item = &ServerLogWriter> {
        self.servers.values().map(|server| &server.teller)
    }

    /// One election of those servers, which have these last zxids and epochs; a `restarted` one begins again at round
    /// 1.
    pub fn elect(&mut self, votes: &[LeaderVote], restarted: &BTreeSet<i64>) {
        self.now += 1000;
        self.queue.clear();
        for server in self.servers.values_mut() {
            server.state = SimulatorState::Down;
            server.init.epoch = -1;
        }
        for &vote in votes {
            let spread = if self.random.u32(..4) == 0 { 700 } else { 200 };
            let at = self.now + self.random.i64(0..spread);
            if let Some(server) = self.servers.get_mut(&vote.leader) {
                server.init = vote;
                if server.teller.text.is_empty() || restarted.contains(&vote.leader) {
                    server.round = 0;
                    server.teller.add(|log| log.starts(self.now - 1));
                }
            }
            self.push(at, SimulatorStep::Start(vote.leader));
        }
        while let Some(((at, _), step)) = self.queue.pop_first() {
            self.now = at;
            match step {
                SimulatorStep::Start(sid) => self.start(sid),
                SimulatorStep::Deliver(to, message) => self.deliver(to, message),
                SimulatorStep::Decide(sid, vote, round) => self.decide(sid, vote, round),
            }
        }
    }

    /// The last winner is acknowledged by those who voted for it.
    pub fn establish(&mut self, epoch: i64) {
        let Some(truth) = self.truths.last() else { return };
        let sids: Vec<String> = truth.counted.keys().map(i64::to_string).collect();
        self.now += 50;
        let server = self.servers.get_mut(&truth.winner).expect("it exists");
        server.teller.add(|log| log.leads(self.now, epoch, &sids.join(", ")));
    }

    fn push(&mut self, at: i64, step: SimulatorStep) {
        self.number += 1;
        self.queue.insert((at, self.number), step);
    }

    fn start(&mut self, sid: i64) {
        let now = self.now;
        let Some(server) = self.servers.get_mut(&sid) else {
            return;
        };
        server.state = SimulatorState::Looking;
        server.round += 1;
        server.proposed = server.init;
        server.received.clear();
        server.settled.clear();
        server.teller.add(|log| log.looks(now, server.init.zxid));
        self.broadcast(sid);
        // A link keeps its last message until the other end is there.
        let up =
            |(from, server): (&i64, &Server)| (server.state != SimulatorState::Down && *from != sid).then_some(*from);
        let others: Vec<i64> = self.servers.iter().filter_map(up).collect();
        others.into_iter().for_each(|from| self.send(from, sid));
    }

    fn broadcast(&mut self, from: i64) {
        let all: Vec<i64> = self.servers.keys().copied().collect();
        all.into_iter().for_each(|to| self.send(from, to));
    }

    fn send(&mut self, from: i64, to: i64) {
        let server = &self.servers[&from];
        let message = VoteNotification {
            sid: from,
            state: server.state,
            round: server.round,
            vote: server.proposed,
        };
        let delay = if from == to { 0 } else { self.random.i64(1..60) };
        let last = self.links.get(&(from, to)).copied().unwrap_or_default();
        let at = (self.now + delay).max(last);
        self.links.insert((from, to), at);
        self.push(at, SimulatorStep::Deliver(to, message));
    }

    fn deliver(&mut self, to: i64, message: VoteNotification) {
        let (now, liar) = (self.now, self.liar);
        let server = self.servers.get_mut(&to).expect("messages are sent to servers");
        if server.state == SimulatorState::Down {
            return;
        }
        let told = liar.filter(|claimed| claimed.leader == message.vote.leader);
        let vote = told.unwrap_or(message.vote);
        let vote = (vote.epoch, vote.zxid, vote.leader);
        let (sid, state, round) = (message.sid, message.state, message.round);
        server.teller.add(|log| log.hears(now, sid, state.word(), round, vote));
        match (server.state, state) {
            (SimulatorState::Looking, SimulatorState::Looking) => self.weigh(to, message),
            (SimulatorState::Looking, _) => self.join(to, message),
            (_, SimulatorState::Looking) if sid != to => self.send(to, sid),
            _ => {}
        }
    }

    /// A looking server receives the vote of another one that looks.
    fn weigh(&mut self, to: i64, message: VoteNotification) {
        let quorum = self.servers.len() / 2 + 1;
        let server = self.servers.get_mut(&to).expect("it exists");
        let mut changed = true;
        if message.round > server.round {
            server.round = message.round;
            server.received.clear();
            server.proposed = message.vote.max(server.init);
        } else if message.round < server.round {
            return self.send(to, message.sid);
        } else if message.vote > server.proposed {
            server.proposed = message.vote;
        } else {
            changed = false;
        }
        server.received.insert(message.sid, message.vote);
        let (proposed, round) = (server.proposed, server.round);
        let agree = server.received.values().filter(|vote| **vote == proposed).count();
        if changed {
            self.broadcast(to);
        }
        if agree >= quorum {
            self.push(self.now + FINALIZE, SimulatorStep::Decide(to, proposed, round));
        }
    }

    /// A looking server receives the vote of one that has found its leader.
    fn join(&mut self, to: i64, message: VoteNotification) {
        let (quorum, now) = (self.servers.len() / 2 + 1, self.now);
        let server = self.servers.get_mut(&to).expect("it exists");
        server
            .settled
            .insert(message.sid, (message.state, message.round, message.vote));
        let settled = server.settled.values();
        let agree = settled.filter(|(_, _, vote)| *vote == message.vote).count();
        let leads = matches!(
            server.settled.get(&message.vote.leader),
            Some((SimulatorState::Leading, _, _))
        );
        if agree >= quorum && leads {
            server.state = SimulatorState::Following;
            server.round = message.round;
            server.proposed = message.vote;
            server.teller.add(|log| log.becomes(now, "FOLLOWING"));
        }
    }

    fn decide(&mut self, sid: i64, vote: LeaderVote, round: i64) {
        let (quorum, now) = (self.servers.len() / 2 + 1, self.now);
        let server = self.servers.get_mut(&sid).expect("it exists");
        if (server.state, server.proposed, server.round) != (SimulatorState::Looking, vote, round) {
            return;
        }
        server.state = if vote.leader == sid {
            SimulatorState::Leading
        } else {
            SimulatorState::Following
        };
        server.teller.add(|log| log.becomes(now, server.state.word()));
        if server.state == SimulatorState::Leading {
            let agree = server.received.iter().filter(|(_, other)| **other == vote);
            let counted: Vec<i64> = agree.map(|(sid, _)| *sid).collect();
            assert!(counted.len() >= quorum);
            let counted = counted.into_iter().map(|sid| (sid, self.servers[&sid].init)).collect();
            let outranked = self.servers.values().any(|server| server.init > vote);
            self.truths.push(Truth {
                winner: sid,
                vote,
                counted,
                outranked,
            });
        }
    }
}
