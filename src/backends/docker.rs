//! Real ensembles, in containers on a Docker engine: the crate `backend`.

use super::{BackendKind, Capabilities, Capacity, Connection, Fleet};
use crate::planning::recipe::workplace;
use anyhow::{Context, Result, ensure};
use futures_util::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zooquake_backend::docker::{DockerBackend, EngineMachine, SweepCount};
use zooquake_backend::images::Source;
use zooquake_backend::{Backend, BackendFuture};
use zooquake_history::plan::{On, Plan, Workload};

/// Real ensembles.
pub const KIND: BackendKind = BackendKind {
    on: On::Docker,
    noun: "ensemble",
    adjective: "real",
    capabilities: Capabilities {
        virtual_time: false,
        containers: true,
        images: true,
        connections: true,
        election_logs: true,
        zookeeper: true,
    },
    connect,
};

fn connect(hosts: Vec<String>) -> BackendFuture<'static, Box<dyn Connection>> {
    async { Ok(Box::new(DockerEngine(DockerBackend::connect_to(hosts).await?)) as Box<dyn Connection>) }.boxed()
}

/// A Docker engine that answers.
struct DockerEngine(DockerBackend);

impl Connection for DockerEngine {
    fn cleaner(&self) -> Box<dyn Backend> {
        Box::new(self.0.clone())
    }

    fn prepare(self: Box<Self>, zookeepers: BTreeSet<Option<String>>) -> BackendFuture<'static, Box<dyn Fleet>> {
        async move {
            let Self(engine) = *self;
            tokio::spawn(sweep(engine.clone()));
            let mut prepared = Vec::new();
            for name in zookeepers {
                let backend: Arc<dyn Backend> = Arc::new(engine.with_images(name.as_deref()).await?);
                prepared.push((name, backend));
            }
            Ok(Box::new(DockerFleet { engine, prepared }) as Box<dyn Fleet>)
        }
        .boxed()
    }
}

/// Between the two looks at a run that seems dead: one whose lease is not held has it again by then, if it lives.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Removes what dead runs left, and states it in a line.
async fn sweep(engine: DockerBackend) {
    match dead_runs(&engine).await {
        Ok(dead) => report_swept(engine.sweep(dead.into_iter().collect()).await),
        Err(error) => eprintln!("zooquake: what dead runs left was not removed: {error:#}"),
    }
}

/// Those that are dead at two looks.
async fn dead_runs(engine: &DockerBackend) -> Result<BTreeSet<String>> {
    let first = engine.own_dead().await?;
    if first.is_empty() {
        return Ok(first);
    }
    tokio::time::sleep(BETWEEN_LOOKS).await;
    Ok(&first & &engine.own_dead().await?)
}

fn report_swept(swept: BTreeMap<String, SweepCount>) {
    let (left, gone): (Vec<_>, Vec<_>) = swept.into_iter().partition(|(_, swept)| !swept.left.is_empty());
    let names = |runs: Vec<(String, SweepCount)>| runs.into_iter().map(|(run, _)| run).collect::<Vec<_>>();
    if !gone.is_empty() {
        progress!("removed what dead runs had left: {}", names(gone).join(", "));
    }
    if !left.is_empty() {
        eprintln!(
            "zooquake: dead runs left what cannot be removed, `zooquake clean` names it: {}",
            names(left).join(", ")
        );
    }
}

/// An engine, and a backend with the images of each ZooKeeper that was asked for.
struct DockerFleet {
    engine: DockerBackend,
    prepared: Vec<(Option<String>, Arc<dyn Backend>)>,
}

impl Fleet for DockerFleet {
    fn backend(&self, plan: &Plan) -> Result<Arc<dyn Backend>> {
        let prepared = self.prepared.iter().find(|(asked, _)| *asked == plan.cluster.image);
        let (_, backend) = prepared.context("its images were not prepared")?;
        Ok(Arc::clone(backend))
    }

    fn capacity(&self) -> BackendFuture<'_, Capacity> {
        let machine = self.engine.machine();
        async move {
            let EngineMachine { processors, memory } = machine.await?;
            let memory = Some(memory);
            Ok(Capacity { processors, memory })
        }
        .boxed()
    }

    fn pin<'a>(&'a self, folder: Option<&'a Path>, workload: &'a mut Workload) -> BackendFuture<'a, Option<Source>> {
        pin(&self.engine, folder, workload).boxed()
    }
}

/// Pins the recipe of a workload, if that is not built in, to the image of its present files, which are returned. They
/// are read from this folder, or else from the one that the workload names.
///
/// # Errors
/// If they are not those that the workload names, or the image cannot be made.
pub async fn pin(engine: &DockerBackend, folder: Option<&Path>, workload: &mut Workload) -> Result<Option<Source>> {
    let Some(recipe) = &mut workload.recipe else {
        return Ok(None);
    };
    let own = || workplace(Path::new(&recipe.folder), !recipe.prepare.is_empty());
    let folder = folder.map_or_else(own, Path::to_path_buf);
    let source = Source::from_recipe(&folder, recipe)?;
    let changed = source.differences(&recipe.files);
    ensure!(
        changed.is_empty(),
        "{} is not what was planned: {}",
        folder.display(),
        changed.join(", ")
    );
    let ran = recipe.digest.take();
    let digest = engine.recipe(&workload.variant, recipe, &source).await?;
    if let Some(ran) = ran.filter(|ran| *ran != digest) {
        eprintln!("not the image that ran: {ran} then, {digest} now");
    }
    recipe.digest = Some(digest);
    Ok(Some(source))
}
