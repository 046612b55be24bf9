//! The engine of a run: a state machine that gives each client its next operation, takes replies, holds the resource, fires
//! the triggers of faults, and decides what follows the faults: recovery, drain, audit.
//!
//! It is pure: [`Engine::step`] takes what has happened and the time, and gives what is to be done. It reads no clock, waits
//! for nothing and knows no backend; a shell around it feeds it and carries out its effects, in order.

mod audit;
mod clients;
mod control;
mod drain;
mod effect;
mod generator;
mod holds;
mod last_ops;
mod nemesis;
mod ops;
mod recovery;
mod resource;
mod restart;
mod stage;
#[cfg(test)]
mod tests;
mod trigger;
mod worker;

pub use effect::{Conclusion, Effect, Entry, Input, Leader, Question, Stalls};
pub use nemesis::{Answer, Fired, Report};

pub use generator::UnknownFamily;

use generator::{Generator, Moment, Phase};
use holds::FreeTime;
use resource::ExternalResource;
use serde_json::json;
use stage::{Seen, Stage};
use std::collections::BTreeSet;
use std::time::Duration;
use trigger::{Armed, Polled};
use worker::Worker;
use zooquake_history::plan::Plan;

/// The state machine of one run. All its times are those given to [`Engine::step`].
#[derive(Debug)]
pub struct Engine {
    plan: Plan,
    workers: Vec<Worker>,
    generator: Box<dyn Generator>,
    /// What clients are given to do.
    phase: Phase,
    /// The phase of the run, as the history has it.
    entered: &'static str,
    stage: Stage,
    now: Duration,
    ops_began: Duration,
    /// Attempts at recovery that failed.
    attempts: usize,
    nemesis_done: bool,
    interrupted: bool,
    /// Whether the history says so.
    interruption_recorded: bool,
    stalls: Stalls,
    free: FreeTime,
    /// How long the operations took that wait for others, for the bound of liveness.
    waited: Vec<Duration>,
    resource: ExternalResource,
    armed: Option<Armed>,
    /// Windows that have begun and were not seen to be healed, by number.
    unhealed: BTreeSet<i64>,
    completed: u64,
    faults: usize,
    last_request: u64,
    effects: Vec<Effect>,
}

/// A moment by which something must have come about. It moves by what stalls take from it: what waited unread in one is read
/// before it is given up.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    at: Duration,
    /// What stalls had taken when it was set.
    lost: Duration,
}

/// How far a run is.
#[derive(Debug)]
pub struct Status {
    /// The phase, and what is going on in it.
    pub text: String,
    /// Of the phase in which operations and faults go on: how long it has been going on, and how long it is to.
    pub ops: Option<(Duration, Duration)>,
}

impl Engine {
    /// The engine of a plan's run.
    ///
    /// # Errors
    /// If the plan's family has no generator.
    pub fn new(plan: Plan) -> Result<Self, UnknownFamily> {
        Ok(Self {
            workers: (0..plan.cluster.clients).map(Worker::new).collect(),
            generator: generator::from_plan(&plan)?,
            plan,
            phase: Phase::Quiet,
            entered: "set up",
            stage: Stage::SetUp,
            now: Duration::ZERO,
            ops_began: Duration::ZERO,
            attempts: 0,
            nemesis_done: true,
            interrupted: false,
            interruption_recorded: false,
            stalls: Stalls::default(),
            free: FreeTime::default(),
            waited: Vec::new(),
            resource: ExternalResource::default(),
            armed: None,
            unhealed: BTreeSet::new(),
            completed: 0,
            faults: 0,
            last_request: 0,
            effects: Vec::new(),
        })
    }

    /// Takes what has happened at a moment, and gives what is to be done for it. Moments never go back.
    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        let now = self.now.max(now);
        self.run_free_time(now);
        self.now = now;
        let mut seen = None;
        match input {
            Input::Begin => self.begin(),
            Input::Turn => {}
            Input::Client {
                client,
                incarnation,
                output,
            } => self.said(client, incarnation, output),
            Input::Started {
                client,
                incarnation,
                started,
            } => self.started(client, incarnation, started),
            Input::Nemesis { token, report } => self.reported(token, report),
            Input::Stalled(stalls) => self.stalled(stalls),
            Input::Interrupted => self.interrupted = true,
            Input::Steady(steady) => seen = Some(Seen::Steady(steady)),
            Input::Leads(leads) => seen = Some(Seen::Leads(leads)),
            Input::Running(running) => seen = Some(Seen::Running(running)),
            Input::Read(read) => seen = Some(Seen::Read(read)),
        }
        self.act();
        self.advance(seen);
        std::mem::take(&mut self.effects)
    }

    /// When it has to be stepped again, if nothing happens before; `None` if nothing is due.
    pub fn due(&self) -> Option<Duration> {
        let idle = self.workers.iter().filter(|worker| worker.idle());
        let ops = idle.filter_map(|worker| worker.due);
        let armed = self.armed.iter().map(|armed| armed.due(&self.workers, self.capacity()));
        let own = [self.stage_due(), self.confirm_due(), self.restart_due()];
        ops.chain(armed).chain(own.into_iter().flatten()).min()
    }

    /// What goes on, for the user.
    pub fn status(&self, now: Duration) -> Status {
        if let Stage::Playing = self.stage {
            let text = format!("step {} of the scene", self.faults);
            return Status { text, ops: None };
        }
        let ops = || {
            let elapsed = now.saturating_sub(self.ops_began);
            (elapsed, Duration::from_millis(self.plan.time_ms))
        };
        let (phase, completed, faults) = (self.entered, self.completed, self.faults);
        let of = self.plan.windows.len();
        let holder = self.holder().unwrap_or("nobody");
        Status {
            text: format!("{phase}: {completed} ops, {faults} of {of} faults, {holder} holds"),
            ops: (phase == "ops").then(ops),
        }
    }

    /// Begins a phase of the run.
    fn enter(&mut self, entered: &'static str, phase: Phase) {
        self.entered = entered;
        self.phase = phase;
        self.emit(Effect::Entered(entered));
        self.record(Entry::named("run", "phase", json!(entered)));
        let now = self.now;
        for worker in self.workers.iter_mut().filter(|worker| worker.idle()) {
            worker.due = worker.due.or(Some(now));
        }
    }

    /// What waited unread while the harness stood still was not free time: the time that counts for liveness begins anew.
    fn stalled(&mut self, stalls: Stalls) {
        self.stalls = stalls;
        let ms = stalls.last.as_millis();
        self.emit(Effect::Say(format!("zooquake itself stood still for {ms} ms")));
        self.restart_free_time();
        let pending = self.workers.iter_mut().filter_map(|worker| worker.op.as_mut());
        pending.for_each(|op| op.free_at = Duration::ZERO);
    }

    /// Does all that is due: triggers, control requests, next operations.
    fn act(&mut self) {
        if let Some(armed) = self.armed.take() {
            let token = armed.token();
            match armed.poll(&self.workers, self.capacity(), self.now) {
                Polled::Waits(armed) => self.armed = Some(armed),
                Polled::Fires(client) => {
                    let holder = self.holder().map(str::to_string);
                    self.answer_nemesis(token, Some(Answer::Fired(Fired { client, holder })));
                }
                Polled::Expires => self.answer_nemesis(token, None),
            }
        }
        self.restart();
        self.confirm_holders();
        for number in 0..self.workers.len() {
            let worker = &mut self.workers[number];
            if worker.idle() && worker.due.is_some_and(|due| due <= self.now) {
                worker.due = None;
                self.next_op(number);
            }
        }
    }

    fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn record(&mut self, entry: Entry) {
        self.emit(Effect::Record(entry));
    }

    fn broken(&mut self, client: usize, why: String) {
        self.emit(Effect::Broken { client, why });
    }

    fn request_id(&mut self) -> u64 {
        self.last_request += 1;
        self.last_request
    }

    fn moment(&self) -> Moment {
        Moment {
            phase: self.phase,
            now: self.now,
        }
    }

    /// The moment for a client's next operation: one that has done all that its plan asks for only ends what it has begun.
    fn moment_of_next(&self, number: usize) -> Moment {
        let phase = match (self.phase, self.has_done_its_own(number)) {
            (Phase::Load, true) => Phase::Drain,
            (phase, _) => phase,
        };
        Moment { phase, now: self.now }
    }

    /// Whether a client was asked for as many operations as its plan has.
    fn has_done_its_own(&self, number: usize) -> bool {
        let asked: u64 = self.workers[number].sent.values().map(|sent| sent.count).sum();
        let planned = self.plan.clients.get(number).and_then(|client| client.ops);
        planned.is_some_and(|planned| asked >= planned)
    }

    /// Whether every client has done what its plan has for it, and waits for nothing.
    fn all_have_done_their_own(&self) -> bool {
        let rests = |(number, worker): (usize, &Worker)| {
            self.has_done_its_own(number) && worker.idle() && worker.due.is_none() && worker.hold.is_none()
        };
        self.workers.iter().enumerate().all(rests)
    }

    fn deadline(&self, after: Duration) -> Deadline {
        Deadline {
            at: self.now + after,
            lost: self.stalls.lost,
        }
    }

    fn moment_of(&self, deadline: Deadline) -> Duration {
        deadline.at + self.stalls.lost.saturating_sub(deadline.lost)
    }

    fn passed(&self, deadline: Deadline) -> bool {
        self.now >= self.moment_of(deadline)
    }
}
