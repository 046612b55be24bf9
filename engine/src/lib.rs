//! The engine of a run: a state machine that gives each client its next operation, takes replies, holds the resource,
//! fires the triggers of faults, and decides what follows the faults: recovery, drain, audit.
//!
//! It is pure: [`Engine::step`] takes what has happened and the time, and gives what is to be done. It reads no clock,
//! waits for nothing and has no backend; a shell around it feeds it and carries out its effects, in order.
//!
//! [`Engine`] routes inputs to its machines and collects their effects: `clients` (processes, operations, control
//! requests and holds), `nemesis` with its trigger, and `course`, which goes from one stage of the run to the next:
//! `recovery` with the last operations, `drain`, `views`, `audit`. The plan, the time and the effects, which all of
//! them share, are their `context`. What a family's clients are asked for is its generator's.

mod audit;
mod clients;
mod context;
mod course;
mod drain;
mod effect;
mod generator;
mod nemesis;
mod operation;
mod recovery;
#[cfg(test)]
mod tests;
mod views;

pub use effect::{
    Conclusion, Effect, HistoryEntry, Input, Leader, NemesisAnswer, NemesisReport, Question, ShellAnswer, Stalls,
    StartError, TriggerFiring,
};
pub use generator::UnknownFamily;

use clients::Clients;
use context::RunContext;
use course::Course;
use nemesis::Nemesis;
use std::time::Duration;
use zooquake_history::Node;
use zooquake_history::operation::family;
use zooquake_history::plan::Plan;

/// The state machine of one run. All its times are those given to [`Engine::step`].
#[derive(Debug)]
pub struct Engine {
    run: RunContext,
    clients: Clients,
    nemesis: Nemesis,
    course: Course,
}

/// How far a run is.
#[derive(Debug)]
pub struct RunStatus {
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
            clients: Clients::new(&plan)?,
            run: RunContext::new(plan),
            nemesis: Nemesis::new(),
            course: Course::SetUp,
        })
    }

    /// Takes what has happened at a moment, and gives what is to be done for it. Moments never go back.
    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        let Self {
            run,
            clients,
            nemesis,
            course,
        } = self;
        let now = run.now.max(now);
        clients.pass_free_time(run, now);
        run.now = now;
        let mut answer = None;
        match input {
            Input::Begin => course.begin(run, clients, nemesis),
            Input::Turn => {}
            Input::Client {
                client,
                incarnation,
                output,
            } => {
                if clients.read(run, client, incarnation, output) {
                    run.emit(Effect::Examine { client, incarnation });
                }
            }
            Input::Started {
                client,
                incarnation,
                started,
            } => clients.started(run, client, incarnation, started),
            Input::Examined {
                client,
                incarnation,
                unreachable: Some(why),
            } => clients.lost(run, client, incarnation, &why),
            Input::Examined {
                client,
                incarnation,
                unreachable: None,
            } => {
                let (window_on, begun) = (nemesis.is_window_on(), course.has_begun());
                clients.ended_by_itself(run, client, incarnation, window_on, begun);
            }
            Input::Engines(lost) => run.lose_engines(&lost),
            Input::Nemesis { token, report } => nemesis.report(run, clients, token, report),
            Input::Stalled(stalls) => {
                run.stalls = stalls;
                let ms = stalls.last.as_millis();
                run.say(format!("zooquake itself stood still for {ms} ms"));
                clients.restart_free_time();
            }
            Input::Interrupted => run.interrupted = true,
            Input::Answer(shell) => answer = Some(shell),
        }
        nemesis.poll(run, clients);
        let counts = course.has_begun() && !course.is_playing() && !nemesis.is_window_on();
        clients.first_session.wait(run, counts);
        if let Some(why) = clients.first_session.given_up(run) {
            run.broken(0, why);
        }
        clients.act(run);
        course.advance(run, clients, nemesis, answer);
        run.take_effects()
    }

    /// When it has to be stepped again, if nothing happens before; `None` if nothing is due.
    pub fn due(&self) -> Option<Duration> {
        let (run, clients) = (&self.run, &self.clients);
        let due = [self.nemesis.due(clients), clients.due(run), self.course.due(run)];
        due.into_iter().flatten().min()
    }

    /// What goes on, for the user.
    pub fn status(&self, now: Duration) -> RunStatus {
        let faults = self.nemesis.faults;
        if self.course.is_playing() {
            let text = format!("step {faults} of the scene");
            return RunStatus { text, ops: None };
        }
        let ops = || {
            let elapsed = now.saturating_sub(self.run.ops_began);
            (elapsed, Duration::from_millis(self.run.plan.time_ms))
        };
        let (phase, completed) = (self.run.phase, self.clients.completed);
        let (plan, clients) = (&self.run.plan, &self.clients);
        let of = plan.windows.len();
        let state = match family(&plan.workload.family).is_some_and(|family| family.grants) {
            true => format!(
                "{} holds",
                clients.holder().map_or_else(|| "nobody".to_owned(), Node::to_string)
            ),
            false => format!(
                "{} of {} clients wait for an answer",
                clients.waiting(),
                plan.cluster.clients
            ),
        };
        RunStatus {
            text: format!("{phase}: {completed} ops, {faults} of {of} faults, {state}"),
            ops: (phase == "ops").then(ops),
        }
    }
}
