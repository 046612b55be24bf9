//! Whether the plan of a run from elsewhere can be run here. A plan is data: what it names must exist, and what it counts be
//! within the bounds of `zooquake run`.

use crate::run::scenes;
use crate::{naming, recipe};
use zooquake_backend::images;
use zooquake_checkers::plan::{Plan, Recipe, Workload};

/// The longest time of operations, in milliseconds: a day.
const LONGEST_MS: u64 = 24 * 3_600_000;

/// Refuses a plan that cannot be run.
///
/// # Errors
/// What is wrong with it, as the end of a sentence about the plan.
pub fn check(plan: &Plan) -> Result<(), String> {
    let name = plan.workload.name();
    match &plan.workload.recipe {
        Some(recipe) => of_recipe(&plan.workload, recipe)?,
        None if naming::built_in(&name).is_none() => {
            return Err(format!("is of {name:?}, a variant that this zooquake does not have"));
        }
        None => {}
    }
    match scenes::of(&plan.workload) {
        Some(_) => of_scenes(plan)?,
        None => of_clients(plan)?,
    }
    let cluster = &plan.cluster;
    if !(1..=5).contains(&cluster.servers) || cluster.observers > 4 {
        return Err("has an ensemble of another size than 1 to 5 servers and 4 observers".into());
    }
    if plan.time_ms > LONGEST_MS {
        return Err("takes longer than a day".into());
    }
    match &cluster.image {
        Some(image) if !images::is_name(image) => Err(format!("names {image:?}, which is no image")),
        _ => Ok(()),
    }
}

/// A recipe's names become those of images and folders, its paths those of files.
fn of_recipe(workload: &Workload, recipe: &Recipe) -> Result<(), String> {
    let name = workload.name();
    if !naming::variants()
        .iter()
        .any(|variant| variant.starts_with(&format!("{}/", workload.family)))
    {
        return Err(format!("is of {name:?}, of a family that this zooquake does not have"));
    }
    if !recipe::is_name(&workload.variant) {
        return Err(format!("is of {name:?}, which is no name of a recipe"));
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
        Some(image) if !images::is_name(image) => Err(format!("names {image:?}, which is no image")),
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
        return Err("does not say what its clients do".into());
    }
    let sites = |of: &[_]| of.len() == clients - 1;
    let whole = |t: &zooquake_checkers::plan::Transaction| sites(&t.votes) && t.work_ms.len() == clients - 1;
    if !plan.transactions.iter().all(whole) {
        return Err("has transactions of other sites than its clients".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::draw;
    use zooquake_checkers::plan::Cluster;

    fn drawn(name: &str, clients: usize) -> Plan {
        let cluster = Cluster {
            servers: 3,
            clients,
            ..Cluster::default()
        };
        draw::plan(1, naming::workload(name).unwrap(), cluster, 60_000, &["kill".into()])
    }

    #[test]
    fn what_is_drawn_can_be_run() {
        for name in naming::variants() {
            assert_eq!(check(&drawn(&name, 1)), Ok(()), "{name}");
            assert_eq!(check(&drawn(&name, 5)), Ok(()), "{name}");
        }
        for variant in scenes::VARIANTS {
            let cluster = Cluster {
                servers: variant.servers,
                ..Cluster::default()
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
        refused("commit/atomic", |plan| plan.transactions[3].votes.clear());
        let variant = &scenes::VARIANTS[0];
        let mut plan = (variant.plan)(0, drawn("lock/fenced", 0).cluster);
        plan.scenes[0].name = "../../outside".into();
        assert!(check(&plan).unwrap_err().contains("../../outside"));
    }
}
