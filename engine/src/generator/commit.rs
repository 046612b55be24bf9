//! Two-phase commit: `c1` coordinates, all others are sites, one transaction after the other.
//! `docs/families/commit.md`.

mod duty;
mod operation_ends;
mod queries;

use super::{
    AFTER_BOUND_MS, Assignment, FINAL_AGAIN, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase,
    OperationRequest, single_ms,
};
use crate::operation::{Completion, PendingOp};
use duty::CommitDuty;
use queries::{DecisionQueries, QueryTimes};
use std::collections::HashSet;
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::commit::{self, Vote};
use zooquake_history::plan::{Plan, PlannedTransaction};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &commit::FAMILY,
    generator: |plan| Box::new(Commit::new(plan)),
};

/// How long a site has to learn the decision, which others have to make meanwhile.
const DECIDE: Duration = Duration::from_secs(4);
const DECIDE_MS: u64 = DECIDE.as_millis() as u64;

#[derive(Debug)]
struct CommitClient {
    duty: CommitDuty,
    busy: bool,
    /// Transactions whose decision it has not reported, oldest first.
    unreported: Vec<String>,
    /// After recovery: those that it is still to be asked about.
    queries: DecisionQueries,
}

/// The generator of two-phase commits.
#[derive(Debug)]
pub struct Commit {
    planned: Vec<PlannedTransaction>,
    current: PlannedTransaction,
    /// Number of the current transaction, from 1.
    number: u64,
    begun: bool,
    parties: Vec<CommitClient>,
    /// After recovery: whether its own transaction was begun.
    last_begun: bool,
    /// Transactions that certainly began.
    sure: HashSet<String>,
    /// How long a site may take to come to a decision in a coordinator's place.
    session: Duration,
    /// What was answered: of it is made the bound of liveness of a question.
    answered: AnsweredDurations,
    /// Whether another transaction takes the place of the current one, which by its answers never began.
    void: bool,
    single_ms: u64,
}

impl Commit {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
        let party = |_| CommitClient {
            duty: CommitDuty::Done,
            busy: false,
            unreported: Vec::new(),
            queries: DecisionQueries::default(),
        };
        Self {
            planned: plan.transactions.clone(),
            current: PlannedTransaction::default(),
            number: 0,
            begun: false,
            parties: (0..plan.clients.len()).map(party).collect(),
            last_begun: false,
            sure: HashSet::new(),
            session: Duration::from_millis(plan.cluster.timing.session_ms),
            answered: AnsweredDurations::default(),
            void: false,
            single_ms: single_ms(plan),
        }
    }

    fn name(&self) -> String {
        format!("t{}", self.number)
    }

    fn all_done(&self) -> bool {
        let done =
            |party: &CommitClient| party.duty == CommitDuty::Done && (!party.busy || party.queries.asking.is_some());
        self.parties.iter().all(done)
    }

    /// Begins the next transaction, when the last one has ended and the phase allows it.
    fn turn(&mut self, phase: GeneratorPhase) {
        let sites = self.parties.len() - 1;
        self.current = match phase {
            _ if !self.all_done() => return,
            GeneratorPhase::Load if !self.planned.is_empty() => {
                self.planned[self.number as usize % self.planned.len()].clone()
            }
            GeneratorPhase::Final if !self.last_begun => {
                self.last_begun = true;
                PlannedTransaction {
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
        self.parties[0].duty = CommitDuty::Begin;
        for site in &mut self.parties[1..] {
            site.duty = CommitDuty::Vote(0);
            site.unreported.push(name.clone());
        }
    }

    fn all_voted(&self) -> bool {
        self.parties[1..]
            .iter()
            .all(|site| !matches!(site.duty, CommitDuty::Vote(_)))
    }

    fn coordinator(&mut self) -> Option<OperationRequest> {
        let transaction = commit::TransactionZnode {
            tx: self.name(),
            sites: (1..self.parties.len())
                .map(|client| format!("c{}", client + 1))
                .collect(),
            payload: self.number.into(),
        };
        match self.parties[0].duty {
            CommitDuty::Begin => {
                self.begun = true;
                Some(OperationRequest::new(
                    &commit::CommitRequest::Begin(transaction),
                    self.single_ms,
                ))
            }
            CommitDuty::Decide if self.current.early || self.all_voted() => Some(OperationRequest::new(
                &commit::CommitRequest::Decide(transaction),
                self.single_ms,
            )),
            _ => None,
        }
    }

    fn site(&mut self, client: usize) -> Option<OperationRequest> {
        let tx = self.name();
        match self.parties[client].duty {
            CommitDuty::Vote(_) if self.begun => {
                let vote = if self.current.votes[client - 1] {
                    Vote::Yes
                } else {
                    Vote::No
                };
                let work_ms = self.current.work_ms[client - 1];
                let request = commit::CommitRequest::Vote { tx, vote, work_ms };
                Some(OperationRequest::new(&request, self.single_ms + work_ms))
            }
            CommitDuty::Decided(_) => Some(decided(tx, DECIDE_MS)),
            _ => None,
        }
    }

    /// How long sites have to answer after recovery.
    fn query_times(&self) -> QueryTimes {
        let bound = self.answered.bound("decided");
        QueryTimes {
            one: DECIDE.max(self.session * 2),
            alone: bound + Duration::from_millis(AFTER_BOUND_MS),
            bound,
        }
    }

    /// At the end: what the site has not reported.
    fn question(&mut self, client: usize, now: Duration) -> Option<OperationRequest> {
        let party = &mut self.parties[client];
        if !self.last_begun || party.duty != CommitDuty::Done {
            return None;
        }
        let (tx, time) = party.queries.ask(now)?;
        Some(decided(tx, time.as_millis() as u64))
    }
}

/// Asks a site for the decision, which it may have to wait for.
fn decided(tx: String, timeout_ms: u64) -> OperationRequest {
    OperationRequest::new(&commit::CommitRequest::Decided { tx }, timeout_ms)
}

impl Generator for Commit {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        if phase == GeneratorPhase::Quiet {
            return Assignment::Nothing;
        }
        self.turn(phase);
        let request = match client {
            0 => self.coordinator(),
            _ => self.site(client).or_else(|| self.question(client, now)),
        };
        self.parties[client].busy = request.is_some();
        request.map_or(Assignment::Nothing, Assignment::Ask)
    }

    fn coordinates(&self) -> bool {
        true
    }

    fn ended(
        &mut self,
        client: usize,
        op: &PendingOp,
        end: &Completion,
        GeneratorMoment { phase, now }: GeneratorMoment,
    ) -> Duration {
        self.parties[client].busy = false;
        op.measure(end, now, &mut self.answered);
        let times = self.query_times();
        self.parties.iter_mut().for_each(|party| party.queries.times = times);
        let last = phase == GeneratorPhase::Final && self.last_begun;
        match self.parties[client].queries.asking.take() {
            Some(question) if end.is_ok() => {
                self.decided(&question.tx);
                self.reported(client, &question.tx);
            }
            Some(question) if self.void && question.tx == self.name() => {}
            Some(question) => self.parties[client].queries.again(question, Some(now)),
            _ if self.void => self.parties[client].duty = CommitDuty::Done,
            None if client == 0 => self.coordinated(op, end, last),
            None => self.answered(client, op, end, last),
        }
        if phase == GeneratorPhase::Final && !end.is_ok() {
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
        if let Some(question) = party.queries.asking.take() {
            party.queries.again(question, None);
        } else if client == 0 {
            // Never asked twice: who recovers what it left is up to the variant.
            party.duty = CommitDuty::Done;
        } else {
            party.duty.missed(false);
        }
    }

    fn recovered(&mut self, answered: &AnsweredDurations) {
        self.last_begun = false;
        self.answered = answered.clone();
        let times = self.query_times();
        for party in &mut self.parties {
            let unreported = party.unreported.iter();
            let unreported: Vec<(&str, bool)> = unreported.map(|tx| (tx.as_str(), self.sure.contains(tx))).collect();
            party.queries.about(&unreported);
            party.queries.times = times;
        }
    }

    fn unasked(&self, client: usize) -> bool {
        self.last_begun && self.parties[client].queries.unasked()
    }

    fn finished(&self, client: usize) -> bool {
        let all_done = self.parties.iter().all(|party| party.duty == CommitDuty::Done);
        self.last_begun && all_done && self.parties[client].queries.over()
    }
}
