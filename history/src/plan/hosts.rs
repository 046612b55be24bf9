//! The machines of a run that stands on several, each with a Docker engine of its own.

use super::ClusterPlan;
use serde::{Deserialize, Serialize};

/// One machine of a run, and what stands there. Plans name machines by their places: `h1`, `h2`, ….
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedHost {
    /// The address of its Docker engine, such as `unix:///run/a.sock` or `ssh://user@b`.
    pub address: String,
    /// The servers and clients on it, in the order of their names.
    pub nodes: Vec<String>,
}

impl ClusterPlan {
    /// Names of all servers and clients: voters, observers, clients.
    pub fn nodes(&self) -> Vec<String> {
        [self.ensemble(), self.client_names()].concat()
    }

    /// Names of the machines; none if the run stands on one.
    pub fn host_names(&self) -> Vec<String> {
        (1..=self.hosts.len()).map(host_name).collect()
    }

    /// What stands on the machine of this name; `None` if there is none of it.
    pub fn nodes_on(&self, host: &str) -> Option<&[String]> {
        let place = self.host_names().iter().position(|name| name == host)?;
        Some(&self.hosts[place].nodes)
    }

    /// The place of a node's machine among all; `None` if it stands on none of several.
    pub fn host_of(&self, node: &str) -> Option<usize> {
        let stands = |host: &PlannedHost| host.nodes.iter().any(|other| other == node);
        self.hosts.iter().position(stands)
    }
}

/// The name of the machine of this number, counted from 1.
pub fn host_name(number: usize) -> String {
    format!("h{number}")
}
