//! The real backend: containers on a Docker engine, through testcontainers.

mod cluster;
mod confinement;
mod connect;
mod engine;
mod engine_watch;
mod evidence;
mod exec;
mod hosts;
mod identity;
mod intents;
mod labels;
mod lag;
mod lease;
mod lost_engines;
mod machines;
mod network;
mod orchestrator;
mod primitives;
mod processes;
mod round_trips;
mod run_network;
mod sidecar;
mod sweep;
mod txnlog;
mod upkeep;
mod watcher;
mod wire;

use super::{Backend, BackendFuture, BringUp, Clock, Cluster, RealClock, RunClaim};
use crate::images::Source;
use crate::images::{self, Images};
use anyhow::{Context, Result};
use futures_util::future::{join_all, try_join_all};
use lease::Lease;
use machines::Machines;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use watcher::Watcher;
use zooquake_history::plan::RecipeSource;

pub use cluster::DockerCluster;
pub use engine::{is_chosen, tried};
pub use identity::EngineMachine;
pub use machines::{host_address, is_host};
pub use sweep::{SweepCount, clean_command};
pub use upkeep::{hold_lease, watch};

/// Longest wait for a sidecar's answer to something local.
const LOCAL: Duration = Duration::from_secs(10);

/// Rest between two looks at something that is waited for.
const POLL: Duration = Duration::from_millis(50);

/// A Docker engine, or several that are one Swarm, and the images that runs there are made of.
#[derive(Debug, Clone)]
pub struct DockerBackend {
    machines: Machines,
    images: Option<Images>,
}

impl DockerBackend {
    /// Connects to the engine. Nothing can be brought up yet: there are no images.
    ///
    /// # Errors
    /// If none answers.
    pub fn connect() -> BackendFuture<'static, Self> {
        Box::pin(async {
            Ok(Self {
                machines: Machines::one().await?,
                images: None,
            })
        })
    }

    /// Connects to the engines of several hosts, for runs over all of them, or to the usual one if none is given.
    ///
    /// # Errors
    /// If one does not answer, or they are no Swarm that can run the same images: the message has the way out.
    pub fn connect_to(hosts: Vec<String>) -> BackendFuture<'static, Self> {
        Box::pin(async move {
            Ok(Self {
                machines: Machines::for_runs(&hosts).await?,
                images: None,
            })
        })
    }

    /// The same, only to look at and to remove what runs have left there.
    ///
    /// # Errors
    /// If one does not answer.
    pub fn connect_to_clean(hosts: Vec<String>) -> BackendFuture<'static, Self> {
        Box::pin(async move {
            Ok(Self {
                machines: Machines::reach(&hosts).await?,
                images: None,
            })
        })
    }

    /// The same engine with the images of this ZooKeeper, an image or a suite of Debian; `None` leaves the choice to
    /// us. What is missing is pulled or built, and that is logged.
    ///
    /// # Errors
    /// If an image cannot be prepared.
    pub fn with_images<'a>(&'a self, zookeeper: Option<&'a str>) -> BackendFuture<'a, Self> {
        Box::pin(async move {
            let request = images::ImageRequest::from_name(zookeeper);
            let images = images::ensure(self.machines.first(), &request).await?;
            Ok(Self {
                images: Some(self.machines.carry(images).await?),
                machines: self.machines.clone(),
            })
        })
    }

    /// The engine's id of the image that a recipe's clients run in, pulled or built if it is not there, which is
    /// logged.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn recipe<'a>(&'a self, name: &'a str, recipe: &'a RecipeSource, source: &'a Source) -> BackendFuture<'a> {
        Box::pin(async move {
            let image = images::recipe(self.machines.first(), name, recipe, source).await?;
            match self.machines.are_several() {
                true => self.machines.carry_one(&image).await,
                false => Ok(image),
            }
        })
    }

    /// What the engine's machine has.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn machine(&self) -> BackendFuture<'_, EngineMachine> {
        Box::pin(identity::machine(self.machines.first()))
    }

    fn images(&self) -> Result<&Images> {
        self.images.as_ref().context("no images were prepared")
    }

    /// Makes all hosts; no server is started on them.
    ///
    /// # Errors
    /// As [`Backend::bring_up`].
    pub fn hosts<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, DockerCluster> {
        Box::pin(async move { DockerCluster::hosts(&self.machines, self.images()?, what).await })
    }
}

/// The leases of a run, one on each machine, and the watcher that heals if this program dies.
struct DockerClaim {
    /// The command line that removes what is left of the run.
    clean: String,
    leases: Vec<Lease>,
    watcher: Watcher,
}

impl RunClaim for DockerClaim {
    fn end(self: Box<Self>) -> BackendFuture<'static, ()> {
        let Self { clean, leases, watcher } = *self;
        let ending = tokio::spawn(join_all(leases.into_iter().map(Lease::end)));
        Box::pin(async move {
            let ended: Result<()> = match ending.await {
                Ok(all) => all.into_iter().collect(),
                Err(failed) => Err(failed.into()),
            };
            drop(watcher);
            ended.with_context(|| format!("`{clean}` removes it"))
        })
    }
}

impl Backend for DockerBackend {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(RealClock)
    }

    fn claim<'a>(&'a self, run: &'a str, history: Option<&'a Path>) -> BackendFuture<'a, Box<dyn RunClaim>> {
        Box::pin(async move {
            let watcher = Watcher::start(run, history, &self.machines.addresses())?;
            let tools = &self.images()?.tools;
            let machines = self.machines.all.iter();
            let leases = try_join_all(machines.map(|machine| Lease::take(&machine.docker, run, tools))).await?;
            let clean = sweep::clean_line(&self.machines, Some(run));
            Ok(Box::new(DockerClaim { clean, leases, watcher }) as Box<dyn RunClaim>)
        })
    }

    fn finds(&self, run: &str) -> Value {
        let mut found = json!({ "label": labels::RUN_LABEL, "run": run });
        if self.machines.are_several() {
            found["hosts"] = json!(self.machines.addresses());
        }
        found
    }

    fn confinement(&self) -> BackendFuture<'_, Value> {
        Box::pin(confinement::describe(self.machines.first()))
    }

    fn engine(&self) -> BackendFuture<'_, Option<String>> {
        Box::pin(async { identity::engines(&self.machines).await.map(Some) })
    }

    fn bring_up<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, Arc<dyn Cluster>> {
        Box::pin(async move { Ok(Arc::new(self.hosts(what).await?) as Arc<dyn Cluster>) })
    }

    fn alive(&self) -> BackendFuture<'_, BTreeSet<String>> {
        self.leased(None)
    }

    fn clear<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()> {
        Box::pin(sweep::cluster(&self.machines, run))
    }

    fn remove_dead<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()> {
        Box::pin(sweep::dead_run(&self.machines, run))
    }
}
