//! The sweep that removes what a run has created, by its label.

mod own;
mod pass;

use super::labels::{OWNER_LABEL, RUN_LABEL, filter, owner};
use super::machines::Machines;
use crate::retry::again;
use anyhow::{Context, Result};
use futures_util::future::{join_all, try_join_all};
pub use own::{OwnRuns, own_runs};
use pass::pass;
pub use pass::{endpoints, miscounted};
use serde::Serialize;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::{ContainerSummary, Network};
use testcontainers::bollard::query_parameters::{ListContainersOptions, ListNetworksOptions, ListVolumesOptions};

/// How often what cannot be removed is tried again.
const ATTEMPTS: usize = 4;

/// Pause before the next attempt. After it a request that a program sent before it died has mostly been carried out.
const BETWEEN: Duration = Duration::from_secs(1);

/// After this time nothing is tried again: the engine does not answer.
const LONG: Duration = Duration::from_secs(90);

/// What a run has on the engine, or what a sweep removed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SweepCount {
    pub containers: usize,
    pub networks: usize,
    pub volumes: usize,
    /// Endpoints of other containers, or of none any more, that kept a network.
    pub disconnected: usize,
    /// Networks that the engine keeps although it lists nothing in them, by name; a later run uses them again.
    pub kept: Vec<String>,
    /// What is left, each with the reason.
    #[serde(skip)]
    pub left: Vec<String>,
}

impl SweepCount {
    /// An error that names what is left, if anything is.
    ///
    /// # Errors
    /// If something is left.
    pub fn complete(self) -> Result<()> {
        anyhow::ensure!(
            self.left.is_empty(),
            "could not remove everything:\n{}",
            self.left.join("\n")
        );
        Ok(())
    }

    /// What a pass that failed comes to.
    fn failed(error: anyhow::Error) -> Self {
        Self {
            left: vec![format!("{error:#}")],
            ..Self::default()
        }
    }

    fn is_nothing(&self) -> bool {
        self.containers + self.networks + self.volumes + self.left.len() + self.kept.len() == 0
    }

    /// Adds what was removed elsewhere, and what is left there.
    fn add(&mut self, mut other: Self) {
        let mut left = std::mem::take(&mut self.left);
        left.append(&mut other.left);
        other.kept.splice(0..0, std::mem::take(&mut self.kept));
        self.and_then(Self { left, ..other });
    }

    /// Adds what a later pass removed; what is left is what that one has left.
    fn and_then(&mut self, later: Self) {
        self.containers += later.containers;
        self.networks += later.networks;
        self.volumes += later.volumes;
        self.disconnected += later.disconnected;
        self.kept = later.kept;
        self.left = later.left;
    }
}

/// Ids of all runs that have a container, a network or a volume on one of these machines; where the environment names
/// an owner, of that one's.
///
/// # Errors
/// If an engine does not answer.
pub async fn runs(machines: &Machines) -> Result<BTreeSet<String>> {
    let each = machines.all.iter();
    let each = each.map(|machine| async move { machine.explain(runs_on(&machine.docker).await) });
    Ok(try_join_all(each).await?.into_iter().flatten().collect())
}

async fn runs_on(docker: &Docker) -> Result<BTreeSet<String>> {
    let owner = owner();
    let ours = |labels: &Labels| owner.is_none() || labels.get(OWNER_LABEL) == owner.as_ref();
    let (labels, _) = labelled(docker).await?;
    let ours = labels.into_iter().filter(ours);
    Ok(ours.filter_map(|mut labels| labels.remove(RUN_LABEL)).collect())
}

type Labels = HashMap<String, String>;

/// The labels of all that runs have on an engine, and their networks.
async fn labelled(docker: &Docker) -> Result<(Vec<Labels>, Vec<Network>)> {
    let networks = networks(docker, None)
        .await
        .context("listing the networks of zooquake")?;
    let containers = containers(docker, None).await?.into_iter().filter_map(|one| one.labels);
    let volumes = volumes(docker, None).await?.into_iter().map(|(_, labels)| labels);
    let of_networks = networks.iter().filter_map(|one| one.labels.clone());
    Ok((containers.chain(volumes).chain(of_networks).collect(), networks))
}

/// Lists the containers of one run, or of all runs, whatever their state.
///
/// # Errors
/// If the engine does not answer.
pub async fn containers(docker: &Docker, run: Option<&str>) -> Result<Vec<ContainerSummary>> {
    let options = ListContainersOptions {
        all: true,
        filters: filter(run),
        ..Default::default()
    };
    again(|| docker.list_containers(Some(options.clone())))
        .await
        .context("listing the containers of zooquake")
}

/// Lists the networks of one run, or of all runs.
///
/// # Errors
/// If the engine does not answer.
pub async fn networks(docker: &Docker, run: Option<&str>) -> Result<Vec<Network>, Error> {
    again(|| docker.list_networks(Some(ListNetworksOptions { filters: filter(run) }))).await
}

/// Names and labels of volumes.
async fn volumes(docker: &Docker, run: Option<&str>) -> Result<Vec<(String, HashMap<String, String>)>> {
    let found = again(|| docker.list_volumes(Some(ListVolumesOptions { filters: filter(run) })))
        .await
        .context("listing the volumes of zooquake")?;
    let found = found.volumes.unwrap_or_default().into_iter();
    Ok(found.map(|volume| (volume.name, volume.labels)).collect())
}

/// What a run has on these machines. A network of the Swarm, which each of them lists, is one.
///
/// # Errors
/// If an engine does not answer.
pub async fn inventory(machines: &Machines, run: &str) -> Result<SweepCount> {
    let mut all = SweepCount::default();
    let mut ids = BTreeSet::new();
    for machine in &machines.all {
        let docker = &machine.docker;
        ids.extend(
            networks(docker, Some(run))
                .await
                .context("listing its networks")?
                .into_iter()
                .filter_map(|one| one.id),
        );
        all.add(SweepCount {
            containers: machine.explain(containers(docker, Some(run)).await)?.len(),
            volumes: machine.explain(volumes(docker, Some(run)).await)?.len(),
            ..SweepCount::default()
        });
    }
    all.networks = ids.len();
    Ok(all)
}

/// The command line that removes what a run, or any, has left on these machines.
pub fn clean_line(machines: &Machines, run: Option<&str>) -> String {
    match machines.are_several() {
        true => clean_command(run, &machines.addresses()),
        false => clean_command::<&str>(run, &[]),
    }
}

/// The command line that removes what a run, or any, has left on the engines of these addresses; without any, on the
/// usual one.
pub fn clean_command<A: Borrow<str>>(run: Option<&str>, hosts: &[A]) -> String {
    let run = run.map(|run| format!(" --run {run}")).unwrap_or_default();
    match hosts {
        [] => format!("zooquake clean{run}"),
        hosts => format!("zooquake clean{run} --hosts {}", hosts.join(",")),
    }
}

/// Removes the cluster of a run that goes on: everything but its lease.
///
/// # Errors
/// If something is left after several attempts.
pub async fn cluster(machines: &Machines, run: &str) -> Result<()> {
    let (mut swept, begun) = (SweepCount::default(), Instant::now());
    for _ in 0..ATTEMPTS {
        let now = pass(machines, run, true).await;
        // A list that was damaged on its way may have named what is not there, which counts as removed.
        let (quiet, rest) = (now.is_nothing(), !(now.left.is_empty() && now.kept.is_empty()));
        swept.and_then(now);
        if quiet || begun.elapsed() > LONG {
            break;
        }
        if rest {
            tokio::time::sleep(BETWEEN).await;
        }
    }
    for name in &swept.kept {
        log::info!("the engine keeps the network {name}, in which it lists nothing: a later run uses it again");
    }
    swept.complete()
}

/// Removes everything of runs whose programs have died or failed, and looks again until nothing turns up: the engine
/// may still be carrying out what they asked of it. What cannot be removed of one keeps none of the others.
pub async fn dead(machines: &Machines, runs: impl IntoIterator<Item = String>) -> BTreeMap<String, SweepCount> {
    let mut swept: BTreeMap<String, SweepCount> = runs.into_iter().map(|run| (run, SweepCount::default())).collect();
    let begun = Instant::now();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(BETWEEN).await;
        }
        let passes = join_all(swept.keys().map(|run| pass(machines, run, false))).await;
        let quiet = passes.iter().all(SweepCount::is_nothing);
        swept.values_mut().zip(passes).for_each(|(all, now)| all.and_then(now));
        if quiet || begun.elapsed() > LONG {
            break;
        }
    }
    swept
}

/// The same for one run.
///
/// # Errors
/// If something is left.
pub async fn dead_run(machines: &Machines, run: &str) -> Result<()> {
    let mut swept = dead(machines, [run.to_string()]).await.into_values();
    swept.try_for_each(SweepCount::complete)
}

/// Whether the engine's error means that the object does not exist any more.
pub fn gone(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { message, .. }
        if ["No such", "not found"].iter().any(|sign| message.contains(sign)))
}

/// Whether the engine's error means that it is removing the object already.
pub fn going(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 409, message }
        if message.contains("already in progress"))
}
