//! The machines of a run that stands on several, each with a Docker engine of its own.

use super::ClusterPlan;
use crate::node::{Host, Node};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One machine of a run, and what stands there. Plans name machines by their places: `h1`, `h2`, ….
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedHost {
    /// The address of its Docker engine, such as `unix:///run/a.sock` or `ssh://user@b`.
    pub address: String,
    /// The servers and clients on it, in the order of their names.
    pub nodes: Vec<Node>,
}

impl ClusterPlan {
    /// All servers and clients: voters, observers, clients.
    pub fn nodes(&self) -> Vec<Node> {
        [self.ensemble(), self.client_nodes()].concat()
    }

    /// The machines by their names; none if the run stands on one.
    pub fn named_hosts(&self) -> impl Iterator<Item = (Host, &PlannedHost)> {
        (1..).map(Host::new).zip(&self.hosts)
    }

    /// What stands on a machine; `None` if there is none of this name.
    pub fn nodes_on(&self, host: &Host) -> Option<&[Node]> {
        let (_, planned) = self.named_hosts().find(|(name, _)| name == host)?;
        Some(&planned.nodes)
    }

    /// The place of a node's machine among all; `None` if it stands on none of several.
    pub fn host_of(&self, node: &Node) -> Option<usize> {
        self.hosts.iter().position(|host| host.nodes.contains(node))
    }
}
