//! Orphans of a program that was killed: half a run, and the containers of it.

use crate::run::folder::{CONTAINERS, Folder};
use anyhow::{Context, Result, bail};
use futures_util::future::join_all;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;
use zooquake_backend::{Backend, files};

/// The content of `containers.json`.
#[derive(Debug, Deserialize)]
struct Containers {
    run: String,
}

/// Folders of runs in a folder that are none of the claimed ones: what runs left that did not come to their end.
///
/// # Errors
/// If the folder of runs cannot be read.
pub fn unclaimed(runs: &Path, claimed: &BTreeSet<&str>) -> Result<Vec<String>> {
    let mut left = super::run_outcome::folders(runs)?;
    left.retain(|name| !claimed.contains(name.as_str()));
    Ok(left)
}

/// Removes these runs in a folder, with whatever they left running.
///
/// # Errors
/// If one of them still goes on: then nothing is removed. If the engine does not answer, or something cannot be
/// removed.
pub async fn clear(backend: &dyn Backend, runs: &Path, left: &[String]) -> Result<()> {
    let folders: Vec<Folder> = left.iter().map(|name| Folder { path: runs.join(name) }).collect();
    let ids: Vec<Option<String>> = folders.iter().map(run_of).collect::<Result<_>>()?;
    let ids: Vec<String> = ids.into_iter().flatten().collect();
    if !ids.is_empty() {
        let alive = backend.alive().await?;
        if let Some(run) = ids.iter().find(|run| alive.contains(*run)) {
            bail!("the run {run}, which is in {}, is still going on", runs.display());
        }
    }
    // What cannot be removed of one keeps none of the others.
    let removed = join_all(ids.iter().map(|run| backend.remove_dead(run))).await;
    for (run, removed) in ids.iter().zip(removed) {
        removed.with_context(|| format!("removing what the run {run} left"))?;
    }
    folders.iter().try_for_each(remove)
}

/// Removes the folder of a run that is not to count.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(folder: &Folder) -> Result<()> {
    std::fs::remove_dir_all(&folder.path).with_context(|| format!("removing {}", folder.path.display()))
}

/// The run whose containers these are; `None` if there is no `containers.json`, since the run never got that far.
fn run_of(folder: &Folder) -> Result<Option<String>> {
    let path = folder.file(CONTAINERS);
    match files::read(&path, files::SETTINGS) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        Ok(bytes) => {
            let containers: Containers =
                serde_json::from_slice(&bytes).with_context(|| format!("reading {}", path.display()))?;
            Ok(Some(containers.run))
        }
    }
}
