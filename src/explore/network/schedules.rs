//! Schedules of a consensus protocol, each played and judged in microseconds.

use fastrand::Rng;
use zooquake_checkers::consensus::{ConsensusJudge, ConsensusViolation, NodeSets};
use zooquake_history::plan::{ClusterPlan, ConsensusGoal, Scheduler};
use zooquake_network::draft::{DraftShape, NetworkDraft};
use zooquake_network::judging::JudgingObserver;
use zooquake_network::play::{PATIENCE, network_rng};
use zooquake_network::scenario::Pace;
use zooquake_network::transit::Transit;
use zooquake_network::world::World;
use zooquake_workloads::consensus::protocol::{Node, Protocol};
use zooquake_workloads::consensus::setting::ProtocolVisitor;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// What the schedules of an exploration have in common.
#[derive(Clone)]
pub struct ScheduleSpace {
    pub variant: &'static ConsensusVariant,
    /// Its sizes.
    pub cluster: ClusterPlan,
    /// The kinds of fault that are drawn.
    pub faults: Vec<String>,
    /// Milliseconds of requests and faults.
    pub time_ms: u32,
    /// What decides when messages arrive.
    pub scheduler: Scheduler,
}

/// Plays schedules of a variant, one after the other.
pub struct SchedulePlayer<'a> {
    space: &'a ScheduleSpace,
    shape: DraftShape,
    sets: NodeSets,
    draft: NetworkDraft,
}

impl<'a> SchedulePlayer<'a> {
    /// A player of this space.
    pub fn new(space: &'a ScheduleSpace) -> Self {
        let setting = space.variant.setting(0, &space.cluster);
        let many = space.variant.goal == ConsensusGoal::Log;
        Self {
            space,
            shape: DraftShape::new(&setting.roles(), space.time_ms, many),
            sets: NodeSets::from_names(&setting.names()),
            draft: NetworkDraft::default(),
        }
    }

    /// The nodes that clients ask.
    pub fn clients(&self) -> &[Node] {
        &self.shape.clients
    }

    /// What is drawn for the schedule of a seed.
    pub fn draw(&mut self, seed: u64) -> &NetworkDraft {
        let mut rng = Rng::with_seed(seed);
        let faults = &self.space.faults;
        let most = if faults.is_empty() { 0 } else { faults.len().min(3) + 1 };
        self.draft.disturbances.clear();
        for _ in 0..rng.usize(0..=most) {
            let kind = &faults[rng.usize(0..faults.len())];
            self.draft
                .disturbances
                .push(self.shape.draw_disturbance(kind, &mut rng));
        }
        self.draft.requests = self.shape.draw_requests(&mut rng);
        &self.draft
    }

    /// Plays and judges the schedule of a seed; the violation, if there is one.
    pub fn play(&mut self, seed: u64) -> Option<ConsensusViolation> {
        self.draw(seed);
        let setting = self.space.variant.setting(seed, &self.space.cluster);
        setting.visit(ScheduleVisitor { player: self, seed })
    }
}

struct ScheduleVisitor<'a, 'b> {
    player: &'a SchedulePlayer<'b>,
    seed: u64,
}

impl ProtocolVisitor for ScheduleVisitor<'_, '_> {
    type Outcome = Option<ConsensusViolation>;

    fn visit<P: Protocol>(self, config: &P::Config) -> Option<ConsensusViolation> {
        let SchedulePlayer {
            space,
            shape,
            sets,
            draft,
        } = self.player;
        let mut rng = network_rng(self.seed);
        let transit = Transit::new(&space.scheduler, usize::from(shape.nodes), &mut rng);
        let judge = JudgingObserver::new(ConsensusJudge::new(space.variant.goal, *sets), draft.healed());
        let mut world = World::<P, _>::new(draft.scenario(config, PATIENCE), Pace::Drawn(transit), rng, judge);
        world.run();
        world.observer.close()
    }
}
