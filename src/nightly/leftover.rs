//! What a night that was killed left behind: half a run, and the containers of it.

use super::folder::NightFolder;
use crate::alive;
use crate::cluster::sweep;
use crate::run::folder::{CONTAINERS, Folder};
use anyhow::{Context, Result};
use serde::Deserialize;
use testcontainers::bollard::Docker;

/// What `containers.json` says.
#[derive(Debug, Deserialize)]
struct Containers {
    run: String,
}

/// Removes the runs that the night's record does not name, with whatever they left running; returns their names.
///
/// # Errors
/// If the engine does not answer, or a folder cannot be removed.
pub async fn clear(docker: &Docker, night: &NightFolder) -> Result<Vec<String>> {
    let left = night.unclaimed()?;
    for name in &left {
        let folder = Folder {
            path: night.runs().join(name),
        };
        if let Some(run) = run_of(&folder)?
            && !alive::is_alive(&run)
        {
            sweep::sweep(docker, Some(&run))
                .await
                .with_context(|| format!("removing what the run {run} left"))?;
            alive::forget(&run);
        }
        remove(&folder)?;
    }
    Ok(left)
}

/// Removes the folder of a run that is not to count.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(folder: &Folder) -> Result<()> {
    std::fs::remove_dir_all(&folder.path).with_context(|| format!("removing {}", folder.path.display()))
}

/// The run whose containers these are; `None` if the folder does not say, because it was never got that far.
fn run_of(folder: &Folder) -> Result<Option<String>> {
    let path = folder.file(CONTAINERS);
    match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        Ok(bytes) => {
            let containers: Containers =
                serde_json::from_slice(&bytes).with_context(|| format!("reading {}", path.display()))?;
            Ok(Some(containers.run))
        }
    }
}
