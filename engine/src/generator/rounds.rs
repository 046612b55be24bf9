//! The double barrier: the clients enter and leave, round after round. `docs/families/barrier.md`.

use super::{Assignment, BEYOND_MS, Generator, GeneratorMoment, GeneratorPhase, OperationRequest, pause};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::barrier;
use zooquake_history::plan::{ClientPlan, Plan};

/// Who has taken so many session timeouts for an `enter`, or for a stay and its `leave`, is not waited for any more.
const PATIENCE: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundStep {
    /// It has ended its round, and is in no other one yet.
    Between,
    Entering,
    /// It has entered, and leaves next.
    Inside,
}

#[derive(Debug)]
struct BarrierClient {
    plan: ClientPlan,
    step: RoundStep,
    /// Since when.
    since: Duration,
    /// The round that it is in, or was in last, and how many members that has.
    round: i64,
    members: usize,
}

/// The generator of `barrier/double`.
#[derive(Debug)]
pub struct Rounds {
    clients: Vec<BarrierClient>,
    wait_ms: u64,
    patience: Duration,
    /// The round that was opened last, for all who were between two rounds.
    opened: i64,
    /// The highest round that anybody was sent `enter` for: all its members are sent it, or somebody waits for ever.
    begun: i64,
    /// After recovery: the last round.
    last: i64,
}

impl Rounds {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
        let client = |plan: &ClientPlan| BarrierClient {
            plan: plan.clone(),
            step: RoundStep::Between,
            since: Duration::ZERO,
            round: 0,
            members: 0,
        };
        Self {
            clients: plan.clients.iter().map(client).collect(),
            wait_ms: plan.time_ms + BEYOND_MS,
            patience: Duration::from_millis(plan.cluster.timing.session_ms) * PATIENCE,
            opened: 0,
            begun: 0,
            last: i64::MAX,
        }
    }

    /// Opens the next round, when all have ended theirs, or those who have not are stuck; else returns how long to
    /// wait.
    fn open(&mut self, phase: GeneratorPhase, now: Duration) -> Assignment {
        let may_open = phase == GeneratorPhase::Load || phase == GeneratorPhase::Final && self.opened < self.last;
        let busy = self.clients.iter().filter(|client| client.step != RoundStep::Between);
        let patient_until = busy.map(|client| client.since + self.patience).max();
        let members = self
            .clients
            .iter()
            .filter(|client| client.step == RoundStep::Between)
            .count();
        if !may_open || members < self.clients.len().min(2) {
            return Assignment::Nothing;
        }
        if let Some(until) = patient_until.filter(|until| *until > now) {
            return Assignment::Await(until - now);
        }
        self.opened += 1;
        let between = self
            .clients
            .iter_mut()
            .filter(|client| client.step == RoundStep::Between);
        for client in between {
            (client.step, client.since) = (RoundStep::Entering, now);
            (client.round, client.members) = (self.opened, members);
        }
        Assignment::Nothing
    }
}

impl Generator for Rounds {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        if phase == GeneratorPhase::Quiet {
            return Assignment::Nothing;
        }
        if self.clients[client].step == RoundStep::Between
            && let wait @ Assignment::Await(_) = self.open(phase, now)
        {
            return wait;
        }
        let &BarrierClient {
            step, round, members, ..
        } = &self.clients[client];
        let request = match step {
            RoundStep::Between => return Assignment::Nothing,
            RoundStep::Entering if phase == GeneratorPhase::Drain && round > self.begun => return Assignment::Nothing,
            RoundStep::Entering => barrier::BarrierRequest::Enter { round, members },
            RoundStep::Inside => barrier::BarrierRequest::Leave { round },
        };
        self.begun = self.begun.max(round);
        Assignment::Ask(OperationRequest::new(&request, self.wait_ms))
    }

    fn coordinates(&self) -> bool {
        true
    }

    fn ended(
        &mut self,
        client: usize,
        op: &PendingOp,
        end: &Completion,
        GeneratorMoment { phase, now }: GeneratorMoment,
    ) -> Duration {
        let state = &mut self.clients[client];
        if !end.is_ok() && (phase == GeneratorPhase::Final || op.f == barrier::f::ENTER) {
            return pause(end, phase, Duration::ZERO);
        }
        state.since = now;
        state.step = match op.f {
            barrier::f::ENTER => RoundStep::Inside,
            _ => RoundStep::Between,
        };
        match phase {
            GeneratorPhase::Load => state.plan.think(state.round as usize),
            _ => Duration::ZERO,
        }
    }

    fn died(&mut self, client: usize) {
        let state = &mut self.clients[client];
        if state.step == RoundStep::Inside {
            state.step = RoundStep::Between;
        }
    }

    fn recovered(&mut self, _: &AnsweredDurations) {
        self.last = self.begun + 1;
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].step == RoundStep::Between && self.opened >= self.last
    }
}
