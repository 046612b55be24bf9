//! The outcome of one run of many, by which the others go on.

use super::orphans;
use crate::run::folder::Folder;
use crate::run::{RunOrder, execute_in};
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

/// Executes a case as one of many. The failure of one is an outcome, and no reason to stop; what an interrupted run
/// leaves that has proved nothing is removed.
///
/// # Errors
/// If the folder of runs cannot be read or written.
pub async fn attempt(order: RunOrder) -> Result<RunOutcome> {
    let (out, interrupt) = (order.out.clone(), order.interrupt.clone());
    std::fs::create_dir_all(&out).with_context(|| format!("making the folder {}", out.display()))?;
    let stopped = || *interrupt.borrow();
    let failed = |run, error| RunOutcome::Failed {
        run,
        error: format!("{error:#}"),
    };
    let folder = match Folder::create(&out, order.case.plan()) {
        Ok(folder) => folder,
        Err(error) => return Ok(failed(None, error)),
    };
    match execute_in(folder.clone(), order).await {
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
            orphans::remove(&folder)?;
            Ok(RunOutcome::Interrupted)
        }
        Err(error) => Ok(failed(Some(folder.name()), error)),
    }
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
