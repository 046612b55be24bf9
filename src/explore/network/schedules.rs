//! Schedules of a consensus protocol, each played and judged in microseconds.

use crate::backends::network::draft::{DraftShape, NetworkDraft};
use crate::backends::network::judging::JudgingObserver;
use crate::backends::network::transit::Transit;
use crate::backends::network::world::{Pace, Scenario, World};
use fastrand::Rng;
use zooquake_checkers::consensus::{ConsensusJudge, ConsensusViolation, NodeSets};
use zooquake_history::plan::{ConsensusGoal, Scheduler};
use zooquake_workloads::consensus::protocol::Protocol;
use zooquake_workloads::consensus::setting::ProtocolSetting;

/// How long a run goes on after healing, in microseconds: longer than any protocol needs.
pub const PATIENCE: u32 = 20_000_000;

/// What the schedules of an exploration have in common.
#[derive(Debug, Clone)]
pub struct ScheduleSpace {
    /// What the protocol is to bring about.
    pub goal: ConsensusGoal,
    /// The kinds of fault that are drawn.
    pub faults: Vec<String>,
    /// Milliseconds of requests and faults.
    pub time_ms: u32,
    /// What decides when messages arrive.
    pub scheduler: Scheduler,
}

impl ScheduleSpace {
    /// The random choices of a schedule, the shape of what is drawn for it, and the sets of its nodes.
    fn shape(&self, setting: &ProtocolSetting) -> (DraftShape, NodeSets) {
        let roles = setting.roles();
        let many = self.goal == ConsensusGoal::Log;
        (DraftShape::new(&roles, self.time_ms, many), NodeSets::from_names(&setting.names()))
    }
}

/// Plays schedules of one setting, one after the other.
#[derive(Debug)]
pub struct SchedulePlayer<'a> {
    space: &'a ScheduleSpace,
    shape: DraftShape,
    sets: NodeSets,
    draft: NetworkDraft,
}

impl<'a> SchedulePlayer<'a> {
    /// A player of this space and setting.
    pub fn new(space: &'a ScheduleSpace, setting: &ProtocolSetting) -> Self {
        let (shape, sets) = space.shape(setting);
        Self {
            space,
            shape,
            sets,
            draft: NetworkDraft::default(),
        }
    }

    /// What is drawn for the schedule of a seed, from the random choices that go on in its run.
    pub fn draw(&mut self, rng: &mut Rng) -> &NetworkDraft {
        let faults = &self.space.faults;
        let most = if faults.is_empty() { 0 } else { faults.len().min(3) + 1 };
        self.draft.disturbances.clear();
        for _ in 0..rng.usize(0..=most) {
            let kind = &faults[rng.usize(0..faults.len())];
            self.draft.disturbances.push(self.shape.draw_disturbance(kind, rng));
        }
        self.draft.requests = self.shape.draw_requests(rng);
        &self.draft
    }

    /// Plays and judges the schedule of a seed; the violation, if there is one.
    pub fn play<P: Protocol>(&mut self, config: &P::Config, seed: u64) -> Option<ConsensusViolation> {
        let mut rng = Rng::with_seed(seed);
        self.draw(&mut rng);
        let transit = Transit::new(&self.space.scheduler, usize::from(self.shape.nodes), &mut rng);
        let disturbances = &self.draft.disturbances;
        let healed = disturbances.iter().map(|disturbance| disturbance.until).max().unwrap_or(0);
        let scenario: Scenario<'_, P> = Scenario {
            config,
            disturbances,
            requests: &self.draft.requests,
            until: healed + PATIENCE,
        };
        let asked = self.draft.requests.iter().map(|request| request.0).max().unwrap_or(0);
        let judge = ConsensusJudge::new(self.space.goal, self.sets);
        let mut world = World::new(scenario, Pace::Drawn(transit), rng, JudgingObserver::new(judge, healed.max(asked)));
        world.run();
        world.observer.close()
    }
}
