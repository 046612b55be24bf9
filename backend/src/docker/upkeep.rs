//! What is done on an engine beside runs: images, and what dead runs have left.

use super::sweep::{self, OwnRuns, SweepCount};
use super::{DockerBackend, lease, watcher};
use crate::BackendFuture;
use crate::images::{self, ImageRequest, InventoryEntry, Removal};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

impl DockerBackend {
    /// Ids of all runs that have a container, a network or a volume here.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn runs(&self) -> BackendFuture<'_, BTreeSet<String>> {
        sweep::runs(&self.machines).boxed()
    }

    /// Ids of the runs of which a lease is held: of all runs, or of `run` alone. Waits up to a minute for a heartbeat
    /// or the end of a lease, and logs that it does.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn leased<'a>(&'a self, run: Option<&'a str>) -> BackendFuture<'a, BTreeSet<String>> {
        async move {
            let each = self.machines.all.iter();
            let each = each.map(|machine| async move { machine.explain(lease::alive(&machine.docker, run).await) });
            Ok(try_join_all(each).await?.into_iter().flatten().collect())
        }
        .boxed()
    }

    /// What a run has here.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn inventory<'a>(&'a self, run: &'a str) -> BackendFuture<'a, SweepCount> {
        sweep::inventory(&self.machines, run).boxed()
    }

    /// Removes everything of runs whose programs have died or failed. Returns, by run, what was removed and what is
    /// left.
    pub fn sweep(&self, dead: Vec<String>) -> BoxFuture<'_, BTreeMap<String, SweepCount>> {
        sweep::dead(&self.machines, dead).boxed()
    }

    /// Ids of the runs of the same owner that are dead by their processes on this host, or else by the rule of leases,
    /// without those that were to be left standing and those over several hosts.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn own_dead(&self) -> BackendFuture<'_, BTreeSet<String>> {
        async move {
            let OwnRuns { mut ended, unknown } = sweep::own_runs(&self.machines).await?;
            if !unknown.is_empty() {
                let alive = self.leased(None).await?;
                ended.extend(unknown.into_iter().filter(|run| !alive.contains(run)));
            }
            Ok(ended)
        }
        .boxed()
    }

    /// The images that a run would use, and those that zooquake has built.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn list_images<'a>(&'a self, request: &'a ImageRequest) -> BackendFuture<'a, Vec<InventoryEntry>> {
        images::status(self.machines.first(), request).boxed()
    }

    /// Removes every image that zooquake has built, and what is left of builds that failed. Images in use stay.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn remove_images(&self) -> BackendFuture<'_, Removal> {
        images::remove_all(self.machines.first()).boxed()
    }

    /// The image of the tests' browser, built if it is not there.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn chromium(&self) -> BackendFuture<'_, InventoryEntry> {
        images::chromium(self.machines.first()).boxed()
    }

    /// The base of recipe clients, `zooquake-client`, built if it is not there, for builds that are not zooquake's.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn client_base(&self) -> BackendFuture<'_, InventoryEntry> {
        images::client_base(self.machines.first()).boxed()
    }

    /// The image that a request names and that is not there: it would be pulled. `None` if it is, or none is named.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn to_pull<'a>(&'a self, request: &'a ImageRequest) -> BackendFuture<'a, Option<String>> {
        images::to_pull(self.machines.first(), request).boxed()
    }

    /// The engine's id of an image; `None` if that is not there.
    ///
    /// # Errors
    /// If the engine does not answer.
    pub fn image_id<'a>(&'a self, image: &'a str) -> BackendFuture<'a, Option<String>> {
        images::id(self.machines.first(), image).boxed()
    }
}

/// The program in the container of a lease: writes what it reads, and returns when its stdin ends, or after a minute
/// without anything to read.
///
/// # Errors
/// If its stdout cannot be written.
pub fn hold_lease() -> BackendFuture<'static, ()> {
    lease::hold().boxed()
}

/// The program beside a run: waits for the end of its stdin, then heals what is left of the run. While the history, if
/// there is one, has a strike that was begun and not seen, there may be something to heal yet. `hosts` are the
/// addresses of the engines of a run over several.
///
/// # Errors
/// If the engine cannot be asked, or something stays paused or cut off.
pub fn watch<'a>(run: &'a str, history: Option<&'a Path>, hosts: &'a [String]) -> BackendFuture<'a, ()> {
    watcher::watch(run, history, hosts).boxed()
}
