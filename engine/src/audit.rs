//! The audit: the tree at the end, and which of its znodes the clients claim as their own.

use super::clients::Clients;
use super::clients::control::QUIESCE;
use super::clients::worker::Worker;
use super::context::{Deadline, RunContext};
use super::effect::{Effect, Question, ShellAnswer, Stalls};
use super::generator::{ClosingTask, GeneratorPhase, OperationRequest, single_ms};
use super::operation::Completion;
use std::time::Duration;
use zooquake_history::evidence::{Reading, TreeReadings};
use zooquake_history::operation::queue::{ITEM, QueueRequest};
use zooquake_history::plan::Delivery;

/// The number of times that the tree is read anew after a stall, at most.
const ATTEMPTS: usize = 3;

/// Longest time in which clients hand out what they keep.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tree is read, every client is asked once more which znodes are its own, those that keep claims on items are
/// asked for them, and the tree is read again. A stall may have cost an answer, so that what fails around one is done
/// again.
#[derive(Debug)]
pub struct Audit {
    /// The readings around clients' views, in families with groups.
    views: Vec<Reading>,
    attempt: usize,
    /// The stalls before the attempt.
    before: Stalls,
    step: AuditStep,
}

#[derive(Debug)]
enum AuditStep {
    FirstReading,
    Quiescing(Result<Reading, String>, Deadline),
    HandingOut(Result<Reading, String>, KeptClaims),
    SecondReading(Result<Reading, String>),
}

impl Audit {
    pub fn begin(run: &mut RunContext, clients: &mut Clients, views: Vec<Reading>) -> Self {
        clients.enter(run, "audit", GeneratorPhase::Quiet);
        Self::attempt(run, views, 1)
    }

    fn attempt(run: &mut RunContext, views: Vec<Reading>, attempt: usize) -> Self {
        run.emit(Effect::Ask(Question::Tree));
        Self {
            views,
            attempt,
            before: run.stalls,
            step: AuditStep::FirstReading,
        }
    }

    /// The moment at which it has to be looked at, if nothing happens before.
    pub fn due(&self) -> Option<Deadline> {
        match &self.step {
            AuditStep::Quiescing(_, until) => Some(*until),
            AuditStep::HandingOut(_, kept) => Some(kept.until),
            AuditStep::FirstReading | AuditStep::SecondReading(_) => None,
        }
    }

    /// Makes the progress that is possible now; returns the tree once it is over, or the reason why it was not read.
    pub fn advance(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        answer: &mut Option<ShellAnswer>,
    ) -> Option<Result<TreeReadings, String>> {
        loop {
            let step = std::mem::replace(&mut self.step, AuditStep::FirstReading);
            match (step, answer.take()) {
                (AuditStep::FirstReading, Some(ShellAnswer::Tree(first))) => {
                    clients.ask_quiesce(run);
                    self.step = AuditStep::Quiescing(first, run.deadline(QUIESCE));
                }
                (AuditStep::Quiescing(first, until), _) if clients.all_quiesced() || run.passed(until) => {
                    self.step = AuditStep::HandingOut(first, KeptClaims::new(run, clients));
                }
                (AuditStep::HandingOut(first, mut kept), _) => {
                    if !kept.advance(run, clients) {
                        self.step = AuditStep::HandingOut(first, kept);
                        return None;
                    }
                    run.emit(Effect::Ask(Question::Tree));
                    self.step = AuditStep::SecondReading(first);
                    return None;
                }
                (AuditStep::SecondReading(first), Some(ShellAnswer::Tree(second))) => match (first, second) {
                    (Ok(first), Ok(second)) => {
                        let mut readings = std::mem::take(&mut self.views);
                        readings.extend([first, second]);
                        return Some(Ok(TreeReadings { readings }));
                    }
                    _ if self.attempt < ATTEMPTS && run.stalls != self.before => {
                        let views = std::mem::take(&mut self.views);
                        *self = Self::attempt(run, views, self.attempt + 1);
                    }
                    (Err(why), _) | (_, Err(why)) => return Some(Err(why)),
                },
                (step, _) => {
                    self.step = step;
                    return None;
                }
            }
        }
    }
}

/// Claims on items that clients named in their answers to `quiesce`: each such client is asked for what it keeps.
/// `docs/families/queue.md`.
#[derive(Debug)]
struct KeptClaims {
    keepers: Vec<Keeper>,
    /// When clients are asked no more.
    until: Deadline,
}

impl KeptClaims {
    /// Those that clients named in their answers to the last `quiesce`, where items are delivered at least once.
    fn new(run: &RunContext, clients: &Clients) -> Self {
        let drained = clients.generator.closing_task() == ClosingTask::Drain;
        let claimed = drained && run.plan.workload.capabilities().delivery == Delivery::AtLeastOnce;
        let named = clients.workers.iter().filter(|worker| claimed && worker.named > 0);
        let keeper = |worker: &Worker| Keeper {
            client: worker.number,
            left: worker.named + 1,
            step: KeeperStep::Keeping,
        };
        Self {
            keepers: named.map(keeper).collect(),
            until: run.deadline(PATIENCE),
        }
    }

    /// Asks those that can be asked; returns whether all have given what they keep, or the time is over.
    fn advance(&mut self, run: &mut RunContext, clients: &mut Clients) -> bool {
        if run.passed(self.until) {
            return true;
        }
        self.keepers.retain_mut(|keeper| keeper.goes_on(run, clients));
        self.keepers.is_empty()
    }
}

/// A client that named claims: it is asked to dequeue until it gives nothing.
#[derive(Debug)]
struct Keeper {
    client: usize,
    /// Dequeues that it may still be asked for: one more than it named claims.
    left: usize,
    step: KeeperStep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeeperStep {
    /// The client has something to be asked for.
    Keeping,
    Dequeuing,
    Acknowledging,
}

impl Keeper {
    /// Lets it go on with its next operation, once the last one has ended; false if there is none.
    fn goes_on(&mut self, run: &mut RunContext, clients: &mut Clients) -> bool {
        let worker = &mut clients.workers[self.client];
        if worker.op.is_some() {
            return true;
        }
        let end = worker.last.take().filter(Completion::is_ok);
        let item = end.and_then(|end| end.get(ITEM));
        let (step, request) = match (self.step, item) {
            (KeeperStep::Dequeuing, Some(item)) => (KeeperStep::Acknowledging, QueueRequest::Acknowledge { item }),
            (KeeperStep::Dequeuing, None) => return false,
            (KeeperStep::Keeping | KeeperStep::Acknowledging, _) => (KeeperStep::Dequeuing, QueueRequest::Dequeue {}),
        };
        let dequeues = usize::from(step == KeeperStep::Dequeuing);
        let Some(left) = self.left.checked_sub(dequeues).filter(|_| worker.is_idle()) else {
            return false;
        };
        self.left = left;
        self.step = step;
        clients.ask(run, self.client, OperationRequest::new(&request, single_ms(&run.plan)));
        true
    }
}
