//! Queues of items: some clients produce, others consume, the last one is kept for the drain. `docs/families/queue.md`.

use super::backlog::Backlog;
use super::{
    AFTER_BOUND_MS, Assignment, ClosingTask, FINAL_AGAIN, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase,
    OperationRequest, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::queue;
use zooquake_history::plan::{ClientPlan, Delivery, Plan};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &queue::FAMILY,
    generator: |plan| Box::new(ItemGenerator::new(plan)),
};

/// A consumer that was given nothing waits this long.
const AFTER_NOTHING: Duration = Duration::from_millis(50);

/// After recovery consumers ask when producers have put in their last items, so that there is something to be given;
/// they wait no longer than this.
const HEAD_START: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientRole {
    Produces,
    Consumes,
    /// Does nothing before the drain.
    Waits,
}

#[derive(Debug)]
struct QueueClient {
    role: ClientRole,
    plan: ClientPlan,
    cycle: usize,
    /// The item that it was given and has to acknowledge.
    given: Option<i64>,
    last: bool,
    finished: bool,
}

/// The generator of `fifo` and `claimed`.
#[derive(Debug)]
pub struct ItemGenerator {
    claimed: bool,
    clients: Vec<QueueClient>,
    next_item: i64,
    backlog: Backlog,
    /// Milliseconds that the recipe has for an operation before recovery.
    single_ms: u64,
    /// What was answered: of it are made the bounds of liveness.
    answered: AnsweredDurations,
    /// When the last operations began.
    last_since: Option<Duration>,
}

impl ItemGenerator {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
        let role = |number: usize| match number {
            _ if number + 1 == plan.clients.len() => ClientRole::Waits,
            _ if number.is_multiple_of(2) => ClientRole::Produces,
            _ => ClientRole::Consumes,
        };
        let client = |(number, of): (usize, &ClientPlan)| QueueClient {
            role: role(number),
            plan: of.clone(),
            cycle: 0,
            given: None,
            last: false,
            finished: role(number) == ClientRole::Waits,
        };
        let clients = plan.clients.iter().enumerate().map(client).collect();
        Self {
            claimed: plan.workload.capabilities().delivery == Delivery::AtLeastOnce,
            clients,
            next_item: 1,
            backlog: Backlog::new(plan.seed),
            single_ms: single_ms(plan),
            answered: AnsweredDurations::default(),
            last_since: None,
        }
    }

    /// After recovery an operation is pending for as long as the last operations go on before it has timed out.
    fn ask(&self, request: &queue::QueueRequest, phase: GeneratorPhase) -> Assignment {
        let bound_ms = self.answered.greatest_bound().as_millis() as u64;
        let timeout_ms = match phase {
            GeneratorPhase::Final => self.single_ms.max(bound_ms + AFTER_BOUND_MS),
            _ => self.single_ms,
        };
        Assignment::Ask(OperationRequest::new(request, timeout_ms))
    }

    /// Whether a consumer waits for the last items of producers.
    fn has_head_start(&mut self, now: Duration) -> bool {
        let since = *self.last_since.get_or_insert(now);
        let puts = |client: &QueueClient| client.role == ClientRole::Produces && !client.finished;
        now.saturating_sub(since) < HEAD_START && self.clients.iter().any(puts)
    }
}

impl Generator for ItemGenerator {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        let state = &self.clients[client];
        if phase == GeneratorPhase::Quiet || state.role == ClientRole::Waits {
            return Assignment::Nothing;
        }
        if let Some(item) = state.given {
            return self.ask(&queue::QueueRequest::Acknowledge { item }, phase);
        }
        if phase == GeneratorPhase::Drain || state.finished && phase == GeneratorPhase::Final {
            return Assignment::Nothing;
        }
        let produces = state.role == ClientRole::Produces;
        let waits = match (phase, produces) {
            (GeneratorPhase::Load, true) => self.backlog.full(),
            (GeneratorPhase::Load, false) => self.backlog.rests(now),
            (GeneratorPhase::Final, false) => self.has_head_start(now),
            _ => false,
        };
        if waits {
            return Assignment::Await(AFTER_NOTHING);
        }
        self.clients[client].last = phase == GeneratorPhase::Final;
        if !produces {
            return self.ask(&queue::QueueRequest::Dequeue {}, phase);
        }
        let item = self.next_item;
        self.next_item += 1;
        self.ask(&queue::QueueRequest::Enqueue { item }, phase)
    }

    /// Consumers that rest go on together.
    fn coordinates(&self) -> bool {
        true
    }

    fn closing_task(&self) -> ClosingTask {
        ClosingTask::Drain
    }

    fn ended(&mut self, client: usize, op: &PendingOp, end: &Completion, at: GeneratorMoment) -> Duration {
        op.measure(end, at.now, &mut self.answered);
        let state = &mut self.clients[client];
        let planned = state.plan.cycle(state.cycle);
        let think = state.plan.think(state.cycle);
        let work = Duration::from_millis(planned.and_then(|cycle| cycle.writes.first().copied()).unwrap_or(0));
        state.cycle += 1;
        let item = end.get(queue::ITEM).filter(|_| end.is_ok());
        match (op.f, end.kind) {
            (queue::f::ENQUEUE, EventType::Ok | EventType::Info) => self.backlog.enqueued(),
            (queue::f::DEQUEUE, EventType::Ok) if item.is_none() => self.backlog.emptied(),
            (queue::f::DEQUEUE, EventType::Ok) => self.backlog.dequeued(),
            _ => {}
        }
        match (op.f, item) {
            (queue::f::DEQUEUE, Some(item)) if self.claimed => {
                state.given = Some(item);
                return if state.last { Duration::ZERO } else { work };
            }
            (queue::f::ACKNOWLEDGE, _) => state.given = None,
            _ => {}
        }
        // A dequeue that finds nothing has finished, too.
        state.finished |= state.last && end.is_ok();
        if state.last && !end.is_ok() {
            return FINAL_AGAIN;
        }
        if op.f == queue::f::ENQUEUE && end.is_ok() {
            return if self.backlog.bursts() { Duration::ZERO } else { think };
        }
        if item.is_some() { Duration::ZERO } else { AFTER_NOTHING }
    }

    fn died(&mut self, client: usize) {
        // Its successor never acknowledges what it was given.
        self.clients[client].given = None;
    }

    fn recovered(&mut self, answered: &AnsweredDurations) {
        self.answered = answered.clone();
        self.last_since = None;
        for client in &mut self.clients {
            client.finished = client.role == ClientRole::Waits;
            client.last = false;
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].finished
    }
}
