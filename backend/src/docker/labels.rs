//! Labels on everything that a run creates.

use std::collections::HashMap;
use testcontainers::bollard::models::ContainerSummary;

/// Label that every container, network and volume of a run carries; its value is the run's id.
pub const RUN_LABEL: &str = "zooquake.run";

/// Label of a lease's container.
pub const LEASE_LABEL: &str = "zooquake.lease";

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
