//! The plan of a run on a network, drawn from its seed.

use fastrand::Rng;
use zooquake_history::plan::{ClusterPlan, ConsensusGoal, On, Plan};
use zooquake_network::draft::{self, DraftShape, FAULTS};
use zooquake_network::play;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// How many drafts of a seed are tried until each kind of fault that is asked for hits something.
const DRAFTS: u64 = 200;

/// The plan of a seed: as many requests as the variant's clients make, and of each kind of fault a window at least. Of
/// the drafts of the seed it is the first in which each kind hits something, if one of the first [`DRAFTS`] is so.
///
/// # Errors
/// If the variant cannot have such a cluster.
pub fn plan(
    seed: u64,
    variant: &ConsensusVariant,
    cluster: ClusterPlan,
    (time_ms, faults): (u64, &[String]),
) -> Result<Plan, String> {
    variant.check(&cluster)?;
    let setting = variant.setting(seed, &cluster);
    let (roles, names) = (setting.roles(), setting.names());
    let time = u32::try_from(time_ms).unwrap_or(u32::MAX / 2_000);
    let shape = DraftShape::new(&roles, time, variant.goal == ConsensusGoal::Log);
    let mut rng = Rng::with_seed(seed);
    let mut drawn = || {
        let mut disturbances = Vec::new();
        for kind in faults
            .iter()
            .chain(faults.iter().filter(|_| rng.bool()).collect::<Vec<_>>())
        {
            disturbances.push(shape.draw_disturbance(kind, &mut rng));
        }
        disturbances.sort_by_key(|disturbance| disturbance.from);
        let requests = shape.draw_requests(&mut rng);
        Plan {
            format: Plan::FORMAT,
            on: On::Network,
            seed,
            workload: variant.workload(),
            cluster: cluster.clone(),
            time_ms,
            faults: faults.to_vec(),
            windows: draft::windows(&disturbances, &names),
            clients: draft::client_plans(&requests, &shape.clients),
            ..Plan::default()
        }
    };
    let first = drawn();
    let hits = |plan: &Plan| play::play(plan).is_ok_and(|record| each_kind_hits(plan, &record.events));
    if hits(&first) {
        return Ok(first);
    }
    Ok((1..DRAFTS).map(|_| drawn()).find(hits).unwrap_or(first))
}

/// Whether a window of each kind of fault has hit something.
fn each_kind_hits(plan: &Plan, events: &[zooquake_history::Event]) -> bool {
    let hit = |fault: &String| {
        events
            .iter()
            .filter(|event| event.f == *fault && event.is_of("nemesis"))
            .any(|event| event.hit().is_some_and(|hit| hit > 0))
    };
    plan.faults.iter().all(hit)
}

/// Refuses kinds of fault that networks do not have.
///
/// # Errors
/// Which one, and which ones they have.
pub fn check_faults(name: &str, faults: &[String]) -> Result<(), String> {
    match faults.iter().find(|fault| !FAULTS.contains(&fault.as_str())) {
        Some(fault) => Err(format!(
            "{name} runs on a network, which has no `{fault}`: give some of {}",
            FAULTS.join(", ")
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_workloads::consensus::variants;

    #[test]
    fn plans_are_drawn_again_the_same_and_each_kind_of_fault_hits_something() {
        let faults = FAULTS.map(String::from);
        for variant in variants::VARIANTS {
            let cluster = ClusterPlan {
                servers: variant.servers,
                clients: variant.clients,
                ..ClusterPlan::default()
            };
            for seed in 0..20 {
                let draw = || plan(seed, variant, cluster.clone(), (variant.time_ms, &faults)).expect("its own size");
                let drawn = draw();
                assert_eq!(drawn, draw(), "{} {seed}", variant.name);
                let record = play::play(&drawn).expect("a plan for a network");
                assert!(each_kind_hits(&drawn, &record.events), "{} {seed}", variant.name);
            }
        }
    }
}
