//! Generators: what the clients of a family are asked to do, one operation after the other. One family a file, but for
//! those that grant, which are one together.

mod barrier;
mod commit;
mod counter;
mod families;
mod grants;
mod membership;
mod queue;
mod register;
#[cfg(test)]
mod tests;

pub use families::{UnknownFamily, from_plan};

use super::operation::{Completion, PendingOp};
use serde_json::Value;
use std::fmt::Debug;
use std::time::Duration;
use zooquake_history::FaultKind;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::grant::GRANT;
use zooquake_history::operation::{Family, Operation, WORK_MS};
use zooquake_history::plan::Plan;

/// Milliseconds that a recipe has at least for a single request.
const LEAST_SINGLE_MS: u64 = 5_000;

/// Milliseconds beyond the bound of liveness that a recipe has for an operation that convicts if it is pending for that
/// long.
const AFTER_BOUND_MS: u64 = 2_000;

/// Milliseconds that a recipe has to write under a grant, or to give back or close (beside the work in it): well beyond
/// any fault.
const GIVE_BACK_MS: u64 = 30_000;

/// Milliseconds beyond the planned end of a run that a wait may take: it must not give up while anybody looks, because
/// a wait that gives up hides a lost wake-up.
const BEYOND_MS: u64 = 600_000;

/// After recovery an operation that did not finish is asked again after this: often enough, and no busy loop.
const FINAL_AGAIN: Duration = Duration::from_millis(250);

/// Before recovery a client rests for this after a failure, at the least: one whose server is away must not fill the
/// history with failures.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// Which operations clients are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratorPhase {
    /// No operation.
    Quiet,
    /// As planned, on and on.
    Load,
    /// What was begun, to its end.
    Drain,
    /// After recovery: what was begun ends at once, then each client does one thing more, without work.
    Final,
}

/// The moment at which a generator is asked.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorMoment {
    /// Which operations clients are given.
    pub phase: GeneratorPhase,
    /// The engine's time.
    pub now: Duration,
}

/// What a client is asked next.
#[derive(Debug)]
pub struct OperationRequest {
    pub f: &'static str,
    /// The grant it is about; empty if the family has none.
    pub grant: String,
    /// Milliseconds of work in it.
    pub work_ms: u64,
    pub value: Value,
    /// The recipe's time to answer; `None` for no limit.
    pub timeout_ms: Option<u64>,
}

impl OperationRequest {
    /// An operation that the recipe has `timeout_ms` milliseconds to answer.
    pub fn new(operation: &impl Operation, timeout_ms: u64) -> Self {
        let (f, value) = operation.parts();
        Self {
            f,
            grant: GRANT.read_from(&value).unwrap_or_default().to_string(),
            work_ms: value[WORK_MS.name()].as_u64().unwrap_or(0),
            value,
            timeout_ms: Some(timeout_ms),
        }
    }
}

/// What a client does next.
#[derive(Debug)]
pub enum Assignment {
    /// It is asked this.
    Ask(OperationRequest),
    /// It is looked at again after a while.
    Wait(Duration),
    /// It is looked at again when an operation of another ends, and after a while at the latest.
    Await(Duration),
    /// Nothing, until something else happens.
    Nothing,
}

/// What the last client does when all have finished, each time after a quorum write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingTask {
    Nothing,
    /// It empties the queue.
    Drain,
    /// It reads the counter.
    Read,
    /// Every client is asked for its view of the group.
    Views,
}

/// A family of recipes and its generator.
#[derive(Debug)]
pub struct FamilyGenerator {
    /// The family's name and operations.
    pub spec: &'static Family,
    /// Makes the generator of a plan of the family.
    pub generator: fn(&Plan) -> Box<dyn Generator>,
}

/// The clients' next operations. Generators count clients from 0.
pub trait Generator: Debug + Send {
    /// What the client does next. To give back it may be asked again before that is sent.
    fn next(&mut self, client: usize, at: GeneratorMoment) -> Assignment;

    /// Work under the grant that the client is to give back next, once more and at once; `None` in families that grant
    /// nothing.
    fn work(&mut self, _: usize) -> Option<OperationRequest> {
        None
    }

    /// The client answers that it is no member of its group: it registers again. Nothing in families without groups.
    fn is_no_member(&mut self, _: usize) {}

    /// How long a client is left alone that has no operation in flight and reports that its connection is lost, for its
    /// recipe to do what it does by itself.
    fn rest_at_cut(&mut self, _: usize) -> Duration {
        Duration::ZERO
    }

    /// Whether what one client may do depends on others, so that all are looked at again when an operation ends.
    fn coordinates(&self) -> bool {
        false
    }

    /// What the last client does when all others have finished.
    fn closing_task(&self) -> ClosingTask {
        ClosingTask::Nothing
    }

    /// An operation has ended; returns how long the client waits before its next one. In the phase
    /// [`GeneratorPhase::Final`] one that did not finish is asked again.
    fn ended(&mut self, client: usize, op: &PendingOp, end: &Completion, at: GeneratorMoment) -> Duration;

    /// Whether those that wait could not go on before this end: their time for the bound of liveness begins with it.
    fn frees(&self, _: &PendingOp, _: &Completion) -> bool {
        false
    }

    /// The client's process has died.
    fn died(&mut self, client: usize);

    /// Recovery is over: what counts as the last thing to do begins now, also after an earlier recovery. `answered` has
    /// what was answered up to now, of which the bounds of liveness are made. What is answered from now on adds to
    /// them, so a generator that keeps to one keeps a copy and measures on by [`PendingOp::measure`].
    fn recovered(&mut self, answered: &AnsweredDurations);

    /// Whether there is something that the client was not asked since recovery, or not for long enough, though it may
    /// be able to answer it.
    fn unasked(&self, _: usize) -> bool {
        false
    }

    /// Whether the client has finished the last thing to do.
    fn finished(&self, client: usize) -> bool;
}

/// How long a client rests after an operation, where it would think for so long before its next one.
fn pause(end: &Completion, phase: GeneratorPhase, think: Duration) -> Duration {
    match (end.is_ok(), phase) {
        (true, _) => think,
        (false, GeneratorPhase::Final) => FINAL_AGAIN,
        (false, _) => think.max(AFTER_FAILURE),
    }
}

/// Milliseconds that a recipe has for a single request: longer than the plan's longest pause, so that who was frozen in
/// it acts when it is thawed, rather than to have timed out.
pub fn single_ms(plan: &Plan) -> u64 {
    let pauses = plan
        .windows
        .iter()
        .filter(|window| FaultKind::by_name(&window.fault).freezes);
    LEAST_SINGLE_MS + pauses.map(|window| window.duration_ms).max().unwrap_or(0)
}
