//! The course of a run: what it waits for at the moment, and what comes next.

use super::audit::Audit;
use super::clients::Clients;
use super::context::{Deadline, RunContext};
use super::drain::Drain;
use super::effect::{Conclusion, Effect};
use super::generator::{ClosingTask, GeneratorPhase};
use super::nemesis::Nemesis;
use super::recovery::{Recovery, RecoveryEnd};
use super::shell_answer::ShellAnswer;
use super::views::Views;
use std::time::Duration;
use zooquake_history::evidence::Reading;

/// Longest wait for the `hello` of every client.
const GREETING: Duration = Duration::from_secs(30);

/// How far a run is.
#[derive(Debug)]
pub struct Course {
    stage: CourseStage,
}

/// What a run waits for.
#[derive(Debug)]
enum CourseStage {
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
    /// Answers to questions for views of the group.
    Viewing(Views),
    /// Two readings of the tree, and an answer of every client between them.
    Auditing(Audit),
    /// Nothing.
    Over,
}

/// Whether a stage goes on, or another one follows at once.
enum Transition {
    Wait(CourseStage),
    Move(CourseStage),
}

impl Course {
    pub fn new() -> Self {
        Self {
            stage: CourseStage::SetUp,
        }
    }

    /// Begins the run.
    pub fn begin(&mut self, run: &mut RunContext, clients: &mut Clients, nemesis: &mut Nemesis) {
        if !run.plan.scenes.is_empty() {
            nemesis.strike(run);
            self.stage = CourseStage::Playing;
            return;
        }
        clients.start_all(run);
        self.stage = CourseStage::Greeting(run.deadline(GREETING));
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
            let transition = match std::mem::replace(&mut self.stage, CourseStage::Over) {
                stage @ (CourseStage::SetUp | CourseStage::Over) => Transition::Wait(stage),
                CourseStage::Playing => play(run, nemesis),
                CourseStage::Greeting(until) => greet(run, clients, nemesis, until),
                CourseStage::Ops(end) => operate(run, clients, nemesis, end),
                CourseStage::Recovering(mut recovery) => match recovery.advance(run, clients, nemesis, &mut answer) {
                    None => Transition::Wait(CourseStage::Recovering(recovery)),
                    Some(RecoveryEnd::Recovered) => Transition::Move(close(run, clients)),
                    Some(RecoveryEnd::NotRecovered) => Transition::Move(audit(run, clients, None)),
                },
                CourseStage::Draining(mut drain) => match drain.advance(run, clients) {
                    false => Transition::Wait(CourseStage::Draining(drain)),
                    true => Transition::Move(audit(run, clients, None)),
                },
                CourseStage::Viewing(mut views) => match views.advance(run, clients, &mut answer) {
                    None => Transition::Wait(CourseStage::Viewing(views)),
                    Some(Ok(reading)) => Transition::Move(audit(run, clients, Some(reading))),
                    Some(Err(why)) => {
                        run.say(format!("the tree was not read before views were asked for: {why}"));
                        Transition::Move(audit(run, clients, None))
                    }
                },
                CourseStage::Auditing(mut audit) => match audit.advance(run, clients, &mut answer) {
                    None => Transition::Wait(CourseStage::Auditing(audit)),
                    Some(tree) => {
                        clients.enter(run, "done", GeneratorPhase::Quiet);
                        Transition::Move(conclude(run, Conclusion::Audited(tree)))
                    }
                },
            };
            match transition {
                Transition::Move(stage) => self.stage = stage,
                Transition::Wait(stage) => {
                    self.stage = stage;
                    return;
                }
            }
        }
    }

    /// The moment at which the stage has to be looked at, if nothing happens before.
    pub fn due(&self, run: &RunContext) -> Option<Duration> {
        let deadline = match &self.stage {
            CourseStage::SetUp | CourseStage::Playing | CourseStage::Over => None,
            CourseStage::Greeting(until) | CourseStage::Ops(until) => Some(*until),
            CourseStage::Recovering(recovery) => recovery.due(),
            CourseStage::Draining(drain) => Some(drain.due()),
            CourseStage::Viewing(views) => views.due(),
            CourseStage::Auditing(audit) => audit.due(),
        };
        deadline.map(|deadline| run.moment_of(deadline))
    }

    /// Whether a scene is played.
    pub fn is_playing(&self) -> bool {
        matches!(self.stage, CourseStage::Playing)
    }

    /// Whether the operations have begun.
    pub fn has_begun(&self) -> bool {
        !matches!(self.stage, CourseStage::SetUp | CourseStage::Greeting(_))
    }
}

fn play(run: &mut RunContext, nemesis: &Nemesis) -> Transition {
    if run.interrupted {
        run.emit(Effect::Over);
    }
    match (nemesis.is_done(), run.interrupted) {
        (false, _) => Transition::Wait(CourseStage::Playing),
        (true, true) => Transition::Move(give_up(run)),
        (true, false) => Transition::Move(conclude(run, Conclusion::Played)),
    }
}

fn greet(run: &mut RunContext, clients: &mut Clients, nemesis: &mut Nemesis, until: Deadline) -> Transition {
    if run.interrupted {
        return Transition::Move(give_up(run));
    }
    if clients.all_run() {
        run.ops_began = run.now;
        clients.enter(run, "ops", GeneratorPhase::Load);
        nemesis.strike(run);
        let time = Duration::from_millis(run.plan.time_ms);
        return Transition::Move(CourseStage::Ops(run.deadline(time)));
    }
    if !run.passed(until) {
        return Transition::Wait(CourseStage::Greeting(until));
    }
    let silent: Vec<&str> = clients.dead().map(|worker| worker.name.as_str()).collect();
    let why = format!("clients {silent:?} sent no hello within {} s.", GREETING.as_secs());
    run.broken(clients.dead().next().map_or(0, |worker| worker.number), why);
    Transition::Wait(CourseStage::Over)
}

fn operate(run: &mut RunContext, clients: &mut Clients, nemesis: &mut Nemesis, end: Deadline) -> Transition {
    if !(run.interrupted || run.passed(end) || clients.all_have_done_their_own(&run.plan)) {
        return Transition::Wait(CourseStage::Ops(end));
    }
    if run.interrupted {
        run.record_interruption();
    }
    run.emit(Effect::Over);
    nemesis.disarm(run);
    Transition::Move(CourseStage::Recovering(Recovery::begin(run, clients)))
}

/// What follows the last operations: the drain, or questions for views, if the family has them.
fn close(run: &mut RunContext, clients: &mut Clients) -> CourseStage {
    // Nothing can be asked of a client that has not finished.
    let busy = clients.workers.last().is_none_or(|last| last.op.is_some());
    match clients.closing_task() {
        ClosingTask::Nothing => audit(run, clients, None),
        ClosingTask::Views if !run.interrupted => {
            let bound = clients.bound();
            CourseStage::Viewing(Views::begin(run, clients, bound))
        }
        _ if run.interrupted || busy => audit(run, clients, None),
        task => CourseStage::Draining(Drain::new(run, clients, task)),
    }
}

/// The audit, unless the user has stopped the run.
fn audit(run: &mut RunContext, clients: &mut Clients, views: Option<Reading>) -> CourseStage {
    match run.interrupted {
        true => give_up(run),
        false => CourseStage::Auditing(Audit::begin(run, clients, views)),
    }
}

/// The end of a run that the user stopped: nothing is audited.
fn give_up(run: &mut RunContext) -> CourseStage {
    run.record_interruption();
    conclude(run, Conclusion::Interrupted)
}

fn conclude(run: &mut RunContext, conclusion: Conclusion) -> CourseStage {
    run.emit(Effect::Done(conclusion));
    CourseStage::Over
}
