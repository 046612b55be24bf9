//! Locks, elections and semaphores: be granted, work and write what there is to write, give back.

use super::{BEYOND_MS, FINAL_AGAIN, Generator, Moment, Next, Phase, Request, SINGLE_MS};
use crate::engine::worker::{End, Op};
use std::time::Duration;
use zooquake_checkers::EventType;
use zooquake_checkers::plan::{ClientPlan, Cycle, Plan};
use zooquake_history::operation::{Mode, grant};

/// A client that cannot reach the ensemble must not fill the history with failures.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// How a family asks for a grant of this name, for work under it, and for its return.
#[derive(Debug)]
pub struct Words {
    acquire: fn(String) -> grant::Request,
    /// The grant, a value that nobody else writes, and milliseconds of work.
    work: fn(String, u64, u64) -> grant::Request,
    release: fn(String) -> grant::Request,
}

/// Of a lock.
pub const LOCK: Words = Words {
    acquire: |grant| grant::Request::Acquire {
        grant,
        mode: Mode::Exclusive,
    },
    work: write,
    release: |grant| grant::Request::Release { grant },
};

/// Of a semaphore.
pub const SEMAPHORE: Words = Words {
    work: |grant, _, work_ms| grant::Request::Work { grant, work_ms },
    ..LOCK
};

/// Of an election.
pub const ELECTION: Words = Words {
    acquire: |grant| grant::Request::Elect { grant },
    work: write,
    release: |grant| grant::Request::Resign { grant },
};

fn write(grant: String, value: u64, work_ms: u64) -> grant::Request {
    grant::Request::Write {
        grant,
        value: value.into(),
        work_ms,
    }
}

/// Where a client is in its cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Acquire,
    Work(usize),
    Release,
}

#[derive(Debug)]
struct Client {
    plan: ClientPlan,
    cycle: usize,
    step: Step,
    /// The grant of this cycle, held or not, that is to be given back.
    grant: String,
    /// Whether this cycle was begun after recovery.
    last: bool,
    finished: bool,
}

impl Client {
    fn cycle(&self) -> Option<&Cycle> {
        self.plan.cycles.get(self.cycle % self.plan.cycles.len().max(1))
    }

    fn next_cycle(&mut self) {
        self.cycle += 1;
        self.step = Step::Acquire;
        self.last = false;
    }
}

/// The generator of locks, elections and semaphores.
#[derive(Debug)]
pub struct Grants {
    words: &'static Words,
    clients: Vec<Client>,
    wait_ms: u64,
    next_grant: u64,
    next_value: u64,
}

impl Grants {
    /// The generator of a plan.
    pub fn new(plan: &Plan, words: &'static Words) -> Self {
        let client = |plan: &ClientPlan| Client {
            plan: plan.clone(),
            cycle: 0,
            step: Step::Acquire,
            grant: String::new(),
            last: false,
            finished: false,
        };
        Self {
            words,
            clients: plan.clients.iter().map(client).collect(),
            wait_ms: plan.time_ms + BEYOND_MS,
            next_grant: 0,
            next_value: 0,
        }
    }

    fn work(&mut self, client: usize, number: usize, phase: Phase) -> Request {
        let planned = self.clients[client]
            .cycle()
            .and_then(|cycle| cycle.writes.get(number).copied());
        let work_ms = if phase == Phase::Final { 0 } else { planned.unwrap_or(0) };
        self.next_value += 1;
        let grant = self.clients[client].grant.clone();
        let work = (self.words.work)(grant, self.next_value, work_ms);
        Request::new(&work, work_ms + SINGLE_MS)
    }
}

impl Generator for Grants {
    fn next(&mut self, client: usize, Moment { phase, .. }: Moment) -> Next {
        let state = &mut self.clients[client];
        match (state.step, phase) {
            (_, Phase::Quiet) | (Step::Acquire, Phase::Drain) => Next::Nothing,
            (Step::Acquire, Phase::Final) if state.finished => Next::Nothing,
            (Step::Acquire, _) => {
                self.next_grant += 1;
                state.grant = format!("g{}", self.next_grant);
                state.last = phase == Phase::Final;
                let acquire = (self.words.acquire)(state.grant.clone());
                Next::Ask(Request::new(&acquire, self.wait_ms))
            }
            (Step::Work(number), Phase::Load | Phase::Drain) => Next::Ask(self.work(client, number, phase)),
            (Step::Work(number), Phase::Final) if state.last => Next::Ask(self.work(client, number, phase)),
            // After recovery whoever still holds gives back at once.
            (Step::Work(_) | Step::Release, _) => {
                let release = (self.words.release)(state.grant.clone());
                Next::Ask(Request::new(&release, SINGLE_MS))
            }
        }
    }

    fn ended(&mut self, client: usize, op: &Op, end: &End, Moment { phase, .. }: Moment) -> Duration {
        let state = &mut self.clients[client];
        let writes = state.cycle().map_or(0, |cycle| cycle.writes.len());
        match (op.f, state.step) {
            ("acquire" | "elect", _) if end.is_ok() => state.step = Step::Work(0),
            ("acquire" | "elect", _) => {
                state.next_cycle();
                return if phase == Phase::Final {
                    FINAL_AGAIN
                } else {
                    AFTER_FAILURE
                };
            }
            ("write" | "work", Step::Work(n)) if n + 1 < writes && end.is_ok() && phase != Phase::Final => {
                state.step = Step::Work(n + 1);
            }
            ("write" | "work", _) => state.step = Step::Release,
            _ => {
                // It was granted, and a refusal says that it holds no more; of an unknown end nothing is known.
                let unknown = end.kind == EventType::Info;
                state.finished = state.last && !unknown;
                state.next_cycle();
                if unknown && phase == Phase::Final {
                    return FINAL_AGAIN;
                }
                let think = Duration::from_millis(state.cycle().map_or(0, |cycle| cycle.think_ms));
                return if phase == Phase::Final {
                    think.min(AFTER_FAILURE)
                } else {
                    think
                };
            }
        }
        Duration::ZERO
    }

    fn died(&mut self, client: usize) {
        self.clients[client].next_cycle();
    }

    fn recovered(&mut self, _: Duration) {
        for client in &mut self.clients {
            client.finished = false;
            client.last = false;
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].finished
    }
}
