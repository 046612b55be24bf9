//! The clients of a run: each is given its next operation, and what its process writes is taken. That decides who
//! holds, what becomes of the resource, and whether the run proves anything.

pub mod control;
mod holds;
mod process;
pub mod worker;

use crate::context::{Deadline, RunContext};
use crate::effect::{Effect, HistoryEntry};
use crate::generator::{self, Assignment, Generator, GeneratorMoment, GeneratorPhase, OperationRequest, UnknownFamily};
use crate::operation::{Completion, EndedAttempt, OpKind, PendingOp, RefusalChain};
use control::ControlRequest;
use holds::Holds;
use serde_json::{Value, json};
use std::time::Duration;
use worker::Worker;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::SESSION;
use zooquake_history::operation::control::{Hello, SESSIONS, STATE, UNASKED, UnaskedAnswer};
use zooquake_history::operation::grant::{ACCEPTED, GRANT, MODE, TOKEN, VALUE};
use zooquake_history::plan::{Plan, Resource};
use zooquake_history::protocol::{ClientLimit, Message, Outcome, ProcessOutput};
use zooquake_history::{EventType, Node};

/// How long clients have for their first session, while no fault is on.
const FIRST_SESSION: Duration = Duration::from_secs(10);

/// All clients, what they hold and what they are given to do.
#[derive(Debug)]
pub struct Clients {
    pub workers: Vec<Worker>,
    pub holds: Holds,
    pub generator: Box<dyn Generator>,
    /// The operations that clients are given.
    phase: GeneratorPhase,
    pub resource: ExternalResource,
    pub first_session: FirstSession,
    /// The durations of the operations that were answered `ok`.
    answered: AnsweredDurations,
    /// The number of operations that were answered.
    pub completed: u64,
    /// The number of the request that was sent last.
    last_request: u64,
}

impl Clients {
    /// The clients of a plan, none of which was started.
    ///
    /// # Errors
    /// If the plan's family has no generator.
    pub fn new(plan: &Plan) -> Result<Self, UnknownFamily> {
        let count = plan.cluster.clients;
        Ok(Self {
            workers: (0..count).map(Worker::new).collect(),
            holds: Holds::new(count, plan.workload.capabilities().capacity, plan.workload.lease_term()),
            generator: generator::from_plan(plan)?,
            phase: GeneratorPhase::Quiet,
            resource: ExternalResource::default(),
            first_session: FirstSession::default(),
            answered: AnsweredDurations::default(),
            completed: 0,
            last_request: 0,
        })
    }

    /// Clients are given no more operations: what is asked of them now is not the generator's.
    pub fn rest(&mut self) {
        self.phase = GeneratorPhase::Quiet;
    }

    /// Begins a phase of the run, in which clients are given these operations.
    pub fn enter(&mut self, run: &mut RunContext, name: &'static str, phase: GeneratorPhase) {
        run.phase = name;
        self.phase = phase;
        run.emit(Effect::Entered(name));
        run.record(HistoryEntry::named("run", "phase", json!(name)));
        for worker in self.workers.iter_mut().filter(|worker| worker.is_idle()) {
            worker.due = worker.due.or(Some(run.now));
        }
    }

    /// Does all that is due: starts, control requests, next operations.
    pub fn act(&mut self, run: &mut RunContext) {
        for number in 0..self.workers.len() {
            let due = self.workers[number].process.restart_due();
            if due.is_some_and(|due| due <= run.now) {
                self.start(run, number);
            }
        }
        self.confirm_holders(run);
        for number in 0..self.workers.len() {
            let worker = &mut self.workers[number];
            if worker.is_idle() && worker.due.is_some_and(|due| due <= run.now) {
                worker.due = None;
                self.assign(run, number);
            }
        }
    }

    /// The moment at which something is due, if nothing happens before; `None` if nothing is.
    pub fn due(&self, run: &RunContext) -> Option<Duration> {
        let idle = self.workers.iter().filter(|worker| worker.is_idle());
        let ops = idle.filter_map(|worker| worker.due);
        let restarts = self.workers.iter().filter_map(|worker| worker.process.restart_due());
        let all = ops.chain(restarts).chain(self.confirm_due(run));
        all.chain(self.first_session.due(run)).min()
    }

    /// Takes what was read from a client's process; returns whether that has ended by itself. A process wrote all its
    /// output before its end, so only a second end could come from an earlier one.
    pub fn read(&mut self, run: &mut RunContext, number: usize, incarnation: u64, output: ProcessOutput) -> bool {
        if self.workers[number].process.incarnation != incarnation {
            return false;
        }
        match output {
            ProcessOutput::Line(line) => match serde_json::from_str(&line) {
                Ok(message) => self.message(run, number, message),
                Err(error) => {
                    let client = &self.workers[number].node;
                    let why =
                        format!("client {client} wrote a line that is not a message of the protocol: {line}: {error}");
                    run.broken(number, why);
                }
            },
            ProcessOutput::Message(message) => self.message(run, number, message),
            ProcessOutput::Ended => {
                self.end(run, number);
                return !self.workers[number].process.killed;
            }
        }
        false
    }

    fn message(&mut self, run: &mut RunContext, number: usize, message: Message) {
        let worker = &mut self.workers[number];
        let of_work = |id: u64| worker.op.as_ref().is_some_and(|op| op.id == id);
        let working = matches!(message, Message::Reply { id, .. } if of_work(id));
        self.first_session.take(&message, working);
        match message {
            Message::Hello {
                pid,
                session,
                cannot,
                kit,
                ..
            } => {
                let incarnation = worker.process.incarnation;
                let hello = Hello {
                    pid,
                    incarnation,
                    session,
                    cannot,
                    kit,
                };
                self.greet(run, number, &hello);
            }
            Message::Notice { notice, value } => {
                let grant = GRANT.read_from(&value).filter(|_| notice == "lost");
                let lost = grant.is_some_and(|grant| self.holds.is_holder_of(number, grant));
                let cut = self.phase == GeneratorPhase::Load && STATE.read_from(&value) == Some("disconnected");
                if cut && worker.op.is_none() {
                    let rested = run.now + self.generator.rest_at_cut(number);
                    worker.due = worker.due.map(|due| due.max(rested));
                }
                run.record(HistoryEntry::of_client(&worker.node, &notice, value));
                if lost {
                    self.end_hold(run, number);
                }
            }
            Message::Reply {
                id,
                outcome,
                value,
                error,
            } => {
                if worker.op.as_ref().is_some_and(|op| op.id == id) {
                    self.complete(run, number, Completion::from_reply(outcome, value, error));
                } else if let Some(f) = worker.control.remove(&id) {
                    let client = number;
                    let request = ControlRequest { client, id, f };
                    self.complete_control(run, &request, Completion::from_reply(outcome, value, error));
                } else {
                    let answer = json!(UnaskedAnswer { id, outcome, value });
                    let mut entry = HistoryEntry::of_client(&worker.node, UNASKED, answer);
                    entry.error = error;
                    run.record(entry);
                }
            }
        }
    }

    /// The harness stood still, and what waited unread meanwhile was not free time: the time that counts for liveness
    /// begins anew.
    pub fn restart_free_time(&mut self) {
        self.holds.restart_free_time();
        self.workers.iter_mut().for_each(|worker| worker.refusals = None);
        let pending = self.workers.iter_mut().filter_map(|worker| worker.op.as_mut());
        pending.for_each(|op| op.free_at = Duration::ZERO);
    }

    /// The number of clients that were asked for an operation and have not answered it.
    pub fn waiting(&self) -> usize {
        self.workers.iter().filter(|worker| worker.op.is_some()).count()
    }

    /// The first client that holds.
    pub fn holder(&self) -> Option<&Node> {
        self.holds.holder().map(|number| &self.workers[number].node)
    }

    /// Lets the clocks of free time run until this moment.
    pub fn pass_free_time(&mut self, run: &RunContext, now: Duration) {
        let acquires = |worker: &&Worker| worker.op.as_ref().is_some_and(|op| op.kind == OpKind::Acquire);
        let waiting = self.workers.iter().filter(acquires).map(|worker| worker.number);
        self.holds.pass(run.now, now - run.now, waiting);
    }

    /// Asks the client for its next operation, if it has one.
    fn assign(&mut self, run: &mut RunContext, number: usize) {
        let phase = match (self.phase, self.has_done_its_own(&run.plan, number)) {
            // It only ends what it has begun.
            (GeneratorPhase::Load, true) => GeneratorPhase::Drain,
            (phase, _) => phase,
        };
        let next = self.generator.next(number, GeneratorMoment { phase, now: run.now });
        self.workers[number].awaits = matches!(next, Assignment::Await(_));
        match next {
            Assignment::Ask(request) if self.withholds(run, number, request.f) => {}
            Assignment::Ask(request) => self.ask(run, number, request),
            Assignment::Wait(time) | Assignment::Await(time) => self.workers[number].due = Some(run.now + time),
            Assignment::Nothing => {}
        }
    }

    /// Asks the client for this operation.
    pub fn ask(&mut self, run: &mut RunContext, number: usize, request: OperationRequest) {
        let kind = OpKind::in_family(&run.plan.workload.family, request.f);
        if kind == OpKind::Acquire {
            self.holds
                .ask(number, MODE.read_from(&request.value).unwrap_or_default());
        }
        let op = PendingOp {
            id: self.request_id(),
            f: request.f,
            kind,
            grant: request.grant,
            work_ms: request.work_ms,
            since: run.now,
            free_at: self.holds.free_time(number),
        };
        self.workers[number].send(run, op, request.value, request.timeout_ms);
        if kind == OpKind::Release {
            // The hold ends here for the history, whatever becomes of the release.
            self.end_hold(run, number);
        }
    }

    fn request_id(&mut self) -> u64 {
        self.last_request += 1;
        self.last_request
    }

    /// Whether this operation gives back what the client has still to confirm. It is asked for again when that is done,
    /// and one that could not confirm is asked to work meanwhile.
    fn withholds(&mut self, run: &mut RunContext, number: usize, f: &str) -> bool {
        if OpKind::in_family(&run.plan.workload.family, f) != OpKind::Release {
            return false;
        }
        let Some(until) = self.holds.withhold(run, number) else {
            return false;
        };
        self.workers[number].due = Some(until);
        let work = self.holds.must_work(number).then(|| self.generator.work(number));
        if let Some(work) = work.flatten() {
            self.holds.works(number);
            self.ask(run, number, work);
        }
        true
    }

    /// Looks at every idle client again, if what one may do depends on others.
    fn wake_others(&mut self, run: &RunContext) {
        if !self.generator.coordinates() {
            return;
        }
        for worker in self.workers.iter_mut().filter(|worker| worker.is_idle()) {
            worker.due = worker.due.filter(|_| !worker.awaits).or(Some(run.now));
        }
    }

    /// A hold has ended for the history.
    fn end_hold(&mut self, run: &RunContext, number: usize) {
        if self.holds.end(number) {
            self.workers[number].due = Some(run.now);
        }
    }

    /// The operation of a client was answered.
    fn complete(&mut self, run: &mut RunContext, number: usize, reply: Completion) {
        let Some(op) = self.workers[number].op.take() else {
            return;
        };
        self.completed += 1;
        let answered = reply.is_ok();
        let end = self.use_resource(&run.plan, &op, reply);
        let clients = self.workers.len() as u64;
        let worker = &mut self.workers[number];
        worker.record_completion(run, &op, end.kind, end.value.clone(), end.error.clone());
        if end.kind == EventType::Info {
            worker.logical_process += clients;
        }
        op.measure(&end, run.now, &mut self.answered);
        // A write that the resource refused was one of a client that believes to hold.
        let works = matches!(op.kind, OpKind::Read | OpKind::Write);
        let not_held = works && end.kind == EventType::Fail && !answered;
        if op.kind == OpKind::Acquire && end.kind != EventType::Fail {
            self.holds.may_last(run.now);
        }
        if op.kind == OpKind::Acquire && end.is_ok() {
            self.holds.grant(number, &op.grant, self.last_request);
            self.workers[number].granted = Some(run.now);
        } else if not_held && self.holds.is_holder_of(number, &op.grant) {
            self.end_hold(run, number);
        }
        let (phase, now) = (self.phase, run.now);
        let pause = self.generator.ended(number, &op, &end, GeneratorMoment { phase, now });
        if self.generator.frees(&op, &end) {
            let pending = self
                .workers
                .iter_mut()
                .filter_map(|worker| Some((worker.number, worker.op.as_mut()?)));
            pending.for_each(|(waiting, op)| op.free_at = self.holds.free_time(waiting));
        }
        let attempt = EndedAttempt {
            op: &op,
            mode: self.holds.mode(number),
            now,
            free: self.holds.free_times(),
        };
        let worker = &mut self.workers[number];
        worker.failing = phase == GeneratorPhase::Final && !end.is_ok();
        let last = worker.refusals.take().filter(|_| worker.failing);
        worker.refusals = worker.failing.then(|| RefusalChain::after(last, attempt)).flatten();
        worker.answered = end.is_ok().then_some((op.f, now));
        worker.last = Some(end);
        worker.due = Some(now + pause);
        self.wake_others(run);
    }

    /// What becomes of an operation at the resource, if that is outside of ZooKeeper.
    fn use_resource(&mut self, plan: &Plan, op: &PendingOp, mut end: Completion) -> Completion {
        if plan.workload.resource != Resource::External || !end.is_ok() {
            return end;
        }
        match op.kind {
            OpKind::Read => VALUE.put(&mut end.value, self.resource.read().clone()),
            OpKind::Write => {
                let written = VALUE.read_from(&end.value).cloned().unwrap_or_default();
                // One that nobody promised is none: the resource checks no tokens then.
                let token = TOKEN.read_from(&end.value).filter(|_| plan.workload.fenced);
                let verdict = self.resource.write(token, written);
                ACCEPTED.put(&mut end.value, verdict.is_ok());
                if let Err(refused) = verdict {
                    (end.kind, end.error) = (EventType::Fail, Some(refused));
                }
            }
            OpKind::Acquire | OpKind::Release | OpKind::Meet | OpKind::Single => {}
        }
        end
    }

    /// Whether a client was asked for as many operations as its plan has.
    fn has_done_its_own(&self, plan: &Plan, number: usize) -> bool {
        let planned = plan.clients.get(number).and_then(|client| client.ops);
        planned.is_some_and(|planned| self.workers[number].asked_ops() >= planned)
    }

    /// Whether every client has done what its plan has for it, and waits for nothing.
    pub fn all_have_done_their_own(&self, plan: &Plan) -> bool {
        let rests = |worker: &Worker| {
            self.has_done_its_own(plan, worker.number)
                && worker.is_idle()
                && worker.due.is_none()
                && !self.holds.is_holder(worker.number)
        };
        self.workers.iter().all(rests)
    }

    /// The run counts as recovered: what was sent before counts from now.
    pub fn recover(&mut self) {
        self.restart_free_time();
        self.generator.recovered(&self.answered);
    }

    /// The greatest bound of liveness that an operation which did not finish has, by those that were answered up to
    /// now.
    pub fn bound(&self) -> Duration {
        self.answered.greatest_bound()
    }

    /// Begins the last operations.
    pub fn begin_last_ops(&mut self) {
        for worker in &mut self.workers {
            worker.failing = false;
            worker.refusals = None;
            worker.quiesced = true;
        }
    }

    /// Whether each client has finished its last operation.
    pub fn all_have_finished(&self) -> bool {
        (0..self.workers.len()).all(|number| self.generator.finished(number))
    }
}

/// A wait for the first sign that any client has a session: without one a run proves nothing, and the log of a client
/// has the cause.
#[derive(Debug, Default)]
pub struct FirstSession {
    /// Whether there was a sign of a session.
    seen: bool,
    /// Until when a sign is waited for; `None` before the operations, and while a window is on.
    until: Option<Deadline>,
}

impl FirstSession {
    /// Takes what a client sends. `working`: it is an answer to an operation of the recipe. A client that cannot name
    /// its sessions counts as if it had one.
    fn take(&mut self, message: &Message, working: bool) {
        self.seen |= match message {
            Message::Hello { session, cannot, .. } => {
                session.is_some() || cannot.iter().any(|word| word == ClientLimit::Session.name())
            }
            Message::Notice { value, .. } => {
                SESSION.read_from(value).is_some() || STATE.read_from(value) == Some("connected")
            }
            Message::Reply { outcome, value, .. } => {
                working && *outcome == Outcome::Ok
                    || SESSION.read_from(value).is_some()
                    || SESSIONS.read_from(value).is_some_and(|sessions| !sessions.is_empty())
            }
        };
    }

    /// Counts the time only while operations go on and no window is on.
    pub fn wait(&mut self, run: &RunContext, counts: bool) {
        self.until = counts.then(|| self.until.unwrap_or_else(|| run.deadline(FIRST_SESSION)));
    }

    /// When the run is given up, if no sign comes before.
    fn due(&self, run: &RunContext) -> Option<Duration> {
        self.until.filter(|_| !self.seen).map(|until| run.moment_of(until))
    }

    /// Why the run is given up now, in words, once.
    pub fn given_up(&mut self, run: &RunContext) -> Option<String> {
        let over = self.due(run).is_some_and(|due| due <= run.now);
        self.seen |= over;
        let secs = FIRST_SESSION.as_secs();
        over.then(|| format!("no client has had a session in {secs} s without a fault."))
    }
}

/// The protected resource that lives in the orchestrator: a store reached over a network with delays. It accepts writes
/// in the order of their arrival; with fencing it refuses a token lower than the highest it has seen. Reads carry no
/// token, since readers that hold together arrive in any order of theirs.
///
/// Fencing as in Martin Kleppmann, "How to do distributed locking" (2016).
#[derive(Debug, Default)]
pub struct ExternalResource {
    highest: Option<i64>,
    value: Value,
}

impl ExternalResource {
    /// A write arrives; `token` is `None` for a variant that does not fence.
    ///
    /// # Errors
    /// Why the write is refused.
    fn write(&mut self, token: Option<i64>, value: Value) -> Result<(), String> {
        if let (Some(token), Some(highest)) = (token, self.highest)
            && token < highest
        {
            return Err(format!("refused: token {token} is lower than {highest}"));
        }
        self.highest = token.or(self.highest);
        self.value = value;
        Ok(())
    }

    /// A read arrives: the value accepted last; `null` before the first.
    pub fn read(&self) -> &Value {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_only_lower_tokens() {
        let mut resource = ExternalResource::default();
        let mut write = |token| resource.write(token, Value::Null);
        assert_eq!(write(Some(5)), Ok(()));
        assert_eq!(write(Some(5)), Ok(()));
        assert_eq!(write(Some(9)), Ok(()));
        assert_eq!(write(Some(5)), Err("refused: token 5 is lower than 9".to_string()));
        assert_eq!(write(None), Ok(()), "a variant without tokens is never refused");
    }

    #[test]
    fn reads_the_value_accepted_last() {
        let mut resource = ExternalResource::default();
        assert_eq!(resource.read(), &Value::Null);
        for (token, value) in [(5, 1), (9, 2), (5, 3)] {
            let accepted = resource.write(Some(token), value.into());
            assert_eq!(accepted.is_ok(), value < 3);
        }
        assert_eq!(resource.read(), &Value::from(2));
    }
}
