//! The clients of a run: each is given its next operation, and what its process writes is taken.

mod control;
mod holds;
mod lifecycle;
mod operations;
mod process;
pub mod quiesce;
mod sessions;
pub mod worker;

use crate::context::RunContext;
use crate::effect::Effect;
use crate::generator::{self, Generator, GeneratorPhase, UnknownFamily};
use crate::history_entry::HistoryEntry;
use crate::operation::{Completion, OpKind};
use crate::resource::ExternalResource;
use control::ControlRequest;
use holds::Holds;
use serde_json::json;
use sessions::FirstSession;
use std::time::Duration;
use worker::Worker;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::control::{Hello, STATE, UNASKED, UnaskedAnswer};
use zooquake_history::operation::grant::GRANT;
use zooquake_history::plan::Plan;
use zooquake_history::protocol::{Message, ProcessOutput};

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
            holds: Holds::new(count, plan.workload.capabilities().capacity),
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
                    let name = &self.workers[number].name;
                    let why =
                        format!("client {name} wrote a line that is not a message of the protocol: {line}: {error}");
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
                run.record(HistoryEntry::named(&worker.name, &notice, value));
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
                    let mut entry = HistoryEntry::named(&worker.name, UNASKED, answer);
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

    /// The name of the first client that holds.
    pub fn holder(&self) -> Option<&str> {
        self.holds.holder().map(|number| self.workers[number].name.as_str())
    }

    /// Lets the clocks of free time run until this moment.
    pub fn pass_free_time(&mut self, run: &RunContext, now: Duration) {
        let acquires = |worker: &&Worker| worker.op.as_ref().is_some_and(|op| op.kind == OpKind::Acquire);
        let waiting = self.workers.iter().filter(acquires).map(|worker| worker.number);
        self.holds.pass(now - run.now, waiting);
    }
}
