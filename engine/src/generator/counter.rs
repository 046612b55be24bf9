//! Counters: every client adds 1 and sometimes reads the value. `docs/families/counter.md`.

use super::{
    Assignment, ClosingTask, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase, OperationRequest, pause,
    single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::counter;
use zooquake_history::plan::{ClientPlan, Plan};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &counter::FAMILY,
    generator: |plan| Box::new(CounterGenerator::new(plan)),
};

#[derive(Debug)]
struct CounterClient {
    plan: ClientPlan,
    /// The dice of its operations, so that they depend on nothing but the plan's seed and their number.
    dice: fastrand::Rng,
    cycle: usize,
    /// Whether its operation in flight is its last one.
    asked_last: bool,
    finished: bool,
}

#[derive(Debug)]
struct CounterGenerator {
    clients: Vec<CounterClient>,
    single_ms: u64,
}

impl CounterGenerator {
    fn new(plan: &Plan) -> Self {
        let client = |(number, of): (u64, &ClientPlan)| CounterClient {
            plan: of.clone(),
            dice: fastrand::Rng::with_seed(plan.seed ^ (number << 32) ^ 0xc0_0417),
            cycle: 0,
            asked_last: false,
            finished: false,
        };
        Self {
            clients: (1..).zip(&plan.clients).map(client).collect(),
            single_ms: single_ms(plan),
        }
    }
}

impl Generator for CounterGenerator {
    fn next(&mut self, client: usize, GeneratorMoment { phase, .. }: GeneratorMoment) -> Assignment {
        let state = &mut self.clients[client];
        let last = phase == GeneratorPhase::Final;
        if matches!(phase, GeneratorPhase::Quiet | GeneratorPhase::Drain) || last && state.finished {
            return Assignment::Nothing;
        }
        state.asked_last = last;
        let request = match last || state.dice.u32(0..10) < 7 {
            true => counter::CounterRequest::Increment {},
            false => counter::CounterRequest::Get {},
        };
        Assignment::Ask(OperationRequest::new(&request, self.single_ms))
    }

    fn closing_task(&self) -> ClosingTask {
        ClosingTask::Read
    }

    fn ended(
        &mut self,
        client: usize,
        _: &PendingOp,
        end: &Completion,
        GeneratorMoment { phase, .. }: GeneratorMoment,
    ) -> Duration {
        let state = &mut self.clients[client];
        state.finished |= state.asked_last && end.is_ok();
        let think = state.plan.think(state.cycle);
        state.cycle += 1;
        pause(end, phase, think)
    }

    fn died(&mut self, client: usize) {
        self.clients[client].asked_last = false;
    }

    fn recovered(&mut self, _: &AnsweredDurations) {
        for client in &mut self.clients {
            client.asked_last = false;
            client.finished = false;
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].finished
    }
}
