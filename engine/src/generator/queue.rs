//! Queues of items: some clients produce, others consume, the last one is kept for the drain. `docs/families/queue.md`.

use super::{
    AFTER_BOUND_MS, Assignment, ClosingTask, FINAL_AGAIN, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase,
    OperationRequest, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::ops::RangeInclusive;
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

/// Items at which producers hold back: consumers work longer than producers think, and what they leave would have to be
/// drained at the end.
const MOST: usize = 16;

/// How many items consumers rest for.
const BURST: RangeInclusive<usize> = 2..=12;

/// The longest rest of the consumers: where producers are cut off, consumers go on.
const REST: Duration = Duration::from_millis(400);

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

/// The generator of `queue/fifo` and `queue/claimed`.
#[derive(Debug)]
struct ItemGenerator {
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
    fn new(plan: &Plan) -> Self {
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

/// The backlog of a queue: an estimate of its items, and whether its consumers rest. They do so now and then, and
/// producers put in a burst of items meanwhile. Otherwise the queue would nearly always be empty, and neither could a
/// list of it be out of date when it is used nor an order be wrong.
#[derive(Debug)]
struct Backlog {
    /// The dice of its bursts, so that they depend on nothing but the plan's seed.
    dice: fastrand::Rng,
    /// Items whose `enqueue` did not fail and that were not dequeued yet.
    items: usize,
    /// Whether an item was enqueued since the last rest began.
    fresh: bool,
    rest: Option<Rest>,
}

/// A rest of the consumers.
#[derive(Debug)]
struct Rest {
    /// How many items end the rest.
    items: usize,
    /// When a consumer first rested.
    since: Option<Duration>,
}

impl Backlog {
    /// An empty queue, and consumers that rest.
    fn new(seed: u64) -> Self {
        let mut backlog = Self {
            dice: fastrand::Rng::with_seed(seed ^ 0xbac_1067),
            items: 0,
            fresh: true,
            rest: None,
        };
        backlog.emptied();
        backlog
    }

    /// Whether producers put in one item after the other.
    fn bursts(&self) -> bool {
        self.rest.is_some()
    }

    /// Whether producers hold back.
    fn full(&self) -> bool {
        self.items >= MOST
    }

    /// Whether a consumer that could go on rests.
    fn rests(&mut self, now: Duration) -> bool {
        let Some(rest) = &mut self.rest else { return false };
        let since = *rest.since.get_or_insert(now);
        if self.items >= rest.items || now.saturating_sub(since) >= REST {
            self.rest = None;
        }
        self.rest.is_some()
    }

    /// An item may have been enqueued.
    fn enqueued(&mut self) {
        self.items += 1;
        self.fresh = true;
    }

    /// An item was dequeued.
    fn dequeued(&mut self) {
        self.items = self.items.saturating_sub(1);
        if self.items == 0 {
            self.emptied();
        }
    }

    /// The queue was found empty. A rest follows, if an item was enqueued since the last one began.
    fn emptied(&mut self) {
        self.items = 0;
        if self.rest.is_none() && std::mem::take(&mut self.fresh) {
            self.rest = Some(Rest {
                items: self.dice.usize(BURST),
                since: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Consumers go on when the burst is there, and rest again when the queue is empty.
    #[test]
    fn consumers_rest_for_a_burst_and_again_when_the_queue_is_empty() {
        for seed in 0..50 {
            let mut backlog = Backlog::new(seed);
            let mut bursts = std::collections::BTreeSet::new();
            for _ in 0..20 {
                let mut items = 0;
                while backlog.rests(Duration::ZERO) {
                    assert!(backlog.bursts() && !backlog.full());
                    backlog.enqueued();
                    items += 1;
                }
                assert!(BURST.contains(&items) && !backlog.bursts(), "{items}");
                bursts.insert(items);
                (0..items).for_each(|_| backlog.dequeued());
            }
            assert!(bursts.len() > 3, "{bursts:?}");
        }
    }

    /// Producers may be cut off: consumers go on asking.
    #[test]
    fn no_rest_is_endless_and_none_follows_without_an_item() {
        let mut backlog = Backlog::new(1);
        assert!(backlog.rests(Duration::from_secs(5)));
        assert!(!backlog.rests(Duration::from_secs(5) + REST));
        backlog.emptied();
        assert!(!backlog.rests(Duration::from_secs(6)));
        backlog.enqueued();
        backlog.dequeued();
        assert!(backlog.rests(Duration::from_secs(6)));
    }

    #[test]
    fn producers_hold_back_when_there_is_much_to_do() {
        let mut backlog = Backlog::new(1);
        (0..MOST).for_each(|_| backlog.enqueued());
        assert!(backlog.full() && !backlog.rests(Duration::ZERO));
        backlog.dequeued();
        assert!(!backlog.full());
    }
}
