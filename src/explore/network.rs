//! Exploring consensus protocols on networks: schedules are played one after the other, in microseconds each, on all
//! cores, and what is found is written as runs.

use crate::campaign::shard::Shard;
use crate::explore::drive::ExploringTime;
use crate::explore::failure::Signature;
use crate::explore::failure_runs::{ExploredFailure, ShrinkingTime, ShrunkRun};
use crate::planning::case::Case;
use crate::run::simulation;
use crate::shrink::Size;
use crate::shrink::network::{ShrunkScript, shrink};
use crate::shrink::strategy::write_run;
use anyhow::{Error, Result};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use zooquake_checkers::consensus::{ConsensusJudge, ConsensusViolation, NodeSets};
use zooquake_history::plan::{ClusterPlan, ConsensusGoal, On, Plan, Scheduler};
use zooquake_network::draft::{self, DraftShape, NetworkDraft};
use zooquake_network::judging::JudgingObserver;
use zooquake_network::play::{PATIENCE, network_rng};
use zooquake_network::scenario::Pace;
use zooquake_network::transit::Transit;
use zooquake_network::world::World;
use zooquake_workloads::consensus::protocol::{Node, Protocol};
use zooquake_workloads::consensus::setting::ProtocolVisitor;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// Interval of progress.
const PROGRESS: Duration = Duration::from_secs(2);

/// Interval at which the end of the threads is polled.
const POLL: Duration = Duration::from_millis(5);

/// A thread takes so many schedules at a time.
const CHUNK: u64 = 256;

/// When a search ends.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimits {
    pub time: ExploringTime,
    /// After so many schedules; `None` for no limit but time.
    pub schedules: Option<u64>,
    /// How many threads search.
    pub threads: usize,
    /// Whether it ends with the first violation of this anomaly.
    pub first: Option<&'static str>,
}

/// The schedules that show an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnomalySchedules {
    /// How many there are.
    pub count: u64,
    /// The lowest seed of these.
    pub seed: u64,
}

/// What was searched.
#[derive(Debug, Clone, Default)]
pub struct NetworkSearch {
    /// Schedules that were played.
    pub schedules: u64,
    /// How long it took.
    pub took: Duration,
    /// By anomaly the schedules that show it; of one schedule its first violation.
    pub failures: BTreeMap<&'static str, AnomalySchedules>,
}

/// Searches the part of a space from a seed on until a limit is reached, or `stop` becomes true. `progress` is called
/// every two seconds with what was searched so far.
pub fn search(
    (space, seed, shard): (&ScheduleSpace, u64, Shard),
    limits: SearchLimits,
    stop: &AtomicBool,
    mut progress: impl FnMut(&NetworkSearch),
) -> NetworkSearch {
    let (begun, next) = (Instant::now(), AtomicU64::new(0));
    let (found, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let tally = Mutex::new(NetworkSearch::default());
    let so_far = || {
        let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        NetworkSearch {
            took: begun.elapsed(),
            ..tally.clone()
        }
    };
    let time_is_over = || limits.time.is_over(begun.elapsed(), || found.load(Ordering::Relaxed));
    let over = || ended.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) || time_is_over();
    let work = || {
        let mut player = SchedulePlayer::new(space);
        while !over() {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            let until = limits.schedules.map_or(from + CHUNK, |most| most.min(from + CHUNK));
            if from >= until {
                return;
            }
            let played = play(&mut player, (from..until, seed, shard), &over);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.add(&played);
            found.store(!tally.failures.is_empty(), Ordering::Relaxed);
            if limits.first.is_some_and(|first| tally.failures.contains_key(first)) {
                ended.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..limits.threads).map(|_| scope.spawn(work)).collect();
        let mut shown = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(POLL);
            if shown.elapsed() >= PROGRESS {
                shown = Instant::now();
                progress(&so_far());
            }
        }
    });
    so_far()
}

/// Plays the schedules at these positions of a shard, until it is over.
fn play(
    player: &mut SchedulePlayer<'_>,
    (positions, seed, shard): (std::ops::Range<u64>, u64, Shard),
    over: &impl Fn() -> bool,
) -> NetworkSearch {
    let mut played = NetworkSearch::default();
    for number in positions.map_while(|position| shard.number(position)) {
        // An election takes a thousand times as long as a look at the clock.
        if number % 16 == 0 && over() {
            break;
        }
        let seed = seed.wrapping_add(number);
        played.schedules += 1;
        if let Some(violation) = player.play(seed) {
            played.add_failure(violation.kind.anomaly(), AnomalySchedules { count: 1, seed });
        }
    }
    played
}

impl NetworkSearch {
    /// Schedules a second.
    pub fn rate(&self) -> f64 {
        self.schedules as f64 / self.took.as_secs_f64().max(1e-9)
    }

    fn add(&mut self, other: &Self) {
        self.schedules += other.schedules;
        other
            .failures
            .iter()
            .for_each(|(anomaly, found)| self.add_failure(anomaly, *found));
    }

    fn add_failure(&mut self, anomaly: &'static str, found: AnomalySchedules) {
        let before = self
            .failures
            .entry(anomaly)
            .or_insert(AnomalySchedules { count: 0, ..found });
        before.count += found.count;
        before.seed = before.seed.min(found.seed);
    }
}

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
struct SchedulePlayer<'a> {
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

/// The case of the schedule of a seed.
///
/// # Errors
/// If its variant is none of this program's.
pub fn schedule_case(space: &ScheduleSpace, seed: u64) -> Result<Case> {
    let mut player = SchedulePlayer::new(space);
    let names = space.variant.setting(seed, &space.cluster).names();
    let clients = player.clients().to_vec();
    let drawn = player.draw(seed);
    let windows = draft::windows(&drawn.disturbances, &names);
    let kinds = space.faults.iter();
    let faults = kinds.filter(|kind| windows.iter().any(|window| window.fault == **kind));
    let plan = Plan {
        format: 1,
        on: On::Network,
        scheduler: space.scheduler.clone(),
        seed,
        workload: space.variant.workload(),
        cluster: space.cluster.clone(),
        // A schedule ends when all is healed and asked, which is no later than this.
        time_ms: 0,
        faults: faults.cloned().collect(),
        clients: draft::client_plans(&drawn.requests, &clients),
        windows,
        ..Plan::default()
    };
    Case::new(plan).map_err(Error::msg)
}

/// Writes the failures as runs, those that are not known of the variant first, shrunk as far as that goes until a
/// moment.
///
/// # Errors
/// If a run cannot be written.
pub fn write_failures(
    space: &ScheduleSpace,
    found: &NetworkSearch,
    out: &Path,
    (until, stop): (Instant, &AtomicBool),
) -> Result<Vec<ExploredFailure>> {
    let mut time = ShrinkingTime::new(until, found.failures.len());
    let mut failures = Vec::new();
    for (anomaly, schedules) in &found.failures {
        let case = schedule_case(space, schedules.seed)?;
        let finished = simulation::run(&case, out)?;
        let record = finished.folder.load()?;
        let shown = finished.results.anomalies.iter().find(|shown| shown.kind == *anomaly);
        progress!("shrinking {anomaly} of seed {}", schedules.seed);
        let smallest = shrink(&case, anomaly, time.next(), stop)?;
        let run = finished.folder.path;
        let write = |ShrunkScript { case, record, tried }| {
            let size = Size::new(&record);
            let run = write_run(case, Some(&run), out)?;
            anyhow::Ok(ShrunkRun { run, size, tried })
        };
        failures.push(ExploredFailure {
            signature: match shown {
                Some(shown) => Signature::new(&record, shown),
                None => anyhow::bail!(
                    "the run of seed {} does not show the {anomaly} that it showed",
                    schedules.seed
                ),
            },
            schedules: schedules.count,
            seed: schedules.seed,
            why: shown.map(|shown| shown.why.clone()).unwrap_or_default(),
            shrunk: smallest.map(write).transpose()?,
            run: Some(run),
            confirmation: None,
        });
    }
    failures.sort_by_key(|failure| failure.signature.known);
    Ok(failures)
}
