//! Groups: every client is a member for a while, changes its value, and leaves. `docs/families/membership.md`.
//!
//! The last changes are made one after the other, first those of the list and then those of values: where nothing but
//! values changed last, a cache that watches no data shows an old one for ever.

use super::{
    Assignment, ClosingTask, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase, OperationRequest, pause,
    single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::membership::{self, MembershipRequest, NOT_REGISTERED, REGISTERED_ALREADY, f};
use zooquake_history::plan::{ClientPlan, Plan};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &membership::FAMILY,
    generator: |plan| Box::new(MembershipGenerator::new(plan)),
};

/// How long a last change keeps the next one waiting that does not end.
const TURN: Duration = Duration::from_secs(1);

/// The time between two last changes, for views to show the one before the other.
const CALM: Duration = Duration::from_millis(100);

/// How long a member is left alone that has lost its connection: a session that ended meanwhile is followed by another
/// one, and the member may be registered anew before it is asked for another change.
const REST: Duration = Duration::from_millis(500);

/// The longest that last updates wait for those that are no members.
const HEAD_START: Duration = Duration::from_secs(3);

#[derive(Debug)]
struct MemberClient {
    plan: ClientPlan,
    /// The dice of its cycles, so that they depend on nothing but the plan's seed and their number.
    dice: fastrand::Rng,
    cycle: usize,
    /// Whether it is a member, by its answers.
    registered: bool,
    /// Updates that are left in its cycle.
    updates: usize,
    /// How often it lost its connection as a member: it is left alone every other time, from the first on.
    cuts: usize,
    /// Whether its operation in flight is its last one.
    asked_last: bool,
    finished: bool,
}

/// The generator of groups.
#[derive(Debug)]
struct MembershipGenerator {
    clients: Vec<MemberClient>,
    single_ms: u64,
    /// The value that was used last in the run.
    last_value: i64,
    /// Whose the last change is that was begun last, and until when others wait for it.
    turn: Option<(usize, Duration)>,
    /// When the first of the last changes was asked for.
    last_since: Option<Duration>,
}

impl MembershipGenerator {
    fn new(plan: &Plan) -> Self {
        let client = |(number, of): (u64, &ClientPlan)| MemberClient {
            plan: of.clone(),
            dice: fastrand::Rng::with_seed(plan.seed ^ (number << 32) ^ 0x9_0b5),
            cycle: 0,
            registered: false,
            updates: 0,
            cuts: 0,
            asked_last: false,
            finished: false,
        };
        Self {
            clients: (1..).zip(&plan.clients).map(client).collect(),
            single_ms: single_ms(plan),
            last_value: 0,
            turn: None,
            last_since: None,
        }
    }

    /// How long a client waits with its last change, if it does.
    fn waits(&mut self, client: usize, now: Duration) -> Option<Duration> {
        let others = self.turn.filter(|&(_, until)| now < until);
        let others = others.filter(|&(other, _)| other != client || !self.clients[client].asked_last);
        if let Some((_, until)) = others {
            return Some(until - now);
        }
        let until = *self.last_since.get_or_insert(now) + HEAD_START;
        let joins = |state: &MemberClient| !state.registered && !state.finished;
        let behind = self.clients[client].registered && self.clients.iter().any(joins);
        (behind && now < until).then(|| until - now)
    }
}

impl Generator for MembershipGenerator {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        let last = phase == GeneratorPhase::Final;
        if matches!(phase, GeneratorPhase::Quiet | GeneratorPhase::Drain) || last && self.clients[client].finished {
            return Assignment::Nothing;
        }
        if last {
            if let Some(wait) = self.waits(client, now) {
                return Assignment::Await(wait);
            }
            self.turn = Some((client, now + TURN));
        }
        let state = &mut self.clients[client];
        state.asked_last = last;
        let request = if state.registered && !last && state.updates == 0 {
            MembershipRequest::Deregister {}
        } else {
            self.last_value += 1;
            let value = self.last_value;
            match state.registered {
                true => MembershipRequest::Update { value },
                false => MembershipRequest::Register {
                    member: format!("m{}", client + 1),
                    value,
                },
            }
        };
        Assignment::Ask(OperationRequest::new(&request, self.single_ms))
    }

    fn rest_at_cut(&mut self, client: usize) -> Duration {
        let state = &mut self.clients[client];
        state.cuts += usize::from(state.registered);
        match state.registered && state.cuts % 2 == 1 {
            true => REST,
            false => Duration::ZERO,
        }
    }

    /// Last changes wait for one another.
    fn coordinates(&self) -> bool {
        self.last_since.is_some()
    }

    fn closing_task(&self) -> ClosingTask {
        ClosingTask::Views
    }

    fn is_no_member(&mut self, client: usize) {
        let state = &mut self.clients[client];
        (state.registered, state.finished) = (false, false);
    }

    fn ended(
        &mut self,
        client: usize,
        op: &PendingOp,
        end: &Completion,
        GeneratorMoment { phase, now }: GeneratorMoment,
    ) -> Duration {
        if self.turn.is_some_and(|(other, _)| other == client) {
            self.turn = Some((client, now + CALM));
        }
        let state = &mut self.clients[client];
        // One that was no member registers first, and then changes its value like all others.
        state.finished |= state.asked_last && end.is_ok() && op.f == f::UPDATE;
        state.asked_last = false;
        let think = state.plan.think(state.cycle);
        match (op.f, end.kind) {
            (f::REGISTER, EventType::Ok) => {
                // Some stay for longer, so that groups are of different sizes.
                let times = if state.dice.u32(0..10) < 3 { 3 } else { 1 };
                let updates = state.plan.cycle(state.cycle).map_or(1, |cycle| cycle.writes.len());
                (state.registered, state.updates) = (true, updates * times);
            }
            (f::DEREGISTER, EventType::Ok) => {
                state.registered = false;
                state.cycle += 1;
            }
            // It has registered anew by itself since it answered that it was none.
            (f::REGISTER, EventType::Fail) if end.error.as_deref() == Some(REGISTERED_ALREADY) => {
                state.registered = true
            }
            (f::UPDATE | f::DEREGISTER, EventType::Fail) if end.error.as_deref() == Some(NOT_REGISTERED) => {
                state.registered = false;
            }
            // One that is refused otherwise may go on for ever: it counts too, so that the client leaves in the end.
            (f::UPDATE, EventType::Ok | EventType::Fail) => state.updates = state.updates.saturating_sub(1),
            _ => {}
        }
        pause(end, phase, think)
    }

    fn died(&mut self, client: usize) {
        let state = &mut self.clients[client];
        (state.registered, state.asked_last) = (false, false);
        self.turn = self.turn.filter(|&(other, _)| other != client);
    }

    fn recovered(&mut self, _: &AnsweredDurations) {
        (self.turn, self.last_since) = (None, None);
        for client in &mut self.clients {
            (client.asked_last, client.finished) = (false, false);
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].finished
    }
}
