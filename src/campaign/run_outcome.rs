//! The outcome of one run of many, by which the others go on.

use super::orphans;
use crate::run::folder::Folder;
use crate::run::{RunOrder, execute};
use anyhow::{Context, Result};
use std::path::Path;
use zooquake_checkers::{Results, Verdict};

/// The outcome of a run that was started.
#[derive(Debug)]
pub enum RunOutcome {
    /// It was judged.
    Judged {
        /// The name of its folder.
        run: String,
        results: Box<Results>,
    },
    /// The harness failed.
    Failed {
        /// The name of its folder, if it had one.
        run: Option<String>,
        /// The error in words.
        error: String,
    },
    /// The user stopped it before it proved anything.
    Interrupted,
}

/// Executes a plan as one of many. The failure of one is an outcome, and no reason to stop; what an interrupted run
/// leaves that has proved nothing is removed.
///
/// # Errors
/// If the folder of runs cannot be read or written.
pub async fn attempt(order: RunOrder) -> Result<RunOutcome> {
    let (out, interrupt) = (order.out.clone(), order.interrupt.clone());
    std::fs::create_dir_all(&out).with_context(|| format!("making the folder {}", out.display()))?;
    let stopped = || *interrupt.borrow();
    let before = folders(&out)?;
    match execute(order).await {
        // What an interrupted run has proved is proved.
        Ok(run) if stopped() && run.results.verdict == Verdict::Unknown => {
            orphans::remove(&run.folder)?;
            Ok(RunOutcome::Interrupted)
        }
        Ok(run) => Ok(RunOutcome::Judged {
            run: run.folder.name(),
            results: Box::new(run.results),
        }),
        Err(_) if stopped() => {
            made_since(&out, &before)?.map_or(Ok(()), |folder| orphans::remove(&folder))?;
            Ok(RunOutcome::Interrupted)
        }
        Err(error) => Ok(RunOutcome::Failed {
            run: made_since(&out, &before)?.map(|folder| folder.name()),
            error: format!("{error:#}"),
        }),
    }
}

/// The newest folder of a run, made since the names were listed.
fn made_since(out: &Path, before: &[String]) -> Result<Option<Folder>> {
    let mut made = folders(out)?;
    made.retain(|name| !before.contains(name));
    Ok(made.pop().map(|name| Folder { path: out.join(name) }))
}

/// Names of the folders in a folder, sorted; links, such as `latest`, are none.
///
/// # Errors
/// If it cannot be read.
pub fn folders(path: &Path) -> Result<Vec<String>> {
    let doing = || format!("reading {}", path.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).with_context(doing)? {
        let entry = entry.with_context(doing)?;
        if entry.file_type().with_context(doing)?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
