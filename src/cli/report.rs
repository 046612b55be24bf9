//! `zooquake report`: of a run's folder in it, of a packed run into a folder of its name here; of a folder of runs,
//! their index; of two runs, what differs.

use super::args::ReportOptions;
use super::check::input::is_run;
use super::exit::{Code, Usage};
use super::paths;
use crate::judge;
use crate::pack::Opened;
use crate::run::folder::Folder;
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use zooquake_checkers::Results;
use zooquake_history::Record;
use zooquake_reports::index::RunEntry;

const FILES: [&str; 4] = ["report.html", "timeline.png", "latency.png", "rate.png"];

/// Renders the report of a run again, from its results as they are, two runs side by side, or the index of a folder of
/// runs.
///
/// # Errors
/// If the folder lacks a file, or what is asked for cannot be written.
pub fn report(options: &ReportOptions) -> Result<Code> {
    let files = match &options.other {
        Some(other) => vec![of_two(&options.run, other)?],
        None if options.run.is_dir() && !is_run(&options.run) => vec![index(&options.run)?],
        None => of_run(&options.run)?,
    };
    if options.json {
        println!("{}", json!({ "files": files }));
    } else {
        files.iter().for_each(|file| println!("{}", file.display()));
    }
    Ok(Code::Valid)
}

/// A run that was checked.
struct Checked {
    opened: Opened,
    record: Record,
    results: Results,
}

impl Checked {
    fn read(run: &Path) -> Result<Self> {
        let (opened, record) = paths::run(run)?;
        let unchecked = |error| {
            Usage(format!(
                "{error:#}: {run:?} was never checked, and `zooquake check` of its folder makes results.json"
            ))
        };
        let results = opened.folder.results().map_err(unchecked)?;
        Ok(Self {
            opened,
            record,
            results,
        })
    }

    /// The folder that what is rendered of it goes to, made if it is not there.
    fn output(&self) -> Result<PathBuf> {
        let folder = &self.opened.folder;
        // What a pack was unpacked to goes away.
        let into = if self.opened.is_pack() {
            PathBuf::from(folder.name())
        } else {
            folder.path.clone()
        };
        paths::output_folder(&into, "folder: copy the run to one, or pack it")?;
        fs::create_dir_all(&into).with_context(|| format!("making the folder {}", into.display()))?;
        Ok(into)
    }
}

/// Renders the report of one run; returns its files.
fn of_run(run: &Path) -> Result<Vec<PathBuf>> {
    let run = Checked::read(run)?;
    let into = run.output()?;
    judge::render(&run.opened.folder, &run.record, &run.results, (&run.opened.path, &into))?;
    let order = zooquake_checkers::operations_in_order(&run.record.plan).map(|_| judge::ORDER_PAGE);
    // Of a network, whose messages are drawn.
    let sent = run
        .record
        .messages
        .as_ref()
        .is_some_and(|messages| !messages.is_empty());
    let messages = sent.then_some("messages.png");
    let files = FILES.into_iter().chain(messages).chain(order);
    Ok(files.map(|name| into.join(name)).collect())
}

/// Renders two runs side by side; returns the file.
fn of_two(one: &Path, two: &Path) -> Result<PathBuf> {
    let runs = [Checked::read(one)?, Checked::read(two)?];
    let into = runs[1].output()?;
    let sides = runs
        .each_ref()
        .map(|run| (run.opened.folder.name(), &run.record, &run.results));
    judge::render_pair(sides, &into)
}

/// Writes the index of the runs that lie directly in the folder; returns its file.
fn index(folder: &Path) -> Result<PathBuf> {
    let mut runs = Vec::new();
    let unreadable = |error| Usage(format!("{folder:?} cannot be read ({error}): give a folder of runs"));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.with_context(|| format!("reading {}", folder.display()))?.path();
        // `latest` is a second name of a run that is listed anyway.
        if !path.is_symlink() && is_run(&path) {
            runs.push(listed(&Folder { path }));
        }
    }
    if runs.is_empty() {
        let text = format!(
            "{} is not a run (it lacks plan.json and history.jsonl), and contains no runs",
            folder.display()
        );
        return Err(Usage(text).into());
    }
    paths::output_folder(folder, "folder")?;
    let file = folder.join("index.html");
    let name = Folder { path: folder.into() }.name();
    zooquake_reports::index::write(&name, runs, &file)?;
    Ok(file)
}

/// A run as its folder records it; what it lacks is named in the list, because the other runs are to be seen all the
/// same.
fn listed(folder: &Folder) -> RunEntry {
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
    RunEntry {
        name: folder.name(),
        plan,
        results,
        report: folder.file("report.html").exists(),
        trouble,
    }
}
