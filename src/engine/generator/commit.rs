//! Two-phase commit: `c1` coordinates, all others are sites, one transaction after the other. `docs/families/commit.md`.

use super::{FINAL_AGAIN, Generator, Moment, Next, Phase, Request};
use crate::engine::worker::{End, Op};
use std::time::Duration;
use zooquake_checkers::EventType;
use zooquake_checkers::plan::{Plan, Transaction};
use zooquake_history::operation::commit::{self, Vote};

const BEGIN_MS: u64 = 3_000;
const DECIDE_MS: u64 = 4_000;
const VOTE_MS: u64 = 3_000;

/// A site is asked again about so many transactions at most, at the end.
const ASKED_AGAIN: usize = 3;

/// What a client does next in the transaction; the number counts its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Begin,
    Decide,
    Vote(u8),
    Decided(u8),
    Done,
}

#[derive(Debug)]
struct Party {
    part: Part,
    busy: bool,
    /// Transactions whose decision it has not reported, oldest first.
    unreported: Vec<String>,
    /// After recovery: those that it is still to be asked about.
    again: Vec<String>,
}

/// The generator of two-phase commits.
#[derive(Debug)]
pub struct Commit {
    planned: Vec<Transaction>,
    current: Transaction,
    /// Number of the current transaction, from 1.
    number: u64,
    begun: bool,
    parties: Vec<Party>,
    /// After recovery: whether its own transaction was begun, and the time for a last answer.
    recovered: bool,
    last_begun: bool,
    last_ms: u64,
    /// Whether the current transaction certainly never began, and another one takes its place.
    void: bool,
}

impl Commit {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
        let party = |_| Party {
            part: Part::Done,
            busy: false,
            unreported: Vec::new(),
            again: Vec::new(),
        };
        Self {
            planned: plan.transactions.clone(),
            current: Transaction::default(),
            number: 0,
            begun: false,
            parties: (0..plan.clients.len()).map(party).collect(),
            recovered: false,
            last_begun: false,
            last_ms: 0,
            void: false,
        }
    }

    fn name(&self) -> String {
        format!("t{}", self.number)
    }

    fn sites(&self) -> usize {
        self.parties.len() - 1
    }

    fn all_done(&self) -> bool {
        self.parties.iter().all(|party| party.part == Part::Done && !party.busy)
    }

    /// Begins the next transaction, when the last one has ended and the phase allows it.
    fn turn(&mut self, phase: Phase) {
        let sites = self.sites();
        self.current = match phase {
            _ if !self.all_done() => return,
            Phase::Load if !self.planned.is_empty() => self.planned[self.number as usize % self.planned.len()].clone(),
            Phase::Final if self.recovered && !self.last_begun => {
                self.last_begun = true;
                Transaction {
                    votes: vec![true; sites],
                    work_ms: vec![0; sites],
                    early: true,
                }
            }
            _ => return,
        };
        self.number += 1;
        (self.begun, self.void) = (false, false);
        let name = self.name();
        for (client, party) in self.parties.iter_mut().enumerate() {
            party.part = if client == 0 { Part::Begin } else { Part::Vote(0) };
            if client > 0 {
                party.unreported.push(name.clone());
            }
        }
    }

    fn all_voted(&self) -> bool {
        self.parties[1..].iter().all(|site| !matches!(site.part, Part::Vote(_)))
    }

    fn coordinator(&mut self) -> Option<Request> {
        let transaction = commit::Transaction {
            tx: self.name(),
            sites: (1..self.parties.len())
                .map(|client| format!("c{}", client + 1))
                .collect(),
            payload: self.number.into(),
        };
        match self.parties[0].part {
            Part::Begin => {
                self.begun = true;
                Some(Request::new(&commit::Request::Begin(transaction), BEGIN_MS))
            }
            Part::Decide if self.current.early || self.all_voted() => {
                Some(Request::new(&commit::Request::Decide(transaction), DECIDE_MS))
            }
            _ => None,
        }
    }

    fn site(&mut self, client: usize) -> Option<Request> {
        let tx = self.name();
        match self.parties[client].part {
            Part::Vote(_) if self.begun => {
                let vote = if self.current.votes[client - 1] {
                    Vote::Yes
                } else {
                    Vote::No
                };
                let work_ms = self.current.work_ms[client - 1];
                let request = commit::Request::Vote { tx, vote, work_ms };
                Some(Request::new(&request, VOTE_MS + work_ms))
            }
            Part::Decided(_) => Some(decided(tx, DECIDE_MS)),
            _ => None,
        }
    }

    /// At the end, when the last transaction is over: what the site has not reported.
    fn again(&mut self, client: usize) -> Option<Request> {
        if !self.last_begun || !self.all_but_again() {
            return None;
        }
        let tx = self.parties[client].again.first()?.clone();
        Some(decided(tx, self.last_ms))
    }

    fn all_but_again(&self) -> bool {
        self.parties.iter().all(|party| party.part == Part::Done)
    }

    /// The last transaction certainly never began: there is to be another one, and nobody is asked about this one any more.
    fn give_up(&mut self) {
        (self.void, self.last_begun) = (true, false);
        let idle = self.parties.iter_mut().filter(|party| !party.busy);
        idle.for_each(|party| party.part = Part::Done);
    }

    /// The end of an operation that was not answered `ok`; `known` if it certainly did not happen.
    fn next_part(&mut self, client: usize, known: bool) {
        let part = &mut self.parties[client].part;
        *part = match *part {
            Part::Vote(0) if !known => Part::Vote(1),
            Part::Vote(_) => Part::Decided(0),
            Part::Decided(0) => Part::Decided(1),
            _ => Part::Done,
        };
    }
}

/// Asks a site for the decision, which it may have to wait for.
fn decided(tx: String, timeout_ms: u64) -> Request {
    Request::new(&commit::Request::Decided { tx }, timeout_ms)
}

impl Generator for Commit {
    fn next(&mut self, client: usize, Moment { phase, .. }: Moment) -> Next {
        if phase == Phase::Quiet {
            return Next::Nothing;
        }
        self.turn(phase);
        let request = match client {
            0 => self.coordinator(),
            _ => self.site(client).or_else(|| self.again(client)),
        };
        self.parties[client].busy = request.is_some();
        request.map_or(Next::Nothing, Next::Ask)
    }

    fn coordinates(&self) -> bool {
        true
    }

    fn ended(&mut self, client: usize, op: &Op, end: &End, Moment { phase, .. }: Moment) -> Duration {
        self.parties[client].busy = false;
        let last = phase == Phase::Final && self.last_begun;
        let tx = end.get(commit::TX).map_or_else(|| self.name(), str::to_string);
        let at_the_end = self.parties[client].part == Part::Done;
        match op.f {
            "begin" if end.kind == EventType::Fail => {
                self.parties[0].part = Part::Done;
                // Nobody is asked at the end about a transaction that never was.
                self.parties
                    .iter_mut()
                    .for_each(|party| party.unreported.retain(|other| *other != tx));
                if last {
                    self.give_up();
                }
            }
            "begin" => self.parties[0].part = Part::Decide,
            "decided" if end.is_ok() => {
                self.parties[client].unreported.retain(|other| *other != tx);
                self.parties[client].part = Part::Done;
            }
            "vote" if end.is_ok() => self.parties[client].part = Part::Decided(0),
            // Whatever the decision is, it is to be known in the end.
            "decide" | "decided" if last && !end.is_ok() => {}
            _ => self.next_part(client, end.kind == EventType::Fail),
        }
        if self.void {
            self.parties[client].part = Part::Done;
        }
        if at_the_end && !self.parties[client].again.is_empty() {
            let asked = self.parties[client].again.remove(0);
            if last && !end.is_ok() {
                self.parties[client].again.push(asked);
            }
        }
        if phase == Phase::Final && !end.is_ok() {
            FINAL_AGAIN
        } else {
            Duration::ZERO
        }
    }

    fn died(&mut self, client: usize) {
        let party = &mut self.parties[client];
        if !std::mem::take(&mut party.busy) {
            return;
        }
        if client == 0 {
            // Never asked twice: who recovers what it left is up to the variant.
            party.part = Part::Done;
        } else {
            self.next_part(client, false);
        }
    }

    fn recovered(&mut self, bound: Duration) {
        (self.recovered, self.last_begun) = (true, false);
        self.last_ms = bound.as_millis() as u64 + 2_000;
        for party in &mut self.parties {
            party.again = party.unreported.iter().take(ASKED_AGAIN).cloned().collect();
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.last_begun && self.all_but_again() && self.parties[client].again.is_empty()
    }
}
