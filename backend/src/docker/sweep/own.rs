//! The runs that a later one removes if they are dead.

use super::super::labels::{OWNER_LABEL, RUN_LABEL, is_kept, owner};
use super::super::machines::Machines;
use super::{Labels, labelled};
use anyhow::Result;
use std::collections::BTreeSet;
use testcontainers::bollard::models::Network;

/// Ids of the runs of this owner, or of none where the environment names none, that a later run removes if they are
/// dead.
///
/// # Errors
/// If an engine does not answer.
pub async fn own_runs(machines: &Machines) -> Result<BTreeSet<String>> {
    let owner = owner();
    let mut own = BTreeSet::new();
    for machine in &machines.all {
        let (labels, networks) = machine.explain(labelled(&machine.docker).await)?;
        own.extend(removable(labels, &networks, owner.as_ref()));
    }
    Ok(own)
}

/// Not those whose cluster is to be left standing, nor those over several hosts: a lease may be held on another one.
fn removable(labels: Vec<Labels>, networks: &[Network], owner: Option<&String>) -> BTreeSet<String> {
    let is_spared = |network: &&Network| is_kept(network) || network.driver.as_deref() == Some("overlay");
    let spared = networks.iter().filter(is_spared);
    let spared: BTreeSet<&String> = spared
        .filter_map(|network| network.labels.as_ref()?.get(RUN_LABEL))
        .collect();
    let own = labels.into_iter().filter(|labels| labels.get(OWNER_LABEL) == owner);
    let mut own: BTreeSet<String> = own.filter_map(|mut labels| labels.remove(RUN_LABEL)).collect();
    own.retain(|run| !spared.contains(run));
    own
}

#[cfg(test)]
mod tests {
    use super::super::super::labels::KEEP_LABEL;
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let owned = pairs
            .iter()
            .map(|(label, value)| (label.to_string(), value.to_string()));
        owned.collect()
    }

    #[test]
    fn a_later_run_takes_what_is_its_owners_alone_and_neither_kept_nor_on_other_hosts() {
        let network = |run: &str, label: &str, driver: &str| Network {
            labels: Some(labels(&[(RUN_LABEL, run), (label, "")])),
            driver: Some(driver.to_string()),
            ..Network::default()
        };
        let networks = [
            network("plain", "other", "bridge"),
            network("kept", KEEP_LABEL, "bridge"),
            network("spread", "other", "overlay"),
        ];
        let all: Vec<Labels> = ["plain", "kept", "spread"]
            .into_iter()
            .map(|run| labels(&[(RUN_LABEL, run)]))
            .chain([labels(&[(RUN_LABEL, "owned"), (OWNER_LABEL, "somebody")])])
            .collect();
        let taken = |owner: Option<&str>| {
            let owner = owner.map(str::to_string);
            Vec::from_iter(removable(all.clone(), &networks, owner.as_ref()))
        };
        assert_eq!(taken(None), ["plain"]);
        assert_eq!(taken(Some("somebody")), ["owned"]);
        assert!(taken(Some("another")).is_empty());
    }
}
