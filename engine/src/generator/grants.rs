//! The families that grant: locks, also those that readers share, elections and semaphores. Their clients are granted,
//! work and write or read what there is, and give back.

use super::{
    AFTER_FAILURE, Assignment, BEYOND_MS, FINAL_AGAIN, FamilyGenerator, GIVE_BACK_MS, Generator, GeneratorMoment,
    GeneratorPhase, OperationRequest, pause, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::grant::GrantRequest;
use zooquake_history::operation::{Mode, election, lock, rwlock, semaphore};
use zooquake_history::plan::{ClientPlan, LeaseTerm, Plan};

/// The family `lock`.
pub const LOCK: FamilyGenerator = FamilyGenerator {
    spec: &lock::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, ACQUIRE_AND_WRITE)),
};

/// The family `rwlock`.
pub const RWLOCK: FamilyGenerator = FamilyGenerator {
    spec: &rwlock::FAMILY,
    generator: |plan| {
        let words = GrantWords {
            shared: 6,
            ..ACQUIRE_AND_WRITE
        };
        Box::new(GrantGenerator::new(plan, words))
    },
};

/// The family `election`.
pub const ELECTION: FamilyGenerator = FamilyGenerator {
    spec: &election::FAMILY,
    generator: |plan| {
        let words = GrantWords {
            acquire: |grant, _| GrantRequest::Elect { grant },
            release: |grant| GrantRequest::Resign { grant },
            ..ACQUIRE_AND_WRITE
        };
        Box::new(GrantGenerator::new(plan, words))
    },
};

/// The family `semaphore`.
pub const SEMAPHORE: FamilyGenerator = FamilyGenerator {
    spec: &semaphore::FAMILY,
    generator: |plan| {
        let words = GrantWords {
            work: |grant, _, work_ms| GrantRequest::Work { grant, work_ms },
            ..ACQUIRE_AND_WRITE
        };
        Box::new(GrantGenerator::new(plan, words))
    },
};

/// Before recovery a client that was refused a lease asks again after this.
const LEASE_AGAIN: Duration = Duration::from_millis(150);

/// How long after the latest end of its lease a client is asked to work that is to find it over.
const OVER_MS: u64 = 20;

/// What a client does under a lease that lasts for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaseUse {
    /// Works as planned, whether that fits or not, and gives it back.
    Planned,
    /// First it is asked for work that no lease outlasts.
    TooLong,
    /// It works as planned but for its last work, for which it is asked when its lease is over.
    Late,
}

/// How a family asks for a grant of this name, for work under it, and for its return.
#[derive(Debug)]
struct GrantWords {
    acquire: fn(String, Mode) -> GrantRequest,
    /// The grant, a value that no other client writes, and milliseconds of work.
    work: fn(String, u64, u64) -> GrantRequest,
    release: fn(String) -> GrantRequest,
    /// How many of ten grants are asked for in the mode `shared`.
    shared: u32,
}

/// The words of a family whose clients acquire, write and release.
const ACQUIRE_AND_WRITE: GrantWords = GrantWords {
    acquire: |grant, mode| GrantRequest::Acquire { grant, mode },
    work: |grant, value, work_ms| GrantRequest::Write {
        grant,
        value: value.into(),
        work_ms,
    },
    release: |grant| GrantRequest::Release { grant },
    shared: 0,
};

/// Where a client is in its cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CycleStep {
    Acquire,
    /// Under the grant it works, and writes or, where that is shared, reads; how often it has done so.
    Work(usize),
    Release,
}

#[derive(Debug)]
struct GrantClient {
    plan: ClientPlan,
    /// The dice of its modes, so that they depend on nothing but the plan's seed and its number.
    dice: fastrand::Rng,
    cycle: usize,
    step: CycleStep,
    /// The grant of this cycle, held or not, that is to be given back.
    grant: String,
    /// How the grant is asked for.
    mode: Mode,
    /// What it does if it is a lease that lasts for a time.
    lease_use: LeaseUse,
    /// When it was granted.
    granted: Duration,
    /// Whether this cycle was begun after recovery.
    last: bool,
    finished: bool,
}

impl GrantClient {
    fn next_cycle(&mut self) {
        self.cycle += 1;
        self.step = CycleStep::Acquire;
        self.last = false;
    }
}

/// The generator of all families that grant.
#[derive(Debug)]
struct GrantGenerator {
    words: GrantWords,
    clients: Vec<GrantClient>,
    /// For how long leases last; `None` if not for a time.
    term: Option<LeaseTerm>,
    wait_ms: u64,
    next_grant: u64,
    next_value: u64,
}

impl GrantGenerator {
    fn new(plan: &Plan, words: GrantWords) -> Self {
        let client = |(number, of): (u64, &ClientPlan)| GrantClient {
            plan: of.clone(),
            dice: fastrand::Rng::with_seed(plan.seed ^ (number << 32) ^ 0x5a_4ed0),
            cycle: 0,
            step: CycleStep::Acquire,
            grant: String::new(),
            mode: Mode::Exclusive,
            lease_use: LeaseUse::Planned,
            granted: Duration::ZERO,
            last: false,
            finished: false,
        };
        Self {
            words,
            clients: (1..).zip(&plan.clients).map(client).collect(),
            term: plan.workload.lease_term(),
            // A lease that lasts for a time is granted at once, or not at all.
            wait_ms: match plan.workload.lease_term() {
                Some(_) => single_ms(plan),
                None => plan.time_ms + BEYOND_MS,
            },
            next_grant: 0,
            next_value: 0,
        }
    }

    /// Work under a lease that lasts for a time, where that is not as planned.
    fn work_by_the_clock(
        &mut self,
        (client, number): (usize, usize),
        GeneratorMoment { phase, now }: GeneratorMoment,
    ) -> Option<Assignment> {
        let (term, state) = (self.term?, &self.clients[client]);
        let works = state.plan.cycle(state.cycle).map_or(0, |cycle| cycle.writes.len());
        let over = state.granted + term.most() + Duration::from_millis(OVER_MS);
        match state.lease_use {
            _ if phase != GeneratorPhase::Load => None,
            LeaseUse::TooLong if number == 0 => {
                let work_ms = u64::try_from(term.most().as_millis()).unwrap_or(u64::MAX);
                Some(Assignment::Ask(self.work_for(client, work_ms.saturating_add(OVER_MS))))
            }
            LeaseUse::Late if number + 1 >= works && now < over => Some(Assignment::Wait(over - now)),
            LeaseUse::Late if number + 1 >= works => Some(Assignment::Ask(self.work_for(client, 0))),
            _ => None,
        }
    }

    fn planned_work(&mut self, client: usize, number: usize, phase: GeneratorPhase) -> OperationRequest {
        let state = &self.clients[client];
        let planned = state.plan.cycle(state.cycle);
        let planned = planned.and_then(|cycle| cycle.writes.get(number).copied());
        self.work_for(client, planned.filter(|_| phase != GeneratorPhase::Final).unwrap_or(0))
    }

    fn work_for(&mut self, client: usize, work_ms: u64) -> OperationRequest {
        let state = &self.clients[client];
        let grant = state.grant.clone();
        let work = match state.mode {
            Mode::Shared => GrantRequest::Read { grant, work_ms },
            Mode::Exclusive => {
                self.next_value += 1;
                (self.words.work)(grant, self.next_value, work_ms)
            }
        };
        OperationRequest::new(&work, work_ms + GIVE_BACK_MS)
    }
}

impl Generator for GrantGenerator {
    fn next(&mut self, client: usize, at: GeneratorMoment) -> Assignment {
        let phase = at.phase;
        let state = &mut self.clients[client];
        match (state.step, phase) {
            (_, GeneratorPhase::Quiet) | (CycleStep::Acquire, GeneratorPhase::Drain) => Assignment::Nothing,
            (CycleStep::Acquire, GeneratorPhase::Final) if state.finished => Assignment::Nothing,
            (CycleStep::Acquire, _) => {
                self.next_grant += 1;
                state.grant = format!("g{}", self.next_grant);
                state.last = phase == GeneratorPhase::Final;
                state.mode = match state.dice.u32(0..10) < self.words.shared {
                    true => Mode::Shared,
                    false => Mode::Exclusive,
                };
                if self.term.is_some() {
                    state.lease_use = match state.dice.u32(0..5) {
                        0 => LeaseUse::TooLong,
                        1 | 2 => LeaseUse::Late,
                        _ => LeaseUse::Planned,
                    };
                }
                let acquire = (self.words.acquire)(state.grant.clone(), state.mode);
                Assignment::Ask(OperationRequest::new(&acquire, self.wait_ms))
            }
            (CycleStep::Work(number), _) if phase != GeneratorPhase::Final || state.last => {
                let by_the_clock = self.work_by_the_clock((client, number), at);
                by_the_clock.unwrap_or_else(|| Assignment::Ask(self.planned_work(client, number, phase)))
            }
            // After recovery a client that still holds gives back at once.
            (CycleStep::Work(_) | CycleStep::Release, _) => {
                let release = (self.words.release)(state.grant.clone());
                Assignment::Ask(OperationRequest::new(&release, GIVE_BACK_MS))
            }
        }
    }

    fn work(&mut self, client: usize) -> Option<OperationRequest> {
        let granted = self.clients[client].step != CycleStep::Acquire;
        granted.then(|| self.work_for(client, 0))
    }

    fn ended(
        &mut self,
        client: usize,
        op: &PendingOp,
        end: &Completion,
        GeneratorMoment { phase, now }: GeneratorMoment,
    ) -> Duration {
        let again = self.term.map_or(Duration::ZERO, |_| LEASE_AGAIN);
        let state = &mut self.clients[client];
        let writes = state.plan.cycle(state.cycle).map_or(0, |cycle| cycle.writes.len());
        match (op.f, state.step) {
            ("acquire" | "elect", _) if end.is_ok() => (state.step, state.granted) = (CycleStep::Work(0), now),
            ("acquire" | "elect", _) => {
                state.next_cycle();
                return pause(end, phase, again);
            }
            ("read" | "write" | "work", CycleStep::Work(n))
                if n + 1 < writes && end.is_ok() && phase != GeneratorPhase::Final =>
            {
                state.step = CycleStep::Work(n + 1);
            }
            ("read" | "write" | "work", _) => state.step = CycleStep::Release,
            _ => {
                // It was granted, and after a refusal it holds no more; after an unknown end it may hold.
                let unknown = end.kind == EventType::Info;
                state.finished = state.last && !unknown;
                state.next_cycle();
                if unknown && phase == GeneratorPhase::Final {
                    return FINAL_AGAIN;
                }
                let think = state.plan.think(state.cycle);
                return match phase {
                    GeneratorPhase::Final => think.min(AFTER_FAILURE),
                    _ => think,
                };
            }
        }
        Duration::ZERO
    }

    fn died(&mut self, client: usize) {
        self.clients[client].next_cycle();
    }

    fn recovered(&mut self, _: &AnsweredDurations) {
        for client in &mut self.clients {
            client.finished = false;
            client.last = false;
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::tests::{end, op};
    use serde_json::Value;
    use zooquake_history::plan::{Capabilities, Cycle};

    /// Of a client that is granted all that it asks for, and does all.
    #[test]
    fn some_work_fits_into_no_lease_and_some_is_asked_for_when_it_is_over() {
        let mut plan = Plan::default();
        plan.workload.family = semaphore::FAMILY.name.to_string();
        plan.workload.capabilities = Some(Capabilities {
            lease_ms: 1_000,
            margin_ms: 100,
            ..Capabilities::NONE
        });
        plan.clients = vec![ClientPlan {
            cycles: vec![Cycle {
                writes: vec![40, 50],
                ..Cycle::default()
            }],
            ..ClientPlan::default()
        }];
        let term = plan.workload.lease_term().expect("leases last for a time");
        let mut generator = (SEMAPHORE.generator)(&plan);
        let (mut now, mut granted) = (Duration::ZERO, Duration::ZERO);
        let (mut fits, mut too_long, mut late) = (0, 0, 0);
        for _ in 0..400 {
            let moment = GeneratorMoment {
                phase: GeneratorPhase::Load,
                now,
            };
            match generator.next(0, moment) {
                Assignment::Ask(request) => {
                    let (done, work) = (now + Duration::from_millis(request.work_ms), request.f == "work");
                    match () {
                        () if !work => {}
                        () if now > granted + term.most() => late += 1,
                        () if done > granted + term.most() => too_long += 1,
                        () => fits += 1,
                    }
                    let f = request.f;
                    let asked = op(request, now);
                    now += Duration::from_millis(5);
                    let moment = GeneratorMoment { now, ..moment };
                    generator.ended(0, &asked, &end(EventType::Ok, Value::Null), moment);
                    if f == "acquire" {
                        granted = now;
                    }
                }
                Assignment::Wait(time) => now += time,
                other => panic!("{other:?}"),
            }
        }
        assert!(fits > 50 && too_long > 10 && late > 10, "{fits} {too_long} {late}");
    }
}
