//! The real backend: containers on a Docker engine, through testcontainers.

mod cluster;
mod confinement;
mod connect;
mod engine;
mod evidence;
mod exec;
mod hosts;
mod identity;
mod intents;
mod labels;
mod lag;
mod lease;
mod network;
mod primitives;
mod processes;
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
use lease::Lease;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use testcontainers::bollard::Docker;
use watcher::Watcher;
use zooquake_history::plan::RecipeSource;

pub use cluster::DockerCluster;
pub use engine::{is_chosen, tried};
pub use identity::EngineMachine;
pub use sweep::SweepCount;
pub use upkeep::{hold_lease, watch};

/// Longest wait for a sidecar's answer to something local.
const LOCAL: Duration = Duration::from_secs(10);

/// Rest between two looks at something that is waited for.
const POLL: Duration = Duration::from_millis(50);

/// A Docker engine, and the images that runs on it are made of.
#[derive(Debug, Clone)]
pub struct DockerBackend {
    docker: Docker,
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
                docker: connect::connect().await?,
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
            let images = images::ensure(&self.docker, &images::ImageRequest::from_name(zookeeper)).await?;
            Ok(Self {
                docker: self.docker.clone(),
                images: Some(images),
            })
        })
    }

    /// The engine's id of the image that a recipe's clients run in, pulled or built if it is not there, which is
    /// logged.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn recipe<'a>(&'a self, name: &'a str, recipe: &'a RecipeSource, source: &'a Source) -> BackendFuture<'a> {
        Box::pin(images::recipe(&self.docker, name, recipe, source))
    }

    /// What the engine's machine has.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn machine(&self) -> BackendFuture<'_, EngineMachine> {
        Box::pin(identity::machine(&self.docker))
    }

    fn images(&self) -> Result<&Images> {
        self.images.as_ref().context("no images were prepared")
    }

    /// Makes all hosts; no server is started on them.
    ///
    /// # Errors
    /// As [`Backend::bring_up`].
    pub fn hosts<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, DockerCluster> {
        Box::pin(async move { DockerCluster::hosts(&self.docker, self.images()?, what).await })
    }
}

/// The lease of a run, and the watcher that heals if this program dies.
struct DockerClaim {
    run: String,
    lease: Lease,
    watcher: Watcher,
}

impl RunClaim for DockerClaim {
    fn end(self: Box<Self>) -> BackendFuture<'static, ()> {
        let Self { run, lease, watcher } = *self;
        let ending = tokio::spawn(lease.end());
        Box::pin(async move {
            let ended = ending.await.unwrap_or_else(|failed| Err(failed.into()));
            drop(watcher);
            ended.with_context(|| format!("`zooquake clean --run {run}` removes it"))
        })
    }
}

impl Backend for DockerBackend {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(RealClock)
    }

    fn claim<'a>(&'a self, run: &'a str, history: Option<&'a Path>) -> BackendFuture<'a, Box<dyn RunClaim>> {
        Box::pin(async move {
            let watcher = Watcher::start(run, history)?;
            let lease = Lease::take(&self.docker, run, &self.images()?.tools).await?;
            let run = run.to_string();
            Ok(Box::new(DockerClaim { run, lease, watcher }) as Box<dyn RunClaim>)
        })
    }

    fn finds(&self, run: &str) -> Value {
        json!({ "label": labels::RUN_LABEL, "run": run })
    }

    fn confinement(&self) -> BackendFuture<'_, Value> {
        Box::pin(confinement::describe(&self.docker))
    }

    fn engine(&self) -> BackendFuture<'_, Option<String>> {
        Box::pin(async { identity::engine(&self.docker).await.map(Some) })
    }

    fn bring_up<'a>(&'a self, what: BringUp<'a>) -> BackendFuture<'a, Arc<dyn Cluster>> {
        Box::pin(async move { Ok(Arc::new(self.hosts(what).await?) as Arc<dyn Cluster>) })
    }

    fn alive(&self) -> BackendFuture<'_, BTreeSet<String>> {
        self.leased(None)
    }

    fn clear<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()> {
        Box::pin(sweep::cluster(&self.docker, run))
    }

    fn remove_dead<'a>(&'a self, run: &'a str) -> BackendFuture<'a, ()> {
        Box::pin(sweep::dead_run(&self.docker, run))
    }
}
