//! Queues of items: some clients produce, others consume, the last one is kept for the drain. `docs/families/queue.md`.

use super::{AtEnd, FINAL_AGAIN, Generator, Moment, Next, Phase, Request};
use crate::engine::worker::{End, Op};
use std::time::Duration;
use zooquake_checkers::EventType;
use zooquake_checkers::plan::{ClientPlan, Delivery, Plan};
use zooquake_history::operation::queue;

/// A consumer that was given nothing waits this long.
const AFTER_NOTHING: Duration = Duration::from_millis(50);

/// Items in the queue, as far as is known, at which producers hold back: consumers work longer than producers think, and
/// what they leave would have to be drained at the end.
const BACKLOG: usize = 16;

/// Milliseconds that the recipe has for an operation.
pub const LIMIT_MS: u64 = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Produces,
    Consumes,
    /// Does nothing before the drain.
    Waits,
}

#[derive(Debug)]
struct Client {
    role: Role,
    plan: ClientPlan,
    cycle: usize,
    /// The item that it was given and has to acknowledge.
    given: Option<i64>,
    last: bool,
    finished: bool,
}

/// The generator of `fifo` and `claimed`.
#[derive(Debug)]
pub struct Items {
    claimed: bool,
    clients: Vec<Client>,
    next_item: i64,
    /// Items that were enqueued, as far as is known, and not dequeued yet.
    backlog: usize,
}

impl Items {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
        let role = |number: usize| match number {
            _ if number + 1 == plan.clients.len() => Role::Waits,
            _ if number.is_multiple_of(2) => Role::Produces,
            _ => Role::Consumes,
        };
        let client = |(number, of): (usize, &ClientPlan)| Client {
            role: role(number),
            plan: of.clone(),
            cycle: 0,
            given: None,
            last: false,
            finished: role(number) == Role::Waits,
        };
        let clients = plan.clients.iter().enumerate().map(client).collect();
        Self {
            claimed: plan.workload.capabilities().delivery == Delivery::AtLeastOnce,
            clients,
            next_item: 1,
            backlog: 0,
        }
    }
}

fn single(request: &queue::Request) -> Next {
    Next::Ask(Request::new(request, LIMIT_MS))
}

impl Generator for Items {
    fn next(&mut self, client: usize, Moment { phase, .. }: Moment) -> Next {
        let state = &mut self.clients[client];
        if phase == Phase::Quiet || state.role == Role::Waits {
            return Next::Nothing;
        }
        if let Some(item) = state.given {
            return single(&queue::Request::Acknowledge { item });
        }
        if phase == Phase::Drain || state.finished && phase == Phase::Final {
            return Next::Nothing;
        }
        if state.role == Role::Produces && phase == Phase::Load && self.backlog >= BACKLOG {
            return Next::Wait(AFTER_NOTHING);
        }
        state.last = phase == Phase::Final;
        if state.role == Role::Consumes {
            return single(&queue::Request::Dequeue {});
        }
        let item = self.next_item;
        self.next_item += 1;
        single(&queue::Request::Enqueue { item })
    }

    fn at_end(&self) -> AtEnd {
        AtEnd::Drain
    }

    fn ended(&mut self, client: usize, op: &Op, end: &End, _: Moment) -> Duration {
        let state = &mut self.clients[client];
        let planned = state.plan.cycles.get(state.cycle % state.plan.cycles.len().max(1));
        let think = Duration::from_millis(planned.map_or(0, |cycle| cycle.think_ms));
        let work = Duration::from_millis(planned.and_then(|cycle| cycle.writes.first().copied()).unwrap_or(0));
        state.cycle += 1;
        let item = end.get(queue::ITEM).filter(|_| end.is_ok());
        match (op.f, end.kind) {
            ("enqueue", EventType::Ok | EventType::Info) => self.backlog += 1,
            ("dequeue", EventType::Ok) if item.is_none() => self.backlog = 0,
            ("dequeue", EventType::Ok) => self.backlog = self.backlog.saturating_sub(1),
            _ => {}
        }
        match (op.f, item) {
            ("dequeue", Some(item)) if self.claimed => {
                state.given = Some(item);
                return if state.last { Duration::ZERO } else { work };
            }
            ("acknowledge", _) => state.given = None,
            _ => {}
        }
        // A dequeue that finds nothing has finished, too.
        state.finished |= state.last && end.is_ok();
        if state.last && !end.is_ok() {
            return FINAL_AGAIN;
        }
        if op.f == "enqueue" && end.is_ok() {
            return think;
        }
        if item.is_some() { Duration::ZERO } else { AFTER_NOTHING }
    }

    fn died(&mut self, client: usize) {
        // Its successor never acknowledges what it was given.
        self.clients[client].given = None;
    }

    fn recovered(&mut self, _: Duration) {
        for client in &mut self.clients {
            client.finished = client.role == Role::Waits;
            client.last = false;
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].finished
    }
}
