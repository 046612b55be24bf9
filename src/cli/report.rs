//! `zooquake report`: of a run's folder in it, of a packed run into a folder of its name here; of a folder of runs,
//! their index; of two runs, what differs; of nights, what failed in which.

use super::args::ReportOptions;
use super::check::input::is_run;
use super::exit::{Code, Usage};
use super::paths;
use crate::judge;
use crate::nightly::folder::{self, LedgerContent};
use crate::nightly::{previous_nights, sightings};
use crate::pack::OpenedRun;
use crate::run::folder::Folder;
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use zooquake_checkers::Results;
use zooquake_history::Record;
use zooquake_reports::index::RunEntry;

/// What the page across nights is made of.
const A_NIGHT: &str = "give a folder of nights, or folders that `zooquake nightly` made";

const FILES: [&str; 4] = ["report.html", "timeline.png", "latency.png", "rate.png"];

/// Renders the report of a run again, from its results as they are, two runs side by side, the index of a folder of
/// runs, or what failed in nights.
///
/// # Errors
/// If the folder lacks a file, or what is asked for cannot be written.
pub fn report(options: &ReportOptions) -> Result<Code> {
    let files = match options.paths.as_slice() {
        paths if paths.iter().all(|path| is_night(path)) => vec![of_nights(paths)?],
        [one] if one.is_dir() && !is_run(one) => vec![of_folder(one)?],
        [one] => of_run(one)?,
        [one, other] => vec![of_two(one, other)?],
        [.., third] => {
            let text = format!("{third:?} is one too many: give one run, two runs, or folders of nights alone");
            return Err(Usage(text).into());
        }
        [] => return Err(Usage(format!("nothing is given: {A_NIGHT}")).into()),
    };
    if options.json {
        println!("{}", json!({ "files": files }));
    } else {
        files.iter().for_each(|file| println!("{}", file.display()));
    }
    Ok(Code::Valid)
}

/// Whether a folder is that of a night.
fn is_night(path: &Path) -> bool {
    path.join(folder::NAME).is_file()
}

/// Renders a folder of nights, or of runs; returns the file.
fn of_folder(folder: &Path) -> Result<PathBuf> {
    let nights = previous_nights::all(folder)?;
    match nights.is_empty() {
        true => index(folder),
        false => write_nights(folder::name_of(folder), nights, folder),
    }
}

/// Renders nights that are given one by one; returns the file, which lies where the command is given.
fn of_nights(paths: &[PathBuf]) -> Result<PathBuf> {
    let mut nights = Vec::new();
    for path in paths {
        let recorded = previous_nights::read(path).map_err(|error| Usage(format!("{error:#}: {A_NIGHT}")))?;
        let recorded = recorded.ok_or_else(|| Usage(format!("the record of {path:?} is empty: {A_NIGHT}")))?;
        nights.push((path.clone(), recorded));
    }
    write_nights(String::new(), nights, Path::new("."))
}

fn write_nights(name: String, nights: Vec<(PathBuf, LedgerContent)>, into: &Path) -> Result<PathBuf> {
    paths::output_folder(into, "folder")?;
    let file = into.join("nights.html");
    let nights = previous_nights::without_merged(previous_nights::sorted(nights));
    zooquake_reports::nights::write(&sightings::nights(name, &nights, into), &file)?;
    Ok(file)
}

/// A run that was checked.
struct CheckedRun {
    opened: OpenedRun,
    record: Record,
    results: Results,
}

impl CheckedRun {
    fn read(run: &Path) -> Result<Self> {
        let (opened, record) = paths::run(run)?;
        if let Some(why) = record.plan_damage() {
            eprintln!("zooquake: warning: the plan of {run:?} was not read: {why}");
        }
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
    let run = CheckedRun::read(run)?;
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
    let runs = [CheckedRun::read(one)?, CheckedRun::read(two)?];
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
        return Err(Usage(format!(
            "{} is not a run (it lacks plan.json and history.jsonl), and contains no runs and no nights",
            folder.display()
        ))
        .into());
    }
    paths::output_folder(folder, "folder")?;
    let file = folder.join("index.html");
    zooquake_reports::index::write(&Folder { path: folder.into() }.name(), runs, &file)?;
    Ok(file)
}

/// A run as its folder records it; what it lacks is named in the list, because the other runs are to be seen all the
/// same.
fn listed(folder: &Folder) -> RunEntry {
    let mut trouble = Vec::new();
    let plan = folder.plan().map_err(|error| trouble.push(format!("{error:#}"))).ok();
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
