//! Where runs take place. A backend is a folder here and a line in [`BACKENDS`]; all others ask for its capabilities.

pub mod docker;
pub mod network;
pub mod sim;

use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zooquake_backend::images::Source;
use zooquake_backend::{Backend, BackendFuture};
use zooquake_history::plan::{On, Plan, PlannedHost, Workload};

/// All backends, the usual one first.
pub const BACKENDS: [&BackendKind; 3] = [&docker::KIND, &sim::KIND, &network::KIND];

/// What a backend is capable of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Time is part of a model: a run takes a moment, and equal plans give equal histories.
    pub virtual_time: bool,
    /// Hosts are containers, which run any program and can be left standing after a run.
    pub containers: bool,
    /// Servers are ZooKeeper itself, from an image that a plan may name.
    pub images: bool,
    /// Servers take connections from any client library.
    pub connections: bool,
    /// Servers log their elections.
    pub election_logs: bool,
    /// There are servers of ZooKeeper or models of them, and clients that use them; else nodes of consensus protocols.
    pub zookeeper: bool,
}

#[derive(Debug)]
pub struct BackendKind {
    /// The value by which plans and command lines choose it.
    pub on: On,
    /// The noun of what runs there: `ensemble`, `network`.
    pub noun: &'static str,
    /// Its adjective: `real`, `simulated`.
    pub adjective: &'static str,
    /// What it is capable of.
    pub capabilities: Capabilities,
    /// Connects to it, over these hosts, if there are several.
    connect: fn(Vec<String>) -> BackendFuture<'static, Box<dyn Connection>>,
}

/// What a real run takes beside its operations and faults while nothing is known of this machine.
const BESIDE: Duration = Duration::from_secs(45);

impl BackendKind {
    /// How long a run with this time of operations is taken to last while none was seen.
    pub fn first_guess(&self, time: Duration) -> Duration {
        match self.capabilities.virtual_time {
            true => time / 20,
            false => time + BESIDE,
        }
    }

    /// `a real ensemble`.
    pub fn ensemble(&self) -> String {
        format!("a {} {}", self.adjective, self.noun)
    }

    /// Connects to it, over these hosts, if there are any.
    ///
    /// # Errors
    /// If it does not answer, or the hosts are not such that a run can stand on them.
    pub async fn connect_to(&self, hosts: &[PlannedHost]) -> Result<Box<dyn Connection>> {
        (self.connect)(hosts.iter().map(|host| host.address.clone()).collect()).await
    }
}

/// A backend that answers.
pub trait Connection: Send + Sync {
    /// What finds and removes the runs that were left there.
    fn cleaner(&self) -> Box<dyn Backend>;

    /// Prepares backends for these ZooKeepers; `None` is the project's choice. Images that are missing are pulled or
    /// built. An error if an image cannot be prepared.
    fn prepare(self: Box<Self>, zookeepers: BTreeSet<Option<String>>) -> BackendFuture<'static, Box<dyn Fleet>>;
}

/// What the machine has on which ensembles are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Processors, at least 1.
    pub processors: usize,
    /// Bytes of memory; `None` where they bound nothing.
    pub memory: Option<u64>,
}

impl Capacity {
    /// That of the machine that this program runs on, for what needs little memory.
    pub fn of_this_machine() -> Self {
        Self {
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory: None,
        }
    }
}

/// Prepared backends, one for each ZooKeeper that was asked for.
pub trait Fleet: Send + Sync {
    /// The backend of a plan's run.
    ///
    /// # Errors
    /// If its ZooKeeper was not prepared.
    fn backend(&self, plan: &Plan) -> Result<Arc<dyn Backend>>;

    /// What the machine has on which ensembles are. An error if it cannot be asked.
    fn capacity(&self) -> BackendFuture<'_, Capacity>;

    /// Pins the recipe of a workload, if that is not built in, to the image of its present files, which are returned.
    /// They are read from this folder, or else from the one that the workload names. An error if the backend runs no
    /// recipes.
    fn pin<'a>(&'a self, folder: Option<&'a Path>, workload: &'a mut Workload) -> BackendFuture<'a, Option<Source>>;
}

/// The backend of a plan's run: of these prepared ones, or, of a plan for a network, which nothing is prepared for, one
/// in memory.
///
/// # Errors
/// If its ZooKeeper was not prepared.
pub fn backend(fleet: &dyn Fleet, kind: &BackendKind, plan: &Plan) -> Result<Arc<dyn Backend>> {
    match kind.capabilities.zookeeper {
        true => fleet.backend(plan),
        false => Ok(network::in_memory()),
    }
}

/// The kind of backend that a plan names.
///
/// # Panics
/// If it has no line in [`BACKENDS`].
pub fn kind(on: On) -> &'static BackendKind {
    let found = BACKENDS.into_iter().find(|backend| backend.on == on);
    found.expect("every backend of the format is registered")
}

/// The values of `--on` with what they stand for, as part of a sentence.
pub fn choices() -> String {
    let last = BACKENDS.len() - 1;
    let choice = |(number, backend): (usize, &&BackendKind)| {
        let or = if number == last { "or " } else { "" };
        let noun = match backend.noun {
            "ensemble" if number > 0 => "one",
            noun => noun,
        };
        format!("{or}`{}`, a {} {noun}", backend.on.name(), backend.adjective)
    };
    BACKENDS.iter().enumerate().map(choice).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_of_the_format_is_registered_and_offered() {
        for on in [On::Docker, On::Sim, On::Network] {
            assert_eq!(kind(on).on, on);
        }
        assert_eq!(
            choices(),
            "`docker`, a real ensemble, `sim`, a simulated one, or `network`, a simulated network"
        );
    }
}
