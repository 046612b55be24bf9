//! The drain: when all have finished the last client empties the queue, or reads the counter, each time after a quorum write.
//! `docs/families/queue.md`, `docs/families/counter.md`.

use super::effect::Entry;
use super::generator::{AtEnd, Request, single_ms};
use super::stage::{Stage, Turn};
use super::worker::End;
use super::{Deadline, Engine};
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::EventType;
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
pub(super) struct Drain {
    by: Deadline,
    /// What is done.
    what: AtEnd,
    /// Operations that it may still take.
    operations: u64,
    /// Dequeues that found nothing, up to now without another one between.
    empty: usize,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
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

impl Drain {
    pub(super) fn due(&self) -> Option<Deadline> {
        match self.step {
            Step::Pausing(until) => Some(until),
            _ => Some(self.by),
        }
    }
}

impl Engine {
    /// Begins to empty the queue, or to read the counter, through the last client.
    pub(super) fn drain(&mut self, what: AtEnd) -> Stage {
        Stage::Draining(Drain {
            by: self.deadline(PATIENCE),
            what,
            // An item more than were ever enqueued would be a wonder; two operations each, and a thousand to spare.
            operations: 1_000 + 2 * self.completed,
            empty: 0,
            step: Step::Unsure,
        })
    }

    /// Writes `drained` if the queue was seen empty.
    pub(super) fn draining(&mut self, mut drain: Drain) -> Turn {
        let last = self.workers.len() - 1;
        let late = self.passed(drain.by);
        drain.step = match drain.step {
            Step::Unsure | Step::Sure if drain.empty >= EMPTY_READS || drain.operations == 0 || late => {
                if drain.empty >= EMPTY_READS {
                    self.record(Entry::named("run", "phase", json!("drained")));
                }
                return Turn::Moves(self.after_recovery());
            }
            Step::Unsure => {
                drain.operations -= 1;
                self.ask_control(last, "confirm");
                Step::Confirming
            }
            Step::Sure if drain.what == AtEnd::Read => {
                drain.operations -= 1;
                self.drain_one(&counter::Request::Get {});
                Step::Reading
            }
            Step::Sure => {
                drain.operations -= 1;
                self.drain_one(&queue::Request::Dequeue {});
                Step::Dequeuing
            }
            Step::Confirming if !late && self.workers[last].asked("confirm") => {
                return Turn::Stays(Stage::Draining(drain));
            }
            Step::Confirming if self.workers[last].last_confirm == Some(EventType::Ok) => Step::Sure,
            Step::Confirming => {
                drain.empty = 0;
                Step::Pausing(self.deadline(AFTER_FAILURE))
            }
            Step::Pausing(until) if !self.passed(until) => return Turn::Stays(Stage::Draining(drain)),
            Step::Pausing(_) => Step::Unsure,
            Step::Reading | Step::Dequeuing | Step::Acknowledging if !late && self.workers[last].op.is_some() => {
                return Turn::Stays(Stage::Draining(drain));
            }
            Step::Reading if late || self.workers[last].last.take().is_some_and(|end| end.is_ok()) => {
                return Turn::Moves(self.after_recovery());
            }
            Step::Reading => Step::Pausing(self.deadline(AFTER_FAILURE)),
            Step::Dequeuing => self.dequeued(&mut drain),
            Step::Acknowledging => Step::Sure,
        };
        Turn::Moves(Stage::Draining(drain))
    }

    fn drain_one(&mut self, request: &impl Operation) {
        let last = self.workers.len() - 1;
        self.workers[last].last = None;
        let request = Request::new(request, single_ms(&self.plan));
        self.ask(last, request);
    }

    fn dequeued(&mut self, drain: &mut Drain) -> Step {
        let last = self.workers.len() - 1;
        let ended = self.workers[last].last.take().filter(End::is_ok);
        let none = |end: &End| end.get(queue::ITEM.any()).is_none_or(Value::is_null);
        drain.empty = match &ended {
            Some(end) if none(end) => drain.empty + 1,
            _ => 0,
        };
        let Some(end) = ended.filter(|end| !none(end)) else {
            return Step::Unsure;
        };
        match end.get(queue::ITEM) {
            Some(item) if self.plan.workload.capabilities().delivery == Delivery::AtLeastOnce => {
                self.drain_one(&queue::Request::Acknowledge { item });
                Step::Acknowledging
            }
            _ => Step::Sure,
        }
    }
}
