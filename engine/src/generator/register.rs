//! Registers: every client reads, writes and compares-and-sets, one operation after the other.
//! `docs/families/register.md`.

use super::{
    Assignment, FamilyGenerator, Generator, GeneratorMoment, GeneratorPhase, OperationRequest, pause, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::ops::Range;
use std::time::Duration;
use zooquake_history::FaultKind;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::register;
use zooquake_history::plan::{ClientPlan, Plan, Target, Trigger, Window};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &register::FAMILY,
    generator: |plan| Box::new(RegisterGenerator::new(plan)),
};

/// Milliseconds before and after the freezing of a leader in which clients only read: what was sent is through, and the
/// followers' patience is over.
const BEFORE_MS: u64 = 500;
const AFTER_MS: u64 = 500;

/// What a client still has to do after recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FinalOp {
    Write,
    Read,
    Nothing,
}

#[derive(Debug)]
struct RegisterClient {
    plan: ClientPlan,
    /// The dice of its operations, so that they depend on nothing but the plan's seed and their number.
    dice: fastrand::Rng,
    cycle: usize,
    last: FinalOp,
    /// Whether its operation in flight is one of the last.
    asked_last: bool,
    /// Whether it has lost an operation and not been answered since.
    lost: bool,
}

#[derive(Debug)]
struct RegisterGenerator {
    clients: Vec<RegisterClient>,
    next_value: i64,
    /// The value that was returned last to any client.
    newest: Option<i64>,
    /// When the first operation was asked for.
    began: Option<Duration>,
    /// Spells, in milliseconds since then, in which clients only read.
    reading: Vec<Range<u64>>,
    single_ms: u64,
}

/// The spells in which clients only read: around every other moment at which a leader is frozen, until its followers
/// have given it up. A write that it has received and cannot carry out any more holds up the syncs behind it when it is
/// thawed, so nobody would see what else it answers.
fn reading(plan: &Plan) -> Vec<Range<u64>> {
    let spell = |window: &Window| match window.trigger {
        Trigger::At { at_ms }
            if FaultKind::by_name(&window.fault).freezes && window.target == Target::Leader && window.id % 2 == 1 =>
        {
            Some(at_ms.saturating_sub(BEFORE_MS)..at_ms + plan.cluster.timing.sync_ms() + AFTER_MS)
        }
        _ => None,
    };
    plan.windows.iter().filter_map(spell).collect()
}

impl RegisterGenerator {
    fn new(plan: &Plan) -> Self {
        let client = |(number, of): (u64, &ClientPlan)| RegisterClient {
            plan: of.clone(),
            dice: fastrand::Rng::with_seed(plan.seed ^ (number << 32) ^ 0x7e91_57e4),
            cycle: 0,
            last: FinalOp::Write,
            asked_last: false,
            lost: false,
        };
        Self {
            clients: (1..).zip(&plan.clients).map(client).collect(),
            next_value: 1,
            newest: None,
            began: None,
            reading: reading(plan),
            single_ms: single_ms(plan),
        }
    }

    /// A value that no client has written.
    fn fresh(&mut self) -> i64 {
        self.next_value += 1;
        self.next_value - 1
    }

    fn ask(&self, request: &register::RegisterRequest) -> Assignment {
        Assignment::Ask(OperationRequest::new(request, self.single_ms))
    }

    fn read(&self) -> Assignment {
        self.ask(&register::RegisterRequest::Read {})
    }

    fn write(&mut self) -> Assignment {
        let value = self.fresh();
        self.ask(&register::RegisterRequest::Write { value })
    }

    /// Mostly reads, and nothing else after a loss: who comes back to a deposed leader and writes first gets no more of
    /// its answers.
    fn any(&mut self, client: usize, now: Duration) -> Assignment {
        let since = (now - *self.began.get_or_insert(now)).as_millis() as u64;
        let drawn = self.clients[client].dice.u32(0..10);
        if self.clients[client].lost || self.reading.iter().any(|spell| spell.contains(&since)) {
            return self.read();
        }
        match (drawn, self.newest) {
            (0..6, _) => self.read(),
            (6..8, Some(from)) => {
                let to = self.fresh();
                self.ask(&register::RegisterRequest::Cas { from, to })
            }
            _ => self.write(),
        }
    }
}

impl Generator for RegisterGenerator {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        let last = self.clients[client].last;
        self.clients[client].asked_last = phase == GeneratorPhase::Final;
        match phase {
            GeneratorPhase::Quiet | GeneratorPhase::Drain => Assignment::Nothing,
            GeneratorPhase::Load => self.any(client, now),
            GeneratorPhase::Final => match last {
                FinalOp::Write => self.write(),
                FinalOp::Read => self.read(),
                FinalOp::Nothing => Assignment::Nothing,
            },
        }
    }

    fn ended(
        &mut self,
        client: usize,
        op: &PendingOp,
        end: &Completion,
        GeneratorMoment { phase, .. }: GeneratorMoment,
    ) -> Duration {
        if end.is_ok() {
            let field = if op.f == register::f::CAS {
                register::TO
            } else {
                register::VALUE
            };
            self.newest = end.get(field).or(self.newest);
        }
        let state = &mut self.clients[client];
        let refused = matches!(end.error.as_deref(), Some("mismatch" | "bad-version"));
        state.lost = !end.is_ok() && !refused;
        if state.asked_last && end.is_ok() {
            state.last = if state.last == FinalOp::Write {
                FinalOp::Read
            } else {
                FinalOp::Nothing
            };
        }
        let think = match phase {
            GeneratorPhase::Final => Duration::ZERO,
            _ => state.plan.think(state.cycle),
        };
        state.cycle += 1;
        pause(end, phase, think)
    }

    fn died(&mut self, client: usize) {
        self.clients[client].asked_last = false;
        self.clients[client].lost = false;
    }

    fn recovered(&mut self, _: &AnsweredDurations) {
        for client in &mut self.clients {
            client.last = FinalOp::Write;
            client.asked_last = false;
        }
    }

    fn finished(&self, client: usize) -> bool {
        self.clients[client].last == FinalOp::Nothing
    }
}

/// What clients of a register are asked, when they have lost an operation, when a leader is frozen, and at the end.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::OpKind;
    use serde_json::Value;
    use std::collections::BTreeSet;
    use zooquake_history::EventType;

    fn generator() -> RegisterGenerator {
        RegisterGenerator::new(&Plan {
            clients: vec![ClientPlan::default(); 2],
            ..Plan::default()
        })
    }

    fn at(phase: GeneratorPhase) -> GeneratorMoment {
        let now = Duration::ZERO;
        GeneratorMoment { phase, now }
    }

    /// Lets a client do its next operation, which succeeds.
    fn go(generator: &mut RegisterGenerator, client: usize, phase: GeneratorPhase) -> Option<(&'static str, Value)> {
        let Assignment::Ask(request) = generator.next(client, at(phase)) else {
            return None;
        };
        let op = PendingOp {
            id: 1,
            f: request.f,
            kind: OpKind::Single,
            grant: String::new(),
            work_ms: 0,
            since: Duration::ZERO,
            free_at: Duration::ZERO,
        };
        let end = Completion {
            kind: EventType::Ok,
            value: request.value.clone(),
            error: None,
        };
        generator.ended(client, &op, &end, at(phase));
        Some((request.f, request.value))
    }

    #[test]
    fn values_are_unique_and_a_swap_starts_from_what_was_heard_last() {
        let (mut generator, mut heard, mut seen) = (generator(), None, BTreeSet::new());
        let mut swaps = 0;
        for turn in 0..400 {
            let (f, value) = go(&mut generator, turn % 2, GeneratorPhase::Load).unwrap();
            let written = match f {
                "cas" => {
                    assert_eq!(register::FROM.read_from(&value), heard);
                    swaps += 1;
                    register::TO.read_from(&value)
                }
                "write" => register::VALUE.read_from(&value),
                _ => continue,
            };
            assert!(seen.insert(written), "{written:?} twice");
            heard = written;
        }
        assert!(swaps > 20, "{swaps} swaps");
    }

    #[test]
    fn after_a_loss_and_around_the_freezing_of_a_leader_clients_only_read() {
        let frozen = Window {
            id: 1,
            fault: "pause".to_string(),
            target: Target::Leader,
            payload: None,
            trigger: Trigger::At { at_ms: 300 },
            duration_ms: 3_000,
            beside: false,
        };
        let mut around = RegisterGenerator::new(&Plan {
            clients: vec![ClientPlan::default(); 2],
            windows: vec![frozen],
            ..Plan::default()
        });
        let mut lost = generator();
        for _ in 0..50 {
            lost.clients[1].lost = true;
            assert_eq!(go(&mut lost, 1, GeneratorPhase::Load).unwrap().0, "read");
            assert!(!lost.clients[1].lost, "it was answered");
            assert_eq!(go(&mut around, 0, GeneratorPhase::Load).unwrap().0, "read");
        }
        around.reading.clear();
        let names: BTreeSet<&str> = (0..50)
            .map(|_| go(&mut around, 0, GeneratorPhase::Load).unwrap().0)
            .collect();
        assert_eq!(names, BTreeSet::from(["cas", "read", "write"]));
    }

    #[test]
    fn after_recovery_each_client_writes_once_and_reads_once() {
        let mut generator = generator();
        go(&mut generator, 0, GeneratorPhase::Load);
        assert!(go(&mut generator, 0, GeneratorPhase::Drain).is_none());
        generator.recovered(&AnsweredDurations::default());
        for client in [0, 1] {
            let names: Vec<&str> = std::iter::from_fn(|| go(&mut generator, client, GeneratorPhase::Final))
                .map(|(f, _)| f)
                .collect();
            assert_eq!(names, ["write", "read"]);
            assert!(generator.finished(client));
        }
    }
}
