//! From a run's folder to its verdict, its results and its report.

use crate::planning::reproduction;
use crate::run::folder::Folder;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use zooquake_checkers::Results;
use zooquake_history::Record;
use zooquake_reports::Extras;

/// Checks the run in the folder, writes `results.json` anew, and renders its report.
///
/// # Errors
/// If the folder cannot be read or written.
pub fn judge(folder: &Folder) -> Result<Results> {
    let record = folder.load()?;
    let results = zooquake_checkers::check(&record);
    keep(folder, &record, &results)?;
    Ok(results)
}

/// Writes the results of a check and their report into the run's folder.
///
/// # Errors
/// If a file cannot be written.
pub fn keep(folder: &Folder, record: &Record, results: &Results) -> Result<()> {
    write(folder, results)?;
    render(folder, record, results, (&folder.path, &folder.path))
}

/// Writes the results of a check into the run's folder.
///
/// # Errors
/// If the file cannot be written.
pub fn write(folder: &Folder, results: &Results) -> Result<()> {
    folder.write_json("results.json", results)
}

/// Renders the report of a checked run into a folder; `run` is the folder or pack that the page's command lines name.
///
/// # Errors
/// If a file cannot be written.
pub fn render(folder: &Folder, record: &Record, results: &Results, (run, into): (&Path, &Path)) -> Result<()> {
    // The page is read from other folders than the one in which it was made.
    let run = run.canonicalize().unwrap_or_else(|_| run.to_path_buf());
    let extras = Extras {
        reproduce: reproduction::lines(&run, &record.plan),
        run_name: folder.name(),
        checked_by: crate::version::FULL.into(),
        progress: None,
    };
    zooquake_reports::write_all(record, results, &extras, into)
        .with_context(|| format!("rendering the report of {}", folder.path.display()))?;
    Ok(())
}

/// Renders two runs side by side, each given by its name, into a folder; returns the file.
///
/// # Errors
/// If it cannot be written.
pub fn render_pair(runs: [(String, &Record, &Results); 2], into: &Path) -> Result<PathBuf> {
    let extras = runs.each_ref().map(|(name, ..)| Extras {
        run_name: name.clone(),
        ..Extras::default()
    });
    let [one, two] = &runs;
    let file = into.join("difference.html");
    zooquake_reports::write_pair([(one.1, one.2, &extras[0]), (two.1, two.2, &extras[1])], &file)?;
    Ok(file)
}
