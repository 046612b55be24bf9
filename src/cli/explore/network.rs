//! `zooquake explore` of consensus protocols.

use super::{ExploreOptions, ScheduleOrder, show};
use crate::campaign::shard::Shard;
use crate::cli::exit::{Code, Usage};
use crate::cli::{interrupt, paths};
use crate::explore::drive::ExploringTime;
use crate::explore::network::{NetworkSearch, ScheduleSpace, SearchLimits, search, write_failures};
use crate::planning::{names, network};
use crate::run::stage::Stage;
use anyhow::{Context, Result};
use std::time::Instant;
use zooquake_history::plan::{ClusterPlan, Scheduler};
use zooquake_network::draft;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// How many messages a schedule is taken to have by one that draws priorities.
const MESSAGES: u32 = 60;

/// Explores a consensus protocol.
///
/// # Errors
/// [`Usage`] for what does not exist or does not go with networks; otherwise the harness failed.
pub async fn explore(options: ExploreOptions, variant: &'static ConsensusVariant, shard: Shard) -> Result<Code> {
    let space = space(&options, variant).map_err(Usage)?;
    paths::output_folder(&options.out, "--out")?;
    let interrupt = interrupt::listen()?;
    let stop = interrupt::flag(&interrupt);
    let until = Instant::now() + options.budget;
    let limits = SearchLimits {
        time: ExploringTime::before_shrinking(options.budget),
        schedules: options.schedules,
        threads: super::threads(options.threads),
        first: None,
    };
    let seed = options.seed.unwrap_or_else(|| u64::from(fastrand::u32(..)));
    let (out, name) = (options.out.clone(), variant.workload().name());
    let stage = Stage::begin("writing what was found");
    let exploring = tokio::task::spawn_blocking(move || {
        progress!("exploring {name} from seed {seed} on {} threads", limits.threads);
        let tell = |found: &NetworkSearch| progress!("{}", show::network_progress(found));
        let found = search((&space, seed, shard), limits, &stop, tell);
        let failures = write_failures(&space, &found, &out, (until, &stop))?;
        anyhow::Ok((found, failures))
    });
    let (found, failures) = exploring.await.context("the exploration did not come to its end")??;
    drop(stage);
    match options.json {
        true => show::print_network_json(seed, &found, &failures)?,
        false => show::print_network(&found, &failures),
    }
    Ok(super::code(&failures, *interrupt.borrow()))
}

fn space(options: &ExploreOptions, variant: &'static ConsensusVariant) -> Result<ScheduleSpace, String> {
    let name = variant.workload().name();
    if options.confirm {
        return Err(format!("{name} runs on no real ensemble: leave --confirm out"));
    }
    if options.corpus.is_some() {
        return Err(format!(
            "schedules of {name} take microseconds, and none is worth keeping: leave --corpus out"
        ));
    }
    let scheduler = match options.schedule {
        ScheduleOrder::Walk => Scheduler::Walk,
        ScheduleOrder::Pct => Scheduler::Pct {
            depth: options.depth,
            steps: MESSAGES,
        },
        ScheduleOrder::Exhaustive => {
            return Err(format!(
                "schedules of {name} are drawn: give --schedule walk or pct; docs/consensus.md has the model checker"
            ));
        }
    };
    let faults = match &options.faults {
        Some(list) => names::faults(list)?,
        None => draft::FAULTS.map(String::from).to_vec(),
    };
    network::check_faults(&name, &faults)?;
    let cluster = ClusterPlan {
        servers: options.servers.unwrap_or(variant.servers),
        clients: options.clients.unwrap_or(variant.clients),
        ..ClusterPlan::default()
    };
    variant.check(&cluster)?;
    Ok(ScheduleSpace {
        variant,
        cluster,
        faults,
        time_ms: variant.search_ms,
        scheduler,
    })
}
