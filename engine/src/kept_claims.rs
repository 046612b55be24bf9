//! Claims on items that clients name at the end: each such client is asked for what it keeps. `docs/families/queue.md`.

use super::clients::Clients;
use super::clients::worker::Worker;
use super::context::{Deadline, RunContext};
use super::generator::{ClosingTask, OperationRequest, single_ms};
use super::operation::Completion;
use std::time::Duration;
use zooquake_history::operation::queue::{ITEM, QueueRequest};
use zooquake_history::plan::Delivery;

/// Longest time in which clients hand out what they keep.
const PATIENCE: Duration = Duration::from_secs(20);

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
    /// It has something to be asked for.
    Keeping,
    Dequeuing,
    Acknowledging,
}

/// What clients keep, being handed out.
#[derive(Debug)]
pub struct KeptClaims {
    keepers: Vec<Keeper>,
    until: Deadline,
}

impl KeptClaims {
    /// Those that clients named in their answers to the last `quiesce`, where items are delivered at least once.
    pub fn new(run: &RunContext, clients: &Clients) -> Self {
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

    /// The moment at which they have to be looked at, if nothing happens before.
    pub fn due(&self) -> Deadline {
        self.until
    }

    /// Asks those that can be asked; returns whether all have given what they keep, or the time is over.
    pub fn advance(&mut self, run: &mut RunContext, clients: &mut Clients) -> bool {
        if run.passed(self.until) {
            return true;
        }
        self.keepers.retain_mut(|keeper| keeper.goes_on(run, clients));
        self.keepers.is_empty()
    }
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
