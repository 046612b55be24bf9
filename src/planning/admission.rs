//! Whether the plan of a run from elsewhere can be run here. A plan is data: what it names must exist, and what it
//! counts be within the bounds of `zooquake run`.

use crate::planning::{names, network, placement, recipe, scenes, values};
use zooquake_backend::images;
use zooquake_history::plan::{On, Plan, RecipeSource, Scheduler, Target, Trigger, Workload};
use zooquake_network::play::{self, PlannedRun};
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// The longest time of operations, and of all that takes place in them, in milliseconds: a day.
const LONGEST_MS: u64 = 24 * 3_600_000;

/// The longest time of a run on a network, in milliseconds; moments there are 32 bits of microseconds.
const LONGEST_NETWORK_MS: u64 = 1_000_000;

/// The most windows, requests, and steps of a script of a run on a network.
const MOST_STEPS: usize = 100_000;

/// Refuses a plan that cannot be run.
///
/// # Errors
/// What is wrong with it, as the end of a sentence about the plan.
pub fn check(plan: &Plan) -> Result<(), String> {
    if let Some(why) = plan.unknown_format() {
        return Err(why);
    }
    if !plan.has_known_format() {
        return Err("was not read".into());
    }
    let name = plan.workload.name();
    match &plan.workload.recipe {
        Some(recipe) => of_recipe(&plan.workload, recipe)?,
        None if names::built_in(&name).is_none() => {
            return Err(format!("is of {name:?}, a variant that this zooquake does not have"));
        }
        None => {}
    }
    if let Some(variant) = network::variant(&plan.workload) {
        return of_network(plan, variant);
    }
    match scenes::variant(&plan.workload) {
        Some(_) => of_scenes(plan)?,
        None => of_clients(plan)?,
    }
    let cluster = &plan.cluster;
    if !(1..=5).contains(&cluster.servers) || cluster.observers > 4 {
        return Err("has an ensemble of another size than 1 to 5 servers and 4 observers".into());
    }
    placement::check(cluster)?;
    for window in &plan.windows {
        if let Target::Host(host) = &window.target
            && cluster.nodes_on(host).is_none()
        {
            return Err(format!("strikes {host:?}, which is none of its hosts"));
        }
    }
    for timing in [cluster.timing].iter().chain(&plan.drawn_for.map(|drawn| drawn.timing)) {
        values::within_bounds(timing).map_err(|bounds| {
            let text = values::timing_text(timing);
            format!(
                "has an ensemble with the timing {text} and initLimit {}: {bounds}",
                timing.init_limit
            )
        })?;
    }
    if longest_ms(plan) > LONGEST_MS {
        return Err("takes, or has something that takes, longer than a day".into());
    }
    match &cluster.image {
        Some(image) if !images::is_name(image) => Err(format!("names {image:?}, which is not an image")),
        _ => Ok(()),
    }
}

/// What a network takes: sizes that the variant can have, and no more windows, requests and steps than a search makes.
fn of_network(plan: &Plan, variant: &ConsensusVariant) -> Result<(), String> {
    variant
        .check(&plan.cluster)
        .map_err(|why| format!("has another size: {why}"))?;
    if plan.on != On::Network {
        return Err(format!("is of {}, which runs on networks alone", plan.workload.name()));
    }
    let steps = match &plan.scheduler {
        Scheduler::Script(steps) => steps.len(),
        _ => 0,
    };
    let requests: usize = plan.clients.iter().map(|client| client.cycles.len()).sum();
    if plan.windows.len().max(requests).max(steps) > MOST_STEPS {
        return Err(format!("has more than {MOST_STEPS} windows, requests or steps"));
    }
    if longest_ms(plan) > LONGEST_NETWORK_MS {
        return Err(format!(
            "takes, or has something that takes, longer than {LONGEST_NETWORK_MS} ms"
        ));
    }
    let names = play::setting(plan).map(|setting| setting.names());
    let run = names.and_then(|names| PlannedRun::new(plan, &names));
    run.map(drop).map_err(|why| format!("cannot be played: {why}"))
}

/// The longest of all times in a plan.
fn longest_ms(plan: &Plan) -> u64 {
    let begins = |trigger: &Trigger| match *trigger {
        Trigger::At { at_ms } => at_ms,
        Trigger::State { from_ms, after_ms, .. } => from_ms.max(after_ms),
        Trigger::Op {
            work_ms,
            after_ms,
            by_ms,
            ..
        } => work_ms.max(after_ms).max(by_ms),
    };
    let windows = plan.windows.iter();
    let windows = windows.map(|window| window.duration_ms.max(begins(&window.trigger)));
    let cycles = plan.clients.iter().flat_map(|client| &client.cycles);
    let cycles = cycles.flat_map(|cycle| cycle.writes.iter().copied().chain([cycle.think_ms]));
    let work = plan.transactions.iter().flat_map(|one| one.work_ms.iter().copied());
    let all = windows.chain(cycles).chain(work).chain([plan.time_ms]);
    all.max().unwrap_or_default()
}

/// A recipe's names become those of images and folders, its paths those of files.
fn of_recipe(workload: &Workload, recipe: &RecipeSource) -> Result<(), String> {
    let name = workload.name();
    if !names::variants()
        .iter()
        .any(|variant| variant.starts_with(&format!("{}/", workload.family)))
    {
        return Err(format!("is of {name:?}, of a family that this zooquake does not have"));
    }
    if !recipe::is_name(&workload.variant) {
        return Err(format!("is of {name:?}, which is not the name of a recipe"));
    }
    if let Some(path) = recipe
        .files
        .keys()
        .chain(&recipe.carried)
        .find(|path| !images::is_below(path))
    {
        return Err(format!(
            "has the file {path:?}, which would lie outside its recipe's folder"
        ));
    }
    match &recipe.image {
        _ if recipe.command.is_empty() => Err("has a recipe without a command".into()),
        Some(image) if !images::is_name(image) => Err(format!("names {image:?}, which is not an image")),
        _ => Ok(()),
    }
}

fn of_scenes(plan: &Plan) -> Result<(), String> {
    let plain = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    match plan.scenes.iter().find(|scene| !plain(&scene.name)) {
        // It becomes the name of a folder.
        Some(scene) => Err(format!("has a scene of the name {:?}", scene.name)),
        None if plan.scenes.is_empty() => Err("has no scenes".into()),
        None => Ok(()),
    }
}

fn of_clients(plan: &Plan) -> Result<(), String> {
    let clients = plan.clients.len();
    if !(1..=50).contains(&clients) || plan.cluster.clients != clients || !plan.scenes.is_empty() {
        return Err("does not state what its clients do".into());
    }
    let sites = |of: &[_]| of.len() == clients - 1;
    let whole = |t: &zooquake_history::plan::PlannedTransaction| sites(&t.votes) && t.work_ms.len() == clients - 1;
    if !plan.transactions.iter().all(whole) {
        return Err("has transactions of other sites than its clients".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::drawing;
    use zooquake_history::plan::{ClusterPlan, DrawnFor};

    fn drawn(name: &str, clients: usize) -> Plan {
        let cluster = ClusterPlan {
            servers: 3,
            clients,
            ..ClusterPlan::default()
        };
        drawing::plan(1, names::workload(name).unwrap(), cluster, 60_000, &["kill".into()])
    }

    #[test]
    fn what_is_drawn_can_be_run() {
        for name in names::variants() {
            assert_eq!(check(&drawn(&name, 1)), Ok(()), "{name}");
            assert_eq!(check(&drawn(&name, 5)), Ok(()), "{name}");
        }
        for variant in scenes::VARIANTS {
            let cluster = ClusterPlan {
                servers: variant.servers,
                ..ClusterPlan::default()
            };
            assert_eq!(check(&(variant.plan)(0, cluster)), Ok(()));
        }
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        let refused = |name: &str, change: fn(&mut Plan)| {
            let mut plan = drawn(name, 5);
            change(&mut plan);
            check(&plan).unwrap_err()
        };
        assert!(refused("lock/fenced", |plan| plan.workload.family = "../../x".into()).contains("../../x"));
        assert!(!refused("lock/fenced", |plan| plan.workload.variant = "\u{1b}[2J".into()).contains('\u{1b}'));
        refused("lock/fenced", |plan| plan.clients.clear());
        refused("lock/fenced", |plan| plan.cluster.clients = 4);
        refused("lock/fenced", |plan| plan.cluster.servers = 1_000_000);
        refused("lock/fenced", |plan| plan.time_ms = u64::MAX);
        refused("lock/fenced", |plan| plan.cluster.image = Some("-v /:/host".into()));
        for format in [0, 3, u32::MAX] {
            let mut plan = drawn("lock/fenced", 5);
            plan.format = format;
            let why = check(&plan).unwrap_err();
            assert!(
                why.contains("reads formats 1 to 2") || format == 0 && why == "was not read",
                "{why}"
            );
        }
        for format in [1, 2] {
            let mut plan = drawn("lock/fenced", 5);
            plan.format = format;
            assert_eq!(check(&plan), Ok(()));
        }
        let bounds = |change| {
            let why = refused("lock/fenced", change);
            assert!(why.contains("50 to 10000 ms") || why.contains("2 to 20 ticks"), "{why}");
        };
        bounds(|plan| plan.cluster.timing.tick_ms = 0);
        bounds(|plan| plan.cluster.timing.tick_ms = u64::MAX);
        bounds(|plan| plan.cluster.timing.sync_limit = 0);
        bounds(|plan| plan.cluster.timing.init_limit = u64::MAX);
        bounds(|plan| plan.cluster.timing.session_ms = 1);
        bounds(|plan| {
            let mut timing = plan.cluster.timing;
            timing.tick_ms = 0;
            plan.drawn_for = Some(DrawnFor { servers: 3, timing });
        });
        refused("lock/fenced", |plan| plan.windows[0].duration_ms = u64::MAX);
        refused("lock/fenced", |plan| {
            plan.windows[0].trigger = Trigger::At { at_ms: u64::MAX }
        });
        refused("lock/fenced", |plan| plan.clients[0].cycles[0].think_ms = u64::MAX);
        refused("commit/atomic", |plan| plan.transactions[0].work_ms[0] = u64::MAX);
        refused("commit/atomic", |plan| plan.transactions[3].votes.clear());
        let mut plan = (scenes::VARIANTS[0].plan)(0, drawn("lock/fenced", 0).cluster);
        plan.scenes[0].name = "../../outside".into();
        assert!(check(&plan).unwrap_err().contains("../../outside"));
    }
}
