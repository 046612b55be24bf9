//! The double barrier: every client enters and leaves, round after round. `docs/families/barrier.md`.

use super::{BEYOND_MS, FINAL_AGAIN, Generator, Moment, Next, Phase, Request};
use crate::engine::worker::{End, Op};
use std::time::Duration;
use zooquake_checkers::plan::{ClientPlan, Plan};
use zooquake_history::operation::barrier;

/// An `enter` that was not answered `ok` is asked again after this.
const AGAIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct Client {
    plan: ClientPlan,
    round: i64,
    /// Whether it has entered its round, and leaves next.
    inside: bool,
}

/// The generator of `barrier/double`.
#[derive(Debug)]
pub struct Rounds {
    clients: Vec<Client>,
    wait_ms: u64,
    /// The highest round that anybody was sent `enter` for: all are sent it, or somebody waits for ever.
    begun: i64,
    /// After recovery: the last round.
    last: i64,
}

impl Rounds {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
        let client = |plan: &ClientPlan| Client {
            plan: plan.clone(),
            round: 1,
            inside: false,
        };
        let clients = plan.clients.iter().map(client).collect();
        Self {
            clients,
            wait_ms: plan.time_ms + BEYOND_MS,
            begun: 0,
            last: i64::MAX,
        }
    }
}

impl Generator for Rounds {
    fn next(&mut self, client: usize, Moment { phase, .. }: Moment) -> Next {
        let members = self.clients.len();
        let state = &self.clients[client];
        let may_enter = match phase {
            Phase::Quiet => return Next::Nothing,
            Phase::Load => true,
            Phase::Drain => state.round <= self.begun,
            Phase::Final => state.round <= self.last,
        };
        let round = state.round;
        let request = match state.inside {
            true => barrier::Request::Leave { round },
            false if may_enter => barrier::Request::Enter { round, members },
            false => return Next::Nothing,
        };
        self.begun = self.begun.max(round);
        Next::Ask(Request::new(&request, self.wait_ms))
    }

    fn coordinates(&self) -> bool {
        true
    }

    fn ended(&mut self, client: usize, op: &Op, end: &End, Moment { phase, .. }: Moment) -> Duration {
        let state = &mut self.clients[client];
        if phase == Phase::Final && !end.is_ok() {
            return FINAL_AGAIN;
        }
        if op.f == "enter" && !end.is_ok() {
            return AGAIN;
        }
        let planned = state
            .plan
            .cycles
            .get(state.round as usize % state.plan.cycles.len().max(1));
        let think = Duration::from_millis(planned.map_or(0, |cycle| cycle.think_ms));
        if op.f == "enter" {
            state.inside = true;
        } else {
            (state.inside, state.round) = (false, state.round + 1);
        }
        if phase == Phase::Load { think } else { Duration::ZERO }
    }

    fn died(&mut self, client: usize) {
        let state = &mut self.clients[client];
        if state.inside {
            (state.inside, state.round) = (false, state.round + 1);
        }
    }

    fn recovered(&mut self, _: Duration) {
        self.last = self.begun + 1;
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].round > self.last
    }
}
