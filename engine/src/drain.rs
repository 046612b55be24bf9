//! The drain: when all have finished the last client empties the queue, or reads the counter, each time after a quorum
//! write. `docs/families/queue.md`, `docs/families/counter.md`.

use super::clients::Clients;
use super::clients::worker::Worker;
use super::context::{Deadline, RunContext, Transition};
use super::effect::HistoryEntry;
use super::generator::{ClosingTask, OperationRequest, single_ms};
use super::operation::Completion;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::operation::control::f;
use zooquake_history::operation::{Operation, counter, queue};
use zooquake_history::plan::Delivery;

/// Dequeues that must find nothing, one after the other.
const EMPTY_READS: usize = 3;

/// Longest drain, without what the harness itself stood still in it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that could not write waits this long before it tries again.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// A drain on its way.
#[derive(Debug)]
pub struct Drain {
    until: Deadline,
    task: ClosingTask,
    /// Operations that it may still take.
    operations: u64,
    /// Dequeues that found nothing, up to now without another one between.
    empty: usize,
    step: DrainStep,
}

#[derive(Debug, Clone, Copy)]
enum DrainStep {
    /// A quorum write is to come.
    Unsure,
    Confirming,
    Pausing(Deadline),
    /// The quorum write was done: the next operation finds what there is.
    Sure,
    Reading,
    Dequeuing,
    Acknowledging,
}

/// What follows a step of the drain.
type DrainTransition = Transition<DrainStep, ()>;

impl Drain {
    /// A drain of the queue, or of the counter, through the last client. No client is asked for anything else any more:
    /// the last one is not asked again for what it did not finish.
    pub fn new(run: &RunContext, clients: &mut Clients, task: ClosingTask) -> Self {
        clients.rest();
        Self {
            until: run.deadline(PATIENCE),
            task,
            // An item more than were ever enqueued would be a wonder; two operations each, and a thousand to spare.
            operations: 1_000 + 2 * clients.completed,
            empty: 0,
            step: DrainStep::Unsure,
        }
    }

    /// The moment at which it has to be looked at, if nothing happens before.
    pub fn due(&self) -> Deadline {
        match self.step {
            DrainStep::Pausing(until) => until,
            _ => self.until,
        }
    }

    /// Makes the progress that is possible now; returns whether it is over.
    pub fn advance(&mut self, run: &mut RunContext, clients: &mut Clients) -> bool {
        loop {
            let transition = self.transition(run, clients);
            if let ControlFlow::Break(end) = transition.apply(&mut self.step) {
                return end.is_some();
            }
        }
    }

    /// Writes `drained` if the queue was seen empty.
    fn transition(&mut self, run: &mut RunContext, clients: &mut Clients) -> DrainTransition {
        let late = run.passed(self.until);
        let last = last(clients);
        let next = match self.step {
            DrainStep::Unsure | DrainStep::Sure if self.empty >= EMPTY_READS || self.operations == 0 || late => {
                if self.empty >= EMPTY_READS {
                    run.record(HistoryEntry::named("run", "phase", json!("drained")));
                }
                return DrainTransition::End(());
            }
            // Its process has ended, and is to be started again.
            DrainStep::Unsure | DrainStep::Sure if !last.is_idle() => return DrainTransition::Wait(self.step),
            DrainStep::Unsure => {
                self.operations -= 1;
                last.last_confirm = None;
                let last = last.number;
                clients.ask_control(run, last, f::CONFIRM);
                DrainStep::Confirming
            }
            DrainStep::Sure if self.task == ClosingTask::Read => {
                self.ask(run, clients, &counter::CounterRequest::Get {});
                DrainStep::Reading
            }
            DrainStep::Sure => {
                self.ask(run, clients, &queue::QueueRequest::Dequeue {});
                DrainStep::Dequeuing
            }
            DrainStep::Confirming if !late && last.was_asked(f::CONFIRM) => return DrainTransition::Wait(self.step),
            DrainStep::Confirming if last.last_confirm == Some(EventType::Ok) => DrainStep::Sure,
            DrainStep::Confirming => {
                self.empty = 0;
                DrainStep::Pausing(run.deadline(AFTER_FAILURE))
            }
            DrainStep::Pausing(until) if !run.passed(until) => return DrainTransition::Wait(self.step),
            DrainStep::Pausing(_) => DrainStep::Unsure,
            DrainStep::Reading | DrainStep::Dequeuing | DrainStep::Acknowledging if !late && last.op.is_some() => {
                return DrainTransition::Wait(self.step);
            }
            DrainStep::Reading if late || last.last.take().is_some_and(|end| end.is_ok()) => {
                return DrainTransition::End(());
            }
            DrainStep::Reading => DrainStep::Pausing(run.deadline(AFTER_FAILURE)),
            DrainStep::Dequeuing => self.dequeued(run, clients),
            DrainStep::Acknowledging => DrainStep::Sure,
        };
        DrainTransition::Move(next)
    }

    fn ask(&mut self, run: &mut RunContext, clients: &mut Clients, operation: &impl Operation) {
        self.operations -= 1;
        send(run, clients, operation);
    }

    fn dequeued(&mut self, run: &mut RunContext, clients: &mut Clients) -> DrainStep {
        let end = last(clients).last.take().filter(Completion::is_ok);
        let none = |end: &Completion| end.get(queue::ITEM.any()).is_none_or(Value::is_null);
        self.empty = match &end {
            Some(end) if none(end) => self.empty + 1,
            _ => 0,
        };
        let Some(end) = end.filter(|end| !none(end)) else {
            return DrainStep::Unsure;
        };
        match end.get(queue::ITEM) {
            Some(item) if run.plan.workload.capabilities().delivery == Delivery::AtLeastOnce => {
                send(run, clients, &queue::QueueRequest::Acknowledge { item });
                DrainStep::Acknowledging
            }
            _ => DrainStep::Sure,
        }
    }
}

/// The client that drains.
fn last(clients: &mut Clients) -> &mut Worker {
    clients
        .workers
        .last_mut()
        .expect("a drain begins only where there is a client")
}

/// Asks the client that drains for an operation.
fn send(run: &mut RunContext, clients: &mut Clients, operation: &impl Operation) {
    let worker = last(clients);
    worker.last = None;
    let number = worker.number;
    let request = OperationRequest::new(operation, single_ms(&run.plan));
    clients.ask(run, number, request);
}
