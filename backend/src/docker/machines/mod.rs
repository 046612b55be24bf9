//! The machines that runs stand on: one Docker engine, or several that are one Swarm.

mod address;
mod facts;
mod images;
mod swarm;
mod tunnel;

pub use address::{host_address, is_host};
pub use facts::{ClockDifference, RoundTrips};

use super::connect;
use super::engine::Address;
use address::HostAddress;
use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use std::sync::Arc;
use testcontainers::bollard::Docker;
use tunnel::Tunnel;
use zooquake_history::Host;

/// A machine with a Docker engine.
#[derive(Debug, Clone)]
pub struct DockerMachine {
    /// Its engine.
    pub docker: Docker,
    /// Its name in plans and its address, where a run stands on several.
    pub named: Option<MachineName>,
    /// The way to it through ssh, open as long as this lives.
    _tunnel: Option<Arc<Tunnel>>,
}

/// A machine as plans and people name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineName {
    pub host: Host,
    /// The address of its engine.
    pub address: String,
}

impl DockerMachine {
    /// Connects to one of several, of this number from 1.
    async fn connect(number: usize, address: &str) -> Result<Self> {
        let named = MachineName {
            host: Host::new(number),
            address: address.to_owned(),
        };
        let doing = || format!("connecting to the host {} at {address}", named.host);
        let (direct, tunnel) = match HostAddress::read(address).with_context(doing)? {
            HostAddress::Direct(direct) => (direct, None),
            HostAddress::Ssh(target) => {
                let tunnel = Tunnel::open(&target).await.with_context(doing)?;
                (Address::Unix(tunnel.socket()), Some(Arc::new(tunnel)))
            }
        };
        Ok(Self {
            docker: connect::to(direct, address).await.with_context(doing)?,
            named: Some(named),
            _tunnel: tunnel,
        })
    }

    /// The same result; where runs stand on several machines, an error with the name and address of this one.
    ///
    /// # Errors
    /// That of the result.
    pub fn explain<T>(&self, result: Result<T>) -> Result<T> {
        match &self.named {
            Some(MachineName { host, address }) => result.with_context(|| format!("on the host {host}, {address}")),
            None => result,
        }
    }

    /// ` on the host h2`; empty where there is one machine alone.
    pub fn words(&self) -> String {
        let named = self.named.as_ref();
        named.map_or_else(String::new, |named| format!(" on the host {}", named.host))
    }
}

/// The machines of runs, at least one.
#[derive(Debug, Clone)]
pub struct Machines {
    /// All of them, in order.
    pub all: Vec<DockerMachine>,
    /// The place of the one whose engine manages the Swarm.
    manager: usize,
}

impl Machines {
    /// The one whose engine `DOCKER_HOST` names, or whose socket is there.
    ///
    /// # Errors
    /// If none answers; the message names the address that was tried and the remedy.
    pub async fn one() -> Result<Self> {
        let machine = DockerMachine {
            docker: connect::connect().await?,
            named: None,
            _tunnel: None,
        };
        Ok(Self {
            all: vec![machine],
            manager: 0,
        })
    }

    /// Those with these engines, or the usual one if none is given; nothing is asked of them but whether they live.
    ///
    /// # Errors
    /// If one does not answer, which the message names.
    pub async fn reach(addresses: &[String]) -> Result<Self> {
        if addresses.is_empty() {
            return Self::one().await;
        }
        let each = (1..)
            .zip(addresses)
            .map(|(number, address)| DockerMachine::connect(number, address));
        Ok(Self {
            all: try_join_all(each).await?,
            manager: 0,
        })
    }

    /// The same, for runs: several have to be one Swarm.
    ///
    /// # Errors
    /// Also if they are none, with the commands that make one of them, cannot run the same images, or have a clock that
    /// is certainly other than ours.
    pub async fn for_runs(addresses: &[String]) -> Result<Self> {
        let mut machines = Self::reach(addresses).await?;
        if machines.are_several() {
            machines.manager = swarm::manager(&machines.all).await?;
            facts::refuse_other_clocks(&machines.all).await?;
        }
        Ok(machines)
    }

    /// Whether runs stand on several.
    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// The engine on which images are prepared.
    pub fn first(&self) -> &Docker {
        &self.all[0].docker
    }

    /// The engine on which networks are made.
    pub fn manager(&self) -> &Docker {
        &self.all[self.manager].docker
    }

    /// The addresses by which they were given; none where there is one alone.
    pub fn addresses(&self) -> Vec<String> {
        let named = self.all.iter().filter_map(|machine| machine.named.as_ref());
        named.map(|named| named.address.clone()).collect()
    }
}
