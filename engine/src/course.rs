//! The course of a run: what it waits for at the moment, and what comes next.

use super::audit::Audit;
use super::clients::Clients;
use super::context::{Deadline, RunContext, Transition};
use super::drain::Drain;
use super::effect::{Conclusion, Effect, ShellAnswer};
use super::generator::{ClosingTask, GeneratorPhase};
use super::nemesis::Nemesis;
use super::recovery::{Recovery, RecoveryEnd};
use super::views::{Views, ViewsMoment};
use std::time::Duration;
use zooquake_history::Node;
use zooquake_history::evidence::Reading;

/// Longest wait for the `hello` of every client.
const GREETING: Duration = Duration::from_secs(30);

/// How far a run is: what it waits for.
#[derive(Debug)]
pub enum Course {
    /// To be begun.
    SetUp,
    /// The end of a scene, which has no clients.
    Playing,
    /// The `hello` of every client.
    Greeting(Deadline),
    /// The end of the operations.
    Ops(Deadline),
    /// Recovery, and the last operations after it.
    Recovering(Recovery),
    /// The queue to be empty.
    Draining(Drain),
    /// Answers to questions for views of the group, after the readings of the tree around those before the last
    /// operations.
    Viewing(Vec<Reading>, Views),
    /// Two readings of the tree, and an answer of every client between them.
    Auditing(Audit),
    /// Nothing: the run is over.
    Over,
}

/// Whether a stage goes on, or another one follows at once.
type CourseTransition = Transition<Course, ()>;

impl Course {
    /// Begins the run.
    pub fn begin(&mut self, run: &mut RunContext, clients: &mut Clients, nemesis: &mut Nemesis) {
        if !run.plan.scenes.is_empty() {
            nemesis.strike(run);
            *self = Course::Playing;
            return;
        }
        clients.start_all(run);
        *self = Course::Greeting(run.deadline(GREETING));
    }

    /// Goes from stage to stage until one has to wait.
    pub fn advance(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        nemesis: &mut Nemesis,
        mut answer: Option<ShellAnswer>,
    ) {
        loop {
            let transition = match std::mem::replace(self, Course::Over) {
                stage @ (Course::SetUp | Course::Over) => CourseTransition::Wait(stage),
                Course::Playing => play(run, nemesis),
                Course::Greeting(until) => greet(run, clients, nemesis, until),
                Course::Ops(end) => operate(run, clients, nemesis, end),
                Course::Recovering(mut recovery) => match recovery.advance(run, clients, nemesis, &mut answer) {
                    None => CourseTransition::Wait(Course::Recovering(recovery)),
                    Some(RecoveryEnd::Recovered(calm)) => CourseTransition::Move(close(run, clients, calm)),
                    Some(RecoveryEnd::NotRecovered) => CourseTransition::Move(audit(run, clients, Vec::new())),
                },
                Course::Draining(mut drain) => match drain.advance(run, clients) {
                    false => CourseTransition::Wait(Course::Draining(drain)),
                    true => CourseTransition::Move(audit(run, clients, Vec::new())),
                },
                Course::Viewing(mut readings, mut views) => match views.advance(run, clients, &mut answer) {
                    None => CourseTransition::Wait(Course::Viewing(readings, views)),
                    Some(Ok(before)) => {
                        readings.extend(before);
                        CourseTransition::Move(audit(run, clients, readings))
                    }
                    Some(Err(why)) => {
                        run.say(format!("the tree was not read before views were asked for: {why}"));
                        CourseTransition::Move(audit(run, clients, readings))
                    }
                },
                Course::Auditing(mut audit) => match audit.advance(run, clients, &mut answer) {
                    None => CourseTransition::Wait(Course::Auditing(audit)),
                    Some(tree) => {
                        clients.enter(run, "done", GeneratorPhase::Quiet);
                        CourseTransition::Move(conclude(run, Conclusion::Audited(tree)))
                    }
                },
            };
            if transition.apply(self).is_break() {
                return;
            }
        }
    }

    /// The moment at which the stage has to be looked at, if nothing happens before.
    pub fn due(&self, run: &RunContext) -> Option<Duration> {
        let deadline = match self {
            Course::SetUp | Course::Playing | Course::Over => None,
            Course::Greeting(until) | Course::Ops(until) => Some(*until),
            Course::Recovering(recovery) => recovery.due(),
            Course::Draining(drain) => Some(drain.due()),
            Course::Viewing(_, views) => views.due(),
            Course::Auditing(audit) => audit.due(),
        };
        deadline.map(|deadline| run.moment_of(deadline))
    }

    /// Whether a scene is played.
    pub fn is_playing(&self) -> bool {
        matches!(self, Course::Playing)
    }

    /// Whether the operations have begun.
    pub fn has_begun(&self) -> bool {
        !matches!(self, Course::SetUp | Course::Greeting(_))
    }
}

fn play(run: &mut RunContext, nemesis: &Nemesis) -> CourseTransition {
    if run.interrupted {
        run.emit(Effect::Over);
    }
    match (nemesis.done, run.interrupted) {
        (false, _) => CourseTransition::Wait(Course::Playing),
        (true, true) => CourseTransition::Move(give_up(run)),
        (true, false) => CourseTransition::Move(conclude(run, Conclusion::Played)),
    }
}

fn greet(run: &mut RunContext, clients: &mut Clients, nemesis: &mut Nemesis, until: Deadline) -> CourseTransition {
    if run.interrupted {
        return CourseTransition::Move(give_up(run));
    }
    if clients.all_run() {
        run.ops_began = run.now;
        clients.enter(run, "ops", GeneratorPhase::Load);
        nemesis.strike(run);
        let time = Duration::from_millis(run.plan.time_ms);
        return CourseTransition::Move(Course::Ops(run.deadline(time)));
    }
    if !run.passed(until) {
        return CourseTransition::Wait(Course::Greeting(until));
    }
    let silent: Vec<&Node> = clients.dead().map(|worker| &worker.node).collect();
    let why = format!("clients {silent:?} sent no hello within {} s.", GREETING.as_secs());
    run.broken(clients.dead().next().map_or(0, |worker| worker.number), why);
    CourseTransition::Wait(Course::Over)
}

fn operate(run: &mut RunContext, clients: &mut Clients, nemesis: &mut Nemesis, end: Deadline) -> CourseTransition {
    if !(run.interrupted || run.passed(end) || clients.all_have_done_their_own(&run.plan)) {
        return CourseTransition::Wait(Course::Ops(end));
    }
    if run.interrupted {
        run.record_interruption();
    }
    run.emit(Effect::Over);
    nemesis.disarm(run);
    CourseTransition::Move(Course::Recovering(Recovery::begin(run, clients)))
}

/// What follows the last operations: the drain, or questions for views, if the family has them.
fn close(run: &mut RunContext, clients: &mut Clients, calm: Vec<Reading>) -> Course {
    // Nothing can be asked of a client that has not finished.
    let busy = clients.workers.last().is_none_or(|last| last.op.is_some());
    match clients.generator.closing_task() {
        ClosingTask::Nothing => audit(run, clients, Vec::new()),
        ClosingTask::Views if !run.interrupted => Course::Viewing(calm, Views::begin(run, clients, ViewsMoment::End)),
        _ if run.interrupted || busy => audit(run, clients, Vec::new()),
        task => Course::Draining(Drain::new(run, clients, task)),
    }
}

/// The audit, unless the user has stopped the run.
fn audit(run: &mut RunContext, clients: &mut Clients, before: Vec<Reading>) -> Course {
    match run.interrupted {
        true => give_up(run),
        false => Course::Auditing(Audit::begin(run, clients, before)),
    }
}

/// The end of a run that the user stopped: nothing is audited.
fn give_up(run: &mut RunContext) -> Course {
    run.record_interruption();
    conclude(run, Conclusion::Interrupted)
}

fn conclude(run: &mut RunContext, conclusion: Conclusion) -> Course {
    run.emit(Effect::Done(conclusion));
    Course::Over
}
