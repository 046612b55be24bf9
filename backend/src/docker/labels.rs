//! Labels on everything that a run creates.

use super::orchestrator;
use std::collections::HashMap;
use testcontainers::bollard::models::{ContainerSummary, Network};

/// Label that every container, network and volume of a run carries; its value is the run's id.
pub const RUN_LABEL: &str = "zooquake.run";

/// Label of a lease's container.
pub const LEASE_LABEL: &str = "zooquake.lease";

/// Label of the network of a run whose cluster is to be left standing.
pub const KEEP_LABEL: &str = "zooquake.keep";

/// Label of everything that a run creates whose program has [`OWNER`] in its environment; its value is that name.
pub const OWNER_LABEL: &str = "zooquake.owner";

/// The variable with a name for whose runs these are, apart from all others on the engine.
const OWNER: &str = "ZOOQUAKE_OWNER";

/// Whose runs these are, if the environment has a name.
pub fn owner() -> Option<String> {
    std::env::var(OWNER).ok().filter(|owner| !owner.is_empty())
}

/// The labels of what a run creates.
pub fn of_run(run: &str) -> HashMap<String, String> {
    let labels = [
        (RUN_LABEL, Some(run.to_string())),
        (OWNER_LABEL, owner()),
        (orchestrator::LABEL, orchestrator::own()),
    ];
    let named = |(label, value): (&str, Option<String>)| Some((label.to_string(), value?));
    labels.into_iter().filter_map(named).collect()
}

/// The filter of lists by which they have what one run has created, or what any run has.
pub fn filter(run: Option<&str>) -> Option<HashMap<String, Vec<String>>> {
    let label = match run {
        Some(id) => format!("{RUN_LABEL}={id}"),
        None => RUN_LABEL.to_string(),
    };
    Some(HashMap::from([("label".to_string(), vec![label])]))
}

/// Whether a container is a lease.
pub fn is_lease(container: &ContainerSummary) -> bool {
    let labels = container.labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key(LEASE_LABEL))
}

/// Whether a network is of a run whose cluster is to be left standing.
pub fn is_kept(network: &Network) -> bool {
    let labels = network.labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key(KEEP_LABEL))
}
