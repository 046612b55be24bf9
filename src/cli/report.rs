//! `zooquake report`: of a run's folder in it, of a packed run into a folder of its name here; of a folder of runs, their
//! index.

use super::args::ReportOptions;
use super::check::input::is_run;
use super::exit::{Code, Usage};
use crate::run::folder::Folder;
use crate::{judge, pack};
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use zooquake_reports::index::Listed;

const FILES: [&str; 4] = ["report.html", "timeline.png", "latency.png", "rate.png"];

/// Renders the report of a run again, from its results as they are, or the index of a folder of runs.
///
/// # Errors
/// If the folder lacks a file, or what is asked for cannot be written.
pub fn report(options: &ReportOptions) -> Result<Code> {
    let files = match options.run.is_dir() && !is_run(&options.run) {
        true => vec![index(&options.run)?],
        false => of_run(options)?,
    };
    if options.json {
        println!("{}", json!({ "files": files }));
    } else {
        files.iter().for_each(|file| println!("{}", file.display()));
    }
    Ok(Code::Valid)
}

/// Renders the report of one run; returns its files.
fn of_run(options: &ReportOptions) -> Result<Vec<PathBuf>> {
    let opened = pack::open(&options.run)?;
    let folder = &opened.folder;
    let record = folder.load()?;
    let results = folder
        .results()
        .context("a run that was never checked: `zooquake check` makes results.json")?;
    // What a pack was unpacked to goes away.
    let into = if opened.is_pack() {
        PathBuf::from(folder.name())
    } else {
        folder.path.clone()
    };
    fs::create_dir_all(&into).with_context(|| format!("making the folder {}", into.display()))?;
    judge::render(folder, &record, &results, &into)?;
    Ok(FILES.iter().map(|name| into.join(name)).collect())
}

/// Writes the index of the runs that lie directly in the folder; returns its file.
fn index(folder: &Path) -> Result<PathBuf> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry.with_context(|| format!("reading {}", folder.display()))?.path();
        // `latest` is a second name of a run that is listed anyway.
        if !path.is_symlink() && is_run(&path) {
            runs.push(listed(&Folder { path }));
        }
    }
    if runs.is_empty() {
        let text = format!(
            "{} is no run (it lacks plan.json and history.jsonl), and no runs lie in it",
            folder.display()
        );
        return Err(Usage(text).into());
    }
    let file = folder.join("index.html");
    let name = Folder { path: folder.into() }.name();
    zooquake_reports::index::write(&name, runs, &file)?;
    Ok(file)
}

/// A run as its folder tells it; what it lacks is said in the list, because the other runs are to be seen all the same.
fn listed(folder: &Folder) -> Listed {
    let mut trouble = Vec::new();
    let plan = folder.plan();
    let plan = plan.map_err(|error| trouble.push(format!("{error:#}"))).ok();
    let results = match folder.file("results.json").exists() {
        true => folder
            .results()
            .map_err(|error| trouble.push(format!("{error:#}")))
            .ok(),
        false => {
            trouble.push("no results: `zooquake check` makes them".into());
            None
        }
    };
    Listed {
        name: folder.name(),
        plan,
        results,
        report: folder.file("report.html").exists(),
        trouble,
    }
}
