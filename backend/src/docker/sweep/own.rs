//! The runs that a later one removes if they are dead.

use super::super::labels::{OWNER_LABEL, RUN_LABEL, is_kept, owner};
use super::super::machines::Machines;
use super::super::orchestrator;
use super::{Labels, labelled};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use testcontainers::bollard::models::Network;

/// Runs that may be dead, by what is known of their orchestrators.
#[derive(Debug, Default, PartialEq)]
pub struct OwnRuns {
    /// Their processes, of this host, have ended.
    pub ended: BTreeSet<String>,
    /// Only their leases show whether they live.
    pub unknown: BTreeSet<String>,
}

/// The runs of this owner, or of none where the environment names none, that a later run removes if they are dead. None
/// whose process lives on this host: it may have lost the engine, and its lease, for a while.
///
/// # Errors
/// If an engine does not answer.
pub async fn own_runs(machines: &Machines) -> Result<OwnRuns> {
    let (owner, mut own) = (owner(), OwnRuns::default());
    for machine in &machines.all {
        let (labels, networks) = machine.explain(labelled(&machine.docker).await)?;
        for (run, labels) in removable(labels, &networks, owner.as_ref()) {
            let label = labels.get(orchestrator::LABEL);
            match label.and_then(|label| orchestrator::has_ended(label)) {
                Some(true) => drop(own.ended.insert(run)),
                Some(false) => {}
                None => drop(own.unknown.insert(run)),
            }
        }
    }
    Ok(own)
}

/// Not those whose cluster is to be left standing, nor those over several hosts: a lease may be held on another one.
fn removable(labels: Vec<Labels>, networks: &[Network], owner: Option<&String>) -> BTreeMap<String, Labels> {
    let is_spared = |network: &&Network| is_kept(network) || network.driver.as_deref() == Some("overlay");
    let spared = networks.iter().filter(is_spared);
    let spared: BTreeSet<&String> = spared
        .filter_map(|network| network.labels.as_ref()?.get(RUN_LABEL))
        .collect();
    let own = labels.into_iter().filter(|labels| labels.get(OWNER_LABEL) == owner);
    let mut own: BTreeMap<String, Labels> = own
        .filter_map(|labels| Some((labels.get(RUN_LABEL)?.clone(), labels)))
        .collect();
    own.retain(|run, _| !spared.contains(run));
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
            Vec::from_iter(removable(all.clone(), &networks, owner.as_ref()).into_keys())
        };
        assert_eq!(taken(None), ["plain"]);
        assert_eq!(taken(Some("somebody")), ["owned"]);
        assert!(taken(Some("another")).is_empty());
    }
}
