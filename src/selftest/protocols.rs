//! Planted bugs of consensus protocols: each is searched on networks until its anomaly shows, and so is the protocol
//! without it, which must show only what it declares.

use super::{BugOutcome, PlantedBug, Settings, ShownBug};
use crate::campaign::shard::Shard;
use crate::explore::drive::ExploringTime;
use crate::explore::network::{NetworkSearch, ScheduleSpace, SearchLimits, schedule_case, search};
use crate::shrink::network::{ShrunkScript, shrink};
use crate::shrink::{Size, WantedAnomaly};
use anyhow::{Context, Result};
use std::time::Instant;
use zooquake_history::plan::{ClusterPlan, Scheduler};
use zooquake_workloads::consensus::planted::PlantedProtocol;
use zooquake_workloads::consensus::variants::{ConsensusVariant, variant};

/// A protocol without its bug is played so many times as often as a recipe: its schedules take microseconds.
const TWINS: u64 = 100;

/// Tries one bug.
///
/// # Errors
/// If a schedule that was found cannot be played again.
pub fn run(planted: &'static PlantedProtocol, settings: Settings<'_>) -> Result<BugOutcome> {
    let space = space(&planted.variant, planted);
    let limits = SearchLimits {
        time: ExploringTime::whole(settings.budget),
        schedules: None,
        threads: settings.threads,
        first: Some(planted.expected),
    };
    let found = searched(&space, limits, settings);
    let shown = found.failures.get(planted.expected);
    let shown = shown.map(|schedules| shown_by(planted, &space, schedules.seed, settings));
    let twin = variant(planted.twin).context("its protocol is registered")?;
    let twin_limits = SearchLimits {
        schedules: Some(found.schedules.max(settings.twin * TWINS)),
        first: None,
        ..limits
    };
    let silent = searched(&self::space(twin, planted), twin_limits, settings);
    let known = |anomaly: &str| twin.accepted.iter().any(|known| known.anomaly == anomaly);
    let noise = silent.failures.keys().filter(|anomaly| !known(anomaly));
    Ok(BugOutcome {
        planted: PlantedBug::Protocol(planted),
        schedules: found.schedules,
        took: found.took,
        found: found.failures.keys().map(|anomaly| (*anomaly).to_owned()).collect(),
        shown: shown.transpose()?,
        twin_schedules: silent.schedules,
        noise: noise.map(|anomaly| (*anomaly).to_owned()).collect(),
    })
}

fn searched(space: &ScheduleSpace, limits: SearchLimits, settings: Settings<'_>) -> NetworkSearch {
    search((space, settings.seed, Shard::default()), limits, settings.stop, |_| {})
}

/// The schedules of a planted bug, or of the protocol without it, on networks of the size in which the bug shows.
fn space(variant: &'static ConsensusVariant, planted: &PlantedProtocol) -> ScheduleSpace {
    ScheduleSpace {
        variant,
        cluster: ClusterPlan {
            servers: planted.variant.servers,
            clients: planted.variant.clients,
            ..ClusterPlan::default()
        },
        faults: planted.faults.iter().map(|fault| (*fault).to_owned()).collect(),
        time_ms: planted.variant.search_ms,
        scheduler: Scheduler::Walk,
    }
}

/// The schedule of a seed, and the smallest script that shows the same.
fn shown_by(planted: &PlantedProtocol, space: &ScheduleSpace, seed: u64, settings: Settings<'_>) -> Result<ShownBug> {
    let case = schedule_case(space, seed)?;
    let until = Instant::now() + settings.shrinking;
    let ShrunkScript { case, record, .. } =
        shrink(&case, planted.expected, until, settings.stop)?.with_context(|| {
            format!(
                "what happened in schedule {seed} of {} does not show its anomaly again",
                planted.id
            )
        })?;
    let shows = zooquake_checkers::check(&record);
    let shown = shows.anomalies.iter().find(|anomaly| anomaly.kind == planted.expected);
    Ok(ShownBug {
        tried: seed.wrapping_sub(settings.seed) + 1,
        wanted: WantedAnomaly::new(shown.context("the smallest script shows the anomaly")?),
        size: Size::new(&record),
        case,
    })
}
