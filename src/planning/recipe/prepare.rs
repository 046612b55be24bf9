//! Making a recipe's files on the host, such as a program that is compiled.

use super::manifest;
use super::workplace::{self, workplace};
use crate::planning::names;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Runs the command by which the recipe in a folder makes its files, if it has one: in the folder, or, where that
/// cannot be written, in a copy of it; the variable `ZOOQUAKE_RECIPE` has the folder's own path. What the command
/// prints goes to stderr. The name of a built-in variant is no folder's, also where there is a folder at that path.
///
/// # Errors
/// If the command cannot be started, or ends with another code than 0. A folder without a
/// manifest is no error here, but where it is read.
pub async fn prepare(folder: &str) -> Result<()> {
    if names::built_in(folder).is_some() {
        return Ok(());
    }
    let path = Path::new(folder);
    let Ok(text) = super::manifest_of(path) else {
        return Ok(());
    };
    let Some((program, arguments)) = manifest::prepare(&text) else {
        return Ok(());
    };
    let line = std::iter::once(&program)
        .chain(&arguments)
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    progress!("preparing {folder}: {line}");
    let own = path.canonicalize().with_context(|| format!("reading {folder}"))?;
    let place = workplace(path, true);
    if place != path {
        progress!("{folder} cannot be written: its files are made in {}", place.display());
        workplace::copy(path, &place)?;
    }
    let running = async {
        let mut child = Command::new(&program)
            .args(&arguments)
            .current_dir(&place)
            .env("ZOOQUAKE_RECIPE", &own)
            .stdin(Stdio::null())
            // Results go to stdout, and are zooquake's own.
            .stdout(std::io::stderr())
            .kill_on_drop(true)
            .spawn()?;
        child.wait().await
    };
    let status = running.await.with_context(|| format!("running `{line}` in {folder}"))?;
    ensure!(status.success(), "`{line}` in {folder} ended with {status}");
    Ok(())
}
