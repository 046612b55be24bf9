//! The tutorial's barrier: members join, a member that counts them all opens it, an application waits.
//! `docs/families/barrier.md`.

use super::rounds::Rounds;
use super::{
    Assignment, BEYOND_MS, FamilyGenerator, GIVE_BACK_MS, Generator, GeneratorMoment, GeneratorPhase, OperationRequest,
    pause, single_ms,
};
use crate::operation::{Completion, PendingOp};
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::barrier;
use zooquake_history::plan::{ClientPlan, Plan};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &barrier::FAMILY,
    generator: |plan| match plan.workload.capabilities().members {
        true => Box::new(BarrierGenerator::new(plan)),
        false => Box::new(Rounds::new(plan)),
    },
};

/// The application begins to wait this long before the members join.
const HEAD_START: Duration = Duration::from_millis(20);

/// If the barrier has not opened this long after the last join, the members join anew.
const STUCK: Duration = Duration::from_secs(5);

/// A member stays for its planned work after the barrier has opened, but no longer than this: who dies meanwhile leaves
/// a znode to the next round.
const STAY: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundStage {
    /// Members join, the application waits.
    Gather,
    /// Nobody came through: members close, then join again.
    Rejoin,
    /// The barrier has opened: all close.
    Close,
}

#[derive(Debug)]
pub struct BarrierGenerator {
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
    /// When it came through.
    opened: Duration,
    /// Clients with an operation in flight.
    busy: Vec<bool>,
    last_join: Duration,
    rejoined: bool,
    last_round: i64,
    recovered: bool,
}

impl BarrierGenerator {
    /// The generator of a plan.
    pub fn new(plan: &Plan) -> Self {
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

impl Generator for BarrierGenerator {
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
