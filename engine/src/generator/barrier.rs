//! Barriers. That of the tutorial: members join, a member that counts them all opens it, an application waits. The
//! double one: the clients enter and leave, round after round. A gate: one client raises it and lifts it, the others
//! wait at it. `docs/families/barrier.md`.

use super::{
    Assignment, BEYOND_MS, FamilyGenerator, GIVE_BACK_MS, Generator, GeneratorMoment, GeneratorPhase, OperationRequest,
    pause, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::barrier;
use zooquake_history::plan::{BarrierKind, ClientPlan, Plan};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &barrier::FAMILY,
    generator: |plan| match plan.workload.capabilities().barrier_kind() {
        BarrierKind::Tutorial => Box::new(TutorialBarrier::new(plan)),
        BarrierKind::Gate => Box::new(GateRounds::new(plan)),
        BarrierKind::Double => Box::new(DoubleBarrier::new(plan)),
    },
};

/// The application begins to wait this long before the members join.
const HEAD_START: Duration = Duration::from_millis(20);

/// If the tutorial's barrier has not opened this long after the last join, the members join anew.
const STUCK: Duration = Duration::from_secs(5);

/// A member stays for its planned work after the barrier has opened, but no longer than this: who dies meanwhile leaves
/// a znode to the next round.
const STAY: Duration = Duration::from_millis(400);

/// After the faults a gate stands for so long, so that the others come to wait at it.
const STAND: Duration = Duration::from_millis(200);

/// In the double barrier who has taken so many session timeouts for an `enter`, or for a stay and its `leave`, is not
/// waited for any more.
const PATIENCE: u32 = 3;

/// Where all clients are in a round of the tutorial's barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundStage {
    /// Members join, the application waits.
    Gather,
    /// Nobody came through: members close, then join again.
    Rejoin,
    /// The barrier has opened: all close.
    Close,
}

/// The generator of the tutorial's barrier.
#[derive(Debug)]
struct TutorialBarrier {
    plans: Vec<ClientPlan>,
    wait_ms: u64,
    join_ms: u64,
    round: i64,
    stage: RoundStage,
    begun: Duration,
    /// Members that have joined this round, by number from 0.
    joined: Vec<bool>,
    /// Clients that have closed in this stage.
    closed: Vec<bool>,
    /// Whether the application was asked, and whether it came through.
    asked: bool,
    entered: bool,
    /// When the application came through.
    opened: Duration,
    /// Clients with an operation in flight.
    busy: Vec<bool>,
    last_join: Duration,
    rejoined: bool,
    last_round: i64,
    recovered: bool,
}

impl TutorialBarrier {
    fn new(plan: &Plan) -> Self {
        let count = plan.clients.len();
        Self {
            plans: plan.clients.clone(),
            wait_ms: plan.time_ms + BEYOND_MS,
            join_ms: single_ms(plan),
            round: 1,
            stage: RoundStage::Gather,
            begun: Duration::ZERO,
            joined: vec![false; count - 1],
            closed: vec![false; count],
            asked: false,
            entered: false,
            opened: Duration::ZERO,
            busy: vec![false; count],
            last_join: Duration::ZERO,
            rejoined: false,
            last_round: i64::MAX,
            recovered: false,
        }
    }

    fn members(&self) -> usize {
        self.joined.len()
    }

    /// In every third round one client joins for all.
    fn alone(&self) -> bool {
        self.round % 3 == 0
    }

    /// The next member that a client joins for; `None` if there is none.
    fn next_member(&self, client: usize) -> Option<usize> {
        match (self.alone(), client) {
            (true, 0) => self.joined.iter().position(|joined| !joined),
            (true, _) => None,
            (false, _) => (!self.joined[client]).then_some(client),
        }
    }

    /// How much longer a member stays after the barrier has opened.
    fn stays(&self, client: usize, now: Duration) -> Duration {
        if client == self.members() || self.recovered {
            return Duration::ZERO;
        }
        let planned = self.plans[client].cycle(self.round as usize);
        let planned = planned.and_then(|cycle| cycle.writes.first());
        let stay = STAY.min(Duration::from_millis(planned.copied().unwrap_or(0)));
        stay.saturating_sub(now - self.opened)
    }

    /// Whether a round may begin in this phase.
    fn may_begin(&self, phase: GeneratorPhase) -> bool {
        match phase {
            GeneratorPhase::Load => true,
            GeneratorPhase::Drain => self.asked,
            GeneratorPhase::Final => self.round <= self.last_round,
            GeneratorPhase::Quiet => false,
        }
    }

    fn stages(&mut self, now: Duration) {
        let idle = |busy: &[bool]| busy.iter().all(|busy| !busy);
        let members = self.members();
        match self.stage {
            RoundStage::Gather if self.entered && idle(&self.busy[..members]) => {
                self.stage = RoundStage::Close;
                self.closed.fill(false);
            }
            RoundStage::Gather => {
                let all = self.joined.iter().all(|joined| *joined) && idle(&self.busy[..members]);
                let again = !(self.recovered && self.rejoined);
                if all && !self.entered && again && now - self.last_join >= STUCK {
                    self.rejoined = self.recovered;
                    self.stage = RoundStage::Rejoin;
                    self.closed.fill(false);
                }
            }
            RoundStage::Rejoin if self.closed[..members].iter().all(|closed| *closed) => {
                self.stage = RoundStage::Gather;
                self.joined.fill(false);
            }
            RoundStage::Close if self.closed.iter().all(|closed| *closed) => {
                self.round += 1;
                self.stage = RoundStage::Gather;
                self.begun = now;
                self.joined.fill(false);
                (self.asked, self.entered) = (false, false);
            }
            RoundStage::Rejoin | RoundStage::Close => {}
        }
    }

    fn gather(&mut self, client: usize, now: Duration) -> Assignment {
        let (round, members) = (self.round, self.members());
        if client == members {
            if self.entered {
                return Assignment::Nothing;
            }
            self.asked = true;
            let enter = barrier::BarrierRequest::Enter { round, members };
            return Assignment::Ask(OperationRequest::new(&enter, self.wait_ms));
        }
        let from = self.begun + HEAD_START + self.plans[client].think(self.round as usize);
        if !self.asked || now < from {
            return Assignment::Wait(from.saturating_sub(now).max(HEAD_START));
        }
        match self.next_member(client) {
            Some(member) => {
                let member = member as u64 + 1;
                let join = barrier::BarrierRequest::Join { round, members, member };
                Assignment::Ask(OperationRequest::new(&join, self.join_ms))
            }
            // Perhaps nobody comes through; that is looked at by the clock.
            None => Assignment::Wait(STUCK / 10),
        }
    }
}

impl Generator for TutorialBarrier {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        if phase == GeneratorPhase::Quiet {
            return Assignment::Nothing;
        }
        self.stages(now);
        let next = match self.stage {
            RoundStage::Gather if self.may_begin(phase) => self.gather(client, now),
            RoundStage::Gather => Assignment::Nothing,
            RoundStage::Rejoin if client == self.members() => Assignment::Nothing,
            RoundStage::Rejoin | RoundStage::Close if self.closed[client] => Assignment::Nothing,
            RoundStage::Close if !self.stays(client, now).is_zero() => Assignment::Wait(self.stays(client, now)),
            RoundStage::Rejoin | RoundStage::Close => {
                let close = barrier::BarrierRequest::Close { round: self.round };
                Assignment::Ask(OperationRequest::new(&close, GIVE_BACK_MS))
            }
        };
        self.busy[client] = matches!(next, Assignment::Ask(_));
        next
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
        self.busy[client] = false;
        let again = pause(end, phase, Duration::ZERO);
        match op.f {
            barrier::f::ENTER if end.is_ok() => (self.entered, self.opened) = (true, now),
            barrier::f::JOIN => {
                self.last_join = now;
                // Somebody else made `start`: this member has joined all the same.
                let lost_the_race = end.error.as_deref().is_some_and(|error| error.starts_with("start:"));
                if !(end.is_ok() || lost_the_race) {
                    return again;
                }
                if let Some(member) = self.next_member(client) {
                    self.joined[member] = true;
                }
            }
            barrier::f::CLOSE if phase == GeneratorPhase::Final && !end.is_ok() => return again,
            barrier::f::CLOSE => self.closed[client] = true,
            _ => return again,
        }
        Duration::ZERO
    }

    fn died(&mut self, client: usize) {
        self.busy[client] = false;
        // What it had joined, and what it would have to close, is gone with its session.
        self.closed[client] = true;
        if self.alone() && client == 0 {
            self.joined.fill(false);
        } else if client < self.members() && self.stage == RoundStage::Gather && !self.entered {
            self.joined[client] = false;
        }
    }

    fn recovered(&mut self, _: &AnsweredDurations) {
        (self.recovered, self.rejoined) = (true, false);
        self.last_round = if self.asked { self.round + 1 } else { self.round };
    }

    fn finished(&self, _: usize) -> bool {
        self.round > self.last_round
    }
}

/// Where one client is in its round of the double barrier.
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
    /// Since when it is at that step.
    since: Duration,
    /// The round that it is in, or was in last, and how many members that has.
    round: i64,
    members: usize,
}

/// The generator of `barrier/double`.
#[derive(Debug)]
struct DoubleBarrier {
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

impl DoubleBarrier {
    fn new(plan: &Plan) -> Self {
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
        let (between, busy): (Vec<_>, Vec<_>) = self
            .clients
            .iter()
            .partition(|client| client.step == RoundStep::Between);
        let members = between.len();
        let patient_until = busy.iter().map(|client| client.since + self.patience).max();
        if !may_open || members < self.clients.len().min(2) {
            return Assignment::Nothing;
        }
        if let Some(until) = patient_until.filter(|until| *until > now) {
            return Assignment::Await(until - now);
        }
        self.opened += 1;
        let clients = self.clients.iter_mut();
        for client in clients.filter(|client| client.step == RoundStep::Between) {
            (client.step, client.since) = (RoundStep::Entering, now);
            (client.round, client.members) = (self.opened, members);
        }
        Assignment::Nothing
    }
}

impl Generator for DoubleBarrier {
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

/// Where a gate is in its round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateStage {
    /// It is to be raised.
    Down,
    /// It was raised, then.
    Standing(Duration),
    /// It was lifted after it had been raised then.
    Lifted(Duration),
}

/// The generator of a gate. The last client keeps it.
#[derive(Debug)]
struct GateRounds {
    plans: Vec<ClientPlan>,
    wait_ms: u64,
    single_ms: u64,
    round: i64,
    stage: GateStage,
    /// Whether the keeper was sent `raise` in this round.
    begun: bool,
    /// By client: whether its wait of this round was answered `ok`.
    passed: Vec<bool>,
    last_round: i64,
}

impl GateRounds {
    fn new(plan: &Plan) -> Self {
        Self {
            plans: plan.clients.clone(),
            wait_ms: plan.time_ms + BEYOND_MS,
            single_ms: single_ms(plan),
            round: 1,
            stage: GateStage::Down,
            begun: false,
            passed: vec![false; plan.clients.len() - 1],
            last_round: i64::MAX,
        }
    }

    /// The next round, when the gate of this one was lifted and nobody waits at it any more.
    fn turn(&mut self) {
        if matches!(self.stage, GateStage::Lifted(_)) && self.passed.iter().all(|passed| *passed) {
            self.round += 1;
            (self.stage, self.begun) = (GateStage::Down, false);
            self.passed.fill(false);
        }
    }

    fn may_raise(&self, phase: GeneratorPhase) -> bool {
        match phase {
            GeneratorPhase::Load => true,
            GeneratorPhase::Drain => self.begun,
            GeneratorPhase::Final => self.round <= self.last_round,
            GeneratorPhase::Quiet => false,
        }
    }

    /// How long after the raising of the gate its keeper lifts it, or another client comes to wait.
    fn delay(&self, client: usize, phase: GeneratorPhase) -> Duration {
        let (keeper, plan) = (client == self.passed.len(), &self.plans[client]);
        match (phase, keeper) {
            (GeneratorPhase::Load, false) => plan.think(self.round as usize),
            (GeneratorPhase::Load, true) => {
                let stand = plan
                    .cycle(self.round as usize)
                    .and_then(|cycle| cycle.writes.first().copied());
                plan.think(self.round as usize) + Duration::from_millis(stand.unwrap_or(0))
            }
            (_, false) => Duration::ZERO,
            (_, true) => STAND,
        }
    }

    fn request(&self, client: usize, phase: GeneratorPhase) -> Option<OperationRequest> {
        let round = self.round;
        let keeper = client == self.passed.len();
        let (request, timeout_ms) = match (self.stage, keeper) {
            (GateStage::Down, true) if self.may_raise(phase) => {
                (barrier::BarrierRequest::Raise { round }, self.single_ms)
            }
            (GateStage::Standing(_), true) => (barrier::BarrierRequest::Lift { round }, self.single_ms),
            (GateStage::Standing(_) | GateStage::Lifted(_), false) if !self.passed[client] => {
                (barrier::BarrierRequest::Wait { round }, self.wait_ms)
            }
            _ => return None,
        };
        Some(OperationRequest::new(&request, timeout_ms))
    }
}

impl Generator for GateRounds {
    fn next(&mut self, client: usize, GeneratorMoment { phase, now }: GeneratorMoment) -> Assignment {
        if phase == GeneratorPhase::Quiet {
            return Assignment::Nothing;
        }
        self.turn();
        let Some(request) = self.request(client, phase) else {
            return Assignment::Nothing;
        };
        let from = match self.stage {
            GateStage::Down => now,
            GateStage::Standing(raised) | GateStage::Lifted(raised) => raised + self.delay(client, phase),
        };
        if now < from {
            return Assignment::Wait(from - now);
        }
        self.begun = true;
        Assignment::Ask(request)
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
        match (op.f, self.stage) {
            _ if !end.is_ok() => return pause(end, phase, Duration::ZERO),
            (barrier::f::RAISE, _) => self.stage = GateStage::Standing(now),
            (barrier::f::LIFT, GateStage::Standing(raised)) => self.stage = GateStage::Lifted(raised),
            (barrier::f::WAIT, _) => self.passed[client] = true,
            _ => {}
        }
        Duration::ZERO
    }

    fn frees(&self, op: &PendingOp, end: &Completion) -> bool {
        op.f == barrier::f::LIFT && end.is_ok()
    }

    /// Its operation is asked again; a gate that stands goes on standing.
    fn died(&mut self, _: usize) {}

    fn recovered(&mut self, _: &AnsweredDurations) {
        self.last_round = if self.begun { self.round + 1 } else { self.round };
    }

    fn finished(&self, _: usize) -> bool {
        self.round > self.last_round
    }
}

/// The rounds of the double barrier, when one of them is stuck.
#[cfg(test)]
mod tests {
    use super::super::tests::{CLIENTS, end, op, plan};
    use super::*;
    use crate::generator::from_plan;
    use zooquake_history::EventType;

    /// A generator with its clients' pending operations.
    struct PlayedGenerator {
        generator: Box<dyn Generator>,
        pending: Vec<Option<OperationRequest>>,
        now: Duration,
        phase: GeneratorPhase,
    }

    impl PlayedGenerator {
        fn new() -> Self {
            let mut plan = plan("barrier/double");
            plan.cluster.clients = CLIENTS;
            Self {
                generator: from_plan(&plan).unwrap(),
                pending: (0..CLIENTS).map(|_| None).collect(),
                now: Duration::ZERO,
                phase: GeneratorPhase::Load,
            }
        }

        fn at(&self) -> GeneratorMoment {
            let (phase, now) = (self.phase, self.now);
            GeneratorMoment { phase, now }
        }

        /// Asks every client that has nothing pending.
        fn ask(&mut self) {
            for client in 0..CLIENTS {
                let at = self.at();
                if self.pending[client].is_none()
                    && let Assignment::Ask(request) = self.generator.next(client, at)
                {
                    self.pending[client] = Some(request);
                }
            }
        }

        /// The client answers what it has pending.
        fn ok(&mut self, client: usize) {
            let request = self.pending[client].take().unwrap();
            let (end, at) = (end(EventType::Ok, request.value.clone()), self.at());
            self.generator.ended(client, &op(request, self.now), &end, at);
        }

        fn pass(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
        }

        /// What each client has pending.
        fn asked(&self) -> Vec<String> {
            let shown = |request: &OperationRequest| format!("{} {}", request.f, request.value);
            let pending = self.pending.iter().map(Option::as_ref);
            pending.map(|request| request.map(shown).unwrap_or_default()).collect()
        }
    }

    /// All have entered the first round, and the first client's leave of it is never answered.
    fn stuck() -> PlayedGenerator {
        let mut played = PlayedGenerator::new();
        played.ask();
        (0..CLIENTS).for_each(|client| played.ok(client));
        played.ask();
        (1..CLIENTS).for_each(|client| played.ok(client));
        played
    }

    const STUCK_LEAVE: &str = r#"leave {"round":1}"#;

    #[test]
    fn a_round_opens_when_all_have_ended_the_one_before() {
        let mut played = stuck();
        played.ask();
        assert_eq!(played.asked(), [STUCK_LEAVE, "", ""]);
        played.ok(0);
        played.ask();
        assert_eq!(played.asked(), vec![r#"enter {"members":3,"round":2}"#; 3]);
    }

    #[test]
    fn who_is_not_stuck_goes_on_without_who_is_and_takes_it_in_again() {
        let mut played = stuck();
        played.pass(5_999);
        played.ask();
        assert_eq!(played.asked(), [STUCK_LEAVE, "", ""]);
        played.pass(1);
        for round in [2, 3] {
            played.ask();
            let enter = format!(r#"enter {{"members":2,"round":{round}}}"#);
            assert_eq!(played.asked(), [STUCK_LEAVE, &enter, &enter], "nobody waits again");
            played.ok(1);
            played.ok(2);
            played.ask();
            let leave = format!(r#"leave {{"round":{round}}}"#);
            assert_eq!(played.asked(), [STUCK_LEAVE, &leave, &leave]);
            played.ok(1);
            played.ok(2);
        }
        played.ok(0);
        played.ask();
        assert_eq!(played.asked(), vec![r#"enter {"members":3,"round":4}"#; 3]);
    }

    #[test]
    fn after_recovery_those_who_are_not_stuck_do_one_round_more() {
        let mut played = stuck();
        played.phase = GeneratorPhase::Drain;
        played.pass(6_000);
        played.ask();
        assert_eq!(played.asked(), [STUCK_LEAVE, "", ""], "nobody is sent to a new round");
        played.generator.recovered(&AnsweredDurations::default());
        played.phase = GeneratorPhase::Final;
        for f in ["enter", "leave"] {
            assert!(!played.generator.finished(1));
            played.ask();
            assert!(played.asked()[1].starts_with(f), "{:?}", played.asked());
            played.ok(1);
            played.ok(2);
        }
        played.ask();
        assert_eq!(played.asked(), [STUCK_LEAVE, "", ""]);
        assert!(!played.generator.finished(0) && played.generator.finished(1) && played.generator.finished(2));
    }

    #[test]
    fn one_that_remains_alone_enters_nothing() {
        let mut played = PlayedGenerator::new();
        played.ask();
        played.ok(1);
        played.generator.died(1);
        played.pass(60_000);
        played.ask();
        let waits = r#"enter {"members":3,"round":1}"#;
        assert_eq!(played.asked(), [waits, "", waits]);
    }

    #[test]
    fn one_whose_process_dies_enters_the_same_round_again_with_as_many_members() {
        let mut played = stuck();
        played.pass(6_000);
        played.ask();
        played.generator.died(2);
        played.pending[2] = None;
        played.ask();
        assert_eq!(played.asked()[2], r#"enter {"members":2,"round":2}"#);
    }
}
