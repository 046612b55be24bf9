//! Two-phase commit: `c1` coordinates, all others are sites, one transaction after the other.
//! `docs/families/commit.md`.

use super::{
    AFTER_BOUND_MS, Assignment, FINAL_AGAIN, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase,
    OperationRequest, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::collections::HashSet;
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::commit::{self, CommitRequest, TransactionZnode, Vote};
use zooquake_history::plan::{Plan, PlannedTransaction};
use zooquake_history::{EventType, Node};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &commit::FAMILY,
    generator: |plan| Box::new(Commit::new(plan)),
};

/// How long a site has to learn the decision, which others have to make meanwhile.
const DECIDE: Duration = Duration::from_secs(4);
const DECIDE_MS: u64 = DECIDE.as_millis() as u64;

/// Of the transactions that a site has not reported it is asked at the end about so many of the oldest, and about the
/// newest.
const OLDEST: usize = 3;

/// The generator of two-phase commits.
#[derive(Debug)]
struct Commit {
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
    fn new(plan: &Plan) -> Self {
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

    /// Whether nothing is left to do in the current transaction; sites may be asked about earlier ones.
    fn all_done(&self) -> bool {
        let mut parties = self.parties.iter();
        parties.all(|party| party.duty == CommitDuty::Done && (!party.busy || party.queries.asking.is_some()))
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
        let transaction = TransactionZnode {
            tx: self.name(),
            sites: (1..self.parties.len())
                .map(|client| Node::client(client + 1).to_string())
                .collect(),
            payload: self.number.into(),
        };
        let request = match self.parties[0].duty {
            CommitDuty::Begin => {
                self.begun = true;
                CommitRequest::Begin(transaction)
            }
            CommitDuty::Decide if self.current.early || self.all_voted() => CommitRequest::Decide(transaction),
            _ => return None,
        };
        Some(OperationRequest::new(&request, self.single_ms))
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
                let request = CommitRequest::Vote { tx, vote, work_ms };
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

    /// A client reported the decision.
    fn decided(&mut self, tx: &str) {
        self.parties.iter_mut().for_each(|party| party.queries.decided(tx));
    }

    /// The site is not asked about a transaction any more.
    fn reported(&mut self, client: usize, tx: &str) {
        let party = &mut self.parties[client];
        party.unreported.retain(|other| other != tx);
        party.queries.forget(tx);
    }

    /// The last transaction, by its answers, never began: there is to be another one, and nobody is asked about
    /// this one any more.
    fn give_up(&mut self) {
        let tx = self.name();
        (self.void, self.last_begun) = (true, false);
        for client in 0..self.parties.len() {
            self.reported(client, &tx);
            if !self.parties[client].busy {
                self.parties[client].duty = CommitDuty::Done;
            }
        }
    }

    /// What has become of the coordinator's `begin` or `decide`.
    fn coordinated(&mut self, op: &PendingOp, end: &Completion, last: bool) {
        match op.f {
            commit::f::BEGIN if end.kind == EventType::Fail => {
                self.parties[0].duty = CommitDuty::Done;
                let tx = end.get(commit::TX).map_or_else(|| self.name(), str::to_string);
                // Nobody is asked at the end about a transaction that never was.
                (0..self.parties.len()).for_each(|client| self.reported(client, &tx));
                if last {
                    self.give_up();
                }
            }
            commit::f::BEGIN => {
                if end.is_ok() {
                    self.sure.insert(self.name());
                }
                self.parties[0].duty = CommitDuty::Decide;
            }
            _ if end.is_ok() => {
                self.decided(&self.name());
                self.parties[0].duty = CommitDuty::Done;
            }
            // Whatever the decision is, every site is to report it in the end, unless there is nothing to decide.
            _ if last && (self.sure.contains(&self.name()) || !self.all_voted()) => {}
            _ if last => self.give_up(),
            _ => self.parties[0].duty = CommitDuty::Done,
        }
    }

    /// What has become of a site's `vote` or `decided`.
    fn answered(&mut self, client: usize, op: &PendingOp, end: &Completion, last: bool) {
        match op.f {
            commit::f::VOTE if end.is_ok() => {
                self.sure.insert(self.name());
                self.parties[client].duty = CommitDuty::Decided(0);
            }
            commit::f::DECIDED if end.is_ok() => {
                self.decided(&self.name());
                self.reported(client, &self.name());
                self.parties[client].duty = CommitDuty::Done;
            }
            _ => self.parties[client].duty.missed(end.kind == EventType::Fail),
        }
        // At the end it is one question among others.
        if last && matches!(self.parties[client].duty, CommitDuty::Decided(_)) {
            let tx = self.name();
            self.parties[client].duty = CommitDuty::Done;
            self.parties[client].queries.first(&tx, self.sure.contains(&tx));
        }
    }
}

/// Asks a site for the decision, which it may have to wait for.
fn decided(tx: String, timeout_ms: u64) -> OperationRequest {
    OperationRequest::new(&CommitRequest::Decided { tx }, timeout_ms)
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

#[derive(Debug)]
struct CommitClient {
    duty: CommitDuty,
    busy: bool,
    /// Transactions whose decision it has not reported, oldest first.
    unreported: Vec<String>,
    /// After recovery: those that it is still to be asked about.
    queries: DecisionQueries,
}

/// The next duty of a client in the current transaction; they follow each other. The number counts its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitDuty {
    Begin,
    Decide,
    Vote(u8),
    Decided(u8),
    Done,
}

impl CommitDuty {
    /// The duty's operation was not answered `ok`; `certain`: it certainly did not happen.
    fn missed(&mut self, certain: bool) {
        *self = match *self {
            Self::Vote(0) if !certain => Self::Vote(1),
            Self::Vote(_) => Self::Decided(0),
            Self::Decided(0) => Self::Decided(1),
            _ => Self::Done,
        };
    }
}

/// What a site is still to be asked about at the end: each decision that it has not reported, until it reports it.
#[derive(Debug, Default)]
struct DecisionQueries {
    /// The questions that are left, the next one first.
    left: Vec<DecisionQuery>,
    /// The question that the site is being asked.
    asking: Option<DecisionQuery>,
    /// How long the site has from now on.
    times: QueryTimes,
}

/// How long a site has to answer.
#[derive(Debug, Clone, Copy, Default)]
struct QueryTimes {
    /// For a question among others.
    one: Duration,
    /// For the only question.
    alone: Duration,
    /// The bound of liveness, over which a question among others is asked again.
    bound: Duration,
}

/// A question for the decision about a transaction.
#[derive(Debug)]
struct DecisionQuery {
    tx: String,
    /// Whether the transaction certainly began: only then it can be blocked.
    began: bool,
    /// Whether the question was asked since recovery.
    asked: bool,
    /// From when on the question was asked, and until when, since another client reported the decision. One that is
    /// asked for less than the bound has to be asked again to make that long enough.
    span: Option<(Duration, Duration)>,
    /// Whether the question is being asked and nothing else is to be asked.
    alone: bool,
}

impl DecisionQuery {
    fn new(tx: &str, began: bool) -> Self {
        Self {
            tx: tx.to_string(),
            began,
            asked: false,
            span: None,
            alone: false,
        }
    }

    /// Whether the question was asked for the bound.
    fn settled(&self, bound: Duration) -> bool {
        let lasted = self.span.map(|(first, last)| last.saturating_sub(first));
        lasted.is_some_and(|lasted| lasted >= bound)
    }
}

impl DecisionQueries {
    /// After recovery: about these transactions, each with whether it certainly began, oldest first, and what is being
    /// asked.
    fn about(&mut self, unreported: &[(&str, bool)]) {
        let newest = unreported.len().saturating_sub(1);
        let chosen = (0..unreported.len()).filter(|n| *n < OLDEST || *n == newest);
        let chosen = chosen.map(|n| unreported[n]).filter(|(tx, _)| !self.is_asking(tx));
        self.left = chosen.map(|(tx, began)| DecisionQuery::new(tx, began)).collect();
    }

    /// Adds a question, before all others.
    fn first(&mut self, tx: &str, began: bool) {
        self.left.insert(0, DecisionQuery::new(tx, began));
    }

    /// Asks the next one at a moment: the transaction, and the time to answer. Each is asked once, so that the site can
    /// report every decision that it has. Then those that certainly began are asked about in turn, or all if none did,
    /// until each was asked over the bound; a single one is asked for longer than that.
    fn ask(&mut self, now: Duration) -> Option<(String, Duration)> {
        let mut next = self.left.remove(self.next()?);
        (next.asked, next.alone) = (true, self.left.is_empty());
        next.span = next.span.or(Some((now, now)));
        let time = if next.alone { self.times.alone } else { self.times.one };
        let tx = next.tx.clone();
        self.asking = Some(next);
        Some((tx, time))
    }

    /// The place of the next question.
    fn next(&self) -> Option<usize> {
        let mut all = self.left.iter();
        let unasked = all.clone().position(|one| !one.asked);
        let any_began = all.clone().any(|one| one.began);
        unasked.or_else(|| all.position(|one| one.began >= any_began && !one.settled(self.times.bound)))
    }

    /// Asks the question again, after all others. It was answered at a moment; `None` if the site's process died over
    /// it, and the question has to begin anew.
    fn again(&mut self, mut question: DecisionQuery, at: Option<Duration>) {
        question.alone = false;
        // It begins later if another client reported the decision meanwhile.
        question.span = question.span.and_then(|(first, _)| Some((first, at?)));
        self.left.push(question);
    }

    /// The site is not asked about the transaction any more.
    fn forget(&mut self, tx: &str) {
        self.left.retain(|question| question.tx != tx);
    }

    /// Another client reported the decision: whether it reaches this one is another question than whether there is one.
    fn decided(&mut self, tx: &str) {
        let all = self.left.iter_mut().chain(&mut self.asking);
        for question in all.filter(|question| question.tx == tx) {
            question.span = None;
        }
    }

    /// Whether something is still to be asked, or is being asked that is.
    fn unasked(&self) -> bool {
        let open = |asking: &DecisionQuery| asking.alone || !asking.settled(self.times.bound);
        self.next().is_some() || self.asking.as_ref().is_some_and(open)
    }

    /// Whether nothing is left to ask.
    fn over(&self) -> bool {
        self.left.is_empty() && self.asking.is_none()
    }

    fn is_asking(&self, tx: &str) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.tx == tx)
    }
}

/// The end of two-phase commits: what is asked about transactions that nobody could decide, and when all of it was
/// asked.
#[cfg(test)]
mod tests {
    use super::super::tests::{CLIENTS, at, end, finished, op, plan};
    use super::*;
    use crate::generator::from_plan;
    use serde_json::json;

    const BOUND: Duration = Duration::from_secs(10);

    /// The generator after recovery. Before it no site received the decision of any transaction; `begun` states of each
    /// whether it certainly began.
    fn undecided(begun: &[bool]) -> Box<dyn Generator> {
        let mut plan = plan("commit/atomic");
        plan.transactions = vec![PlannedTransaction {
            votes: vec![true; CLIENTS - 1],
            work_ms: vec![10; CLIENTS - 1],
            early: true,
        }];
        let mut generator = from_plan(&plan).unwrap();
        begun.iter().for_each(|begun| leave_undecided(&mut *generator, *begun));
        generator.recovered(&AnsweredDurations::default());
        generator
    }

    /// Plays a transaction of which no decision is answered; where it is not known to have begun, nothing else is
    /// either.
    fn leave_undecided(generator: &mut dyn Generator, begun: bool) {
        let (phase, now) = (GeneratorPhase::Load, Duration::ZERO);
        let at = GeneratorMoment { phase, now };
        // Each site is asked twice.
        let mut left = 2 * (CLIENTS - 1);
        for client in (0..CLIENTS).cycle() {
            if let Assignment::Ask(request) = generator.next(client, at) {
                left -= usize::from(request.f == "decided");
                let known = begun && !request.f.starts_with("decide");
                let kind = if known { EventType::Ok } else { EventType::Info };
                let end = end(kind, request.value.clone());
                generator.ended(client, &op(request, at.now), &end, at);
            }
            if left == 0 {
                return;
            }
        }
    }

    /// What the site is asked at the end, while all sites have these decisions only, and all else is answered. A site
    /// that cannot takes all its time. Each with that time.
    fn asked(generator: &mut dyn Generator, site: usize, knows: &[&str], turns: usize) -> Vec<(String, u64)> {
        let (mut asked, mut now) = (Vec::new(), Duration::ZERO);
        for _ in 0..turns {
            let begun = now;
            for client in 0..CLIENTS {
                let Assignment::Ask(request) = generator.next(client, at(begun)) else {
                    continue;
                };
                let tx = request.value["tx"].as_str().unwrap_or_default().to_string();
                let known = request.f != "decided" || knows.contains(&tx.as_str());
                let time = request.timeout_ms.unwrap();
                if client == site && request.f == "decided" {
                    asked.push((tx.clone(), time));
                }
                let kind = if known { EventType::Ok } else { EventType::Info };
                let ended = begun + Duration::from_millis(if known { 0 } else { time });
                now = now.max(ended);
                let (op, end) = (op(request, begun), end(kind, json!({ "tx": tx })));
                generator.ended(client, &op, &end, at(ended));
            }
        }
        asked
    }

    fn told(asked: &[(String, u64)]) -> Vec<(&str, u64)> {
        asked.iter().map(|(tx, ms)| (tx.as_str(), *ms)).collect()
    }

    #[test]
    fn every_decision_is_asked_for_in_turn_until_each_was_asked_for_twice_over_the_bound() {
        let mut generator = undecided(&[true; 3]);
        let all = asked(&mut *generator, 1, &["t2", "t4"], 3);
        assert!(generator.unasked(1), "{all:?}");
        let expected = ["t4", "t1", "t2", "t3", "t1", "t3"].map(|tx| (tx, 4_000));
        let mut generator = undecided(&[true; 3]);
        let all = asked(&mut *generator, 1, &["t2", "t4"], 20);
        assert_eq!(told(&all), expected);
        assert!(!generator.unasked(1) && !generator.finished(1), "{all:?}");
    }

    #[test]
    fn one_that_never_began_as_far_as_is_known_takes_no_time_from_one_that_did() {
        let mut generator = undecided(&[false, true]);
        let all = asked(&mut *generator, 1, &["t3"], 20);
        let expected = ["t3", "t1", "t2", "t2", "t2"].map(|tx| (tx, 4_000));
        assert_eq!(told(&all), expected, "from 4 s to 16 s, where 10 s are the bound");
        assert!(!generator.unasked(1) && !generator.finished(1));
        // Where none certainly began, one of them may have all the same.
        let mut generator = undecided(&[false, false]);
        let all = asked(&mut *generator, 1, &["t3"], 20);
        assert_eq!(told(&all)[1..], ["t1", "t2", "t1", "t2"].map(|tx| (tx, 4_000)));
    }

    #[test]
    fn a_single_decision_is_asked_for_longer_than_the_bound() {
        for begun in [true, false] {
            let mut generator = undecided(&[begun]);
            let all = asked(&mut *generator, 1, &["t2"], 20);
            assert_eq!(told(&all), [("t2", 4_000), ("t1", 12_000)]);
            assert!(!generator.unasked(1) && !generator.finished(1));
        }
    }

    #[test]
    fn a_decision_is_asked_for_over_the_bound_that_the_answers_give_also_those_after_recovery() {
        let mut generator = undecided(&[true]);
        asked(&mut *generator, 1, &["t2"], 20);
        assert!(!generator.unasked(1));
        // Two answers took no time, and now three take 4 s each.
        let request = OperationRequest::new(&CommitRequest::Decided { tx: "t2".to_string() }, 4_000);
        let (late, end) = (op(request, BOUND), end(EventType::Ok, json!({ "tx": "t2" })));
        let ended = BOUND + Duration::from_secs(4);
        for _ in 0..3 {
            generator.ended(2, &late, &end, at(ended));
        }
        assert!(generator.unasked(1));
        let Assignment::Ask(request) = generator.next(1, at(ended)) else {
            panic!("it is asked about t1 again")
        };
        assert_eq!((&request.value["tx"], request.timeout_ms), (&json!("t1"), Some(42_000)));
    }

    #[test]
    fn a_site_has_two_session_timeouts_for_a_question() {
        let mut plan = plan("commit/atomic");
        plan.cluster.timing.session_ms = 4_000;
        plan.transactions = vec![PlannedTransaction::default()];
        plan.transactions[0].votes = vec![true; CLIENTS - 1];
        plan.transactions[0].work_ms = vec![0; CLIENTS - 1];
        let mut generator = from_plan(&plan).unwrap();
        (0..2).for_each(|_| leave_undecided(&mut *generator, true));
        generator.recovered(&AnsweredDurations::default());
        let all = asked(&mut *generator, 1, &["t3"], 20);
        assert_eq!(told(&all), ["t3", "t1", "t2", "t1", "t2"].map(|tx| (tx, 8_000)));
    }

    #[test]
    fn of_many_transactions_a_site_is_asked_about_the_oldest_and_the_newest() {
        let mut generator = undecided(&[true; 6]);
        let all = ["t1", "t2", "t3", "t4", "t5", "t6", "t7"];
        let asked = asked(&mut *generator, 1, &all, 10);
        let asked: Vec<&str> = told(&asked).into_iter().map(|(tx, _)| tx).collect();
        assert_eq!(asked, ["t7", "t1", "t2", "t3", "t6"]);
        assert!(finished(&*generator));
    }

    #[test]
    fn a_site_is_asked_for_a_decision_that_another_was_told_as_often_again() {
        let mut generator = undecided(&[true; 2]);
        let first = asked(&mut *generator, 1, &["t3"], 4);
        assert_eq!(told(&first)[1..], [("t1", 4_000), ("t2", 4_000)]);
        // The other one is asked for t1, too, and knows it now; it is 8 s.
        let ask = generator.next(2, at(Duration::from_secs(8)));
        let Assignment::Ask(request) = ask else {
            panic!("{ask:?}")
        };
        assert_eq!(request.value["tx"], "t1");
        let known = end(EventType::Ok, json!({ "tx": "t1" }));
        generator.ended(2, &op(request, BOUND), &known, at(Duration::from_secs(8)));
        let mut now = Duration::from_secs(8);
        let mut of_first = 0;
        while let Assignment::Ask(request) = generator.next(1, at(now)) {
            let tx = request.value["tx"].clone();
            of_first += usize::from(tx == "t1");
            now += Duration::from_millis(request.timeout_ms.unwrap());
            let unknown = end(EventType::Info, json!({ "tx": tx }));
            generator.ended(1, &op(request, BOUND), &unknown, at(now));
        }
        assert!(of_first >= 2, "{of_first}");
    }

    #[test]
    fn who_died_over_a_question_is_asked_it_anew() {
        let mut generator = undecided(&[true; 2]);
        asked(&mut *generator, 1, &["t3"], 4);
        let mut asks = Vec::new();
        for seconds in [8, 12, 16, 20, 24, 28] {
            let now = Duration::from_secs(seconds);
            let Assignment::Ask(request) = generator.next(1, at(now)) else {
                break;
            };
            asks.push(request.value["tx"].as_str().unwrap().to_string());
            match seconds {
                8 => generator.died(1),
                _ => {
                    let end = end(EventType::Info, request.value.clone());
                    generator.ended(1, &op(request, now), &end, at(now + Duration::from_secs(4)));
                }
            }
        }
        assert_eq!(asks, ["t1", "t2", "t1", "t1", "t1"], "t1 from 16 s on");
    }

    /// What the coordinator is asked when its `begin` ends so, and no site can vote on that transaction if `lost`.
    fn closing(kind: EventType, lost: bool) -> Vec<String> {
        let mut generator = undecided(&[]);
        let mut told = Vec::new();
        for _ in 0..12 {
            for client in 0..CLIENTS {
                let Assignment::Ask(request) = generator.next(client, at(Duration::ZERO)) else {
                    continue;
                };
                let tx = request.value["tx"].as_str().unwrap().to_string();
                let first = tx == "t1";
                if client == 0 {
                    told.push(format!("{} {tx}", request.f));
                }
                let kind = match request.f {
                    "begin" if first => kind,
                    "decide" if first && told.len() < 5 => EventType::Info,
                    _ if first && lost => EventType::Info,
                    _ => EventType::Ok,
                };
                let (op, end) = (op(request, Duration::ZERO), end(kind, json!({ "tx": tx })));
                generator.ended(client, &op, &end, at(Duration::ZERO));
            }
        }
        assert!(finished(&*generator), "{told:?}");
        told
    }

    #[test]
    fn a_closing_transaction_that_never_began_as_far_as_is_known_is_followed_by_another() {
        let told = closing(EventType::Info, true);
        assert_eq!(told[..2], ["begin t1", "decide t1"]);
        let another = ["begin t2", "decide t2"];
        assert_eq!(told[told.len() - 2..], another, "{told:?}");
        assert_eq!(closing(EventType::Fail, true), ["begin t1", "begin t2", "decide t2"]);
    }

    #[test]
    fn a_closing_transaction_that_somebody_voted_on_is_decided() {
        let told = closing(EventType::Info, false);
        assert_eq!(told, ["begin t1", "decide t1", "decide t1", "decide t1", "decide t1"]);
    }
}
