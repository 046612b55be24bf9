//! Results of a run for people: one HTML page that opens offline, and PNG pictures for a CI page or a chat.
//!
//! Everything is drawn from the record of the run and its results; the same input gives the same bytes. Nothing in a
//! record is trusted: names, values and messages may come from a broken or hostile client.

use anyhow::{Context, Result};
pub use publish::publish;
use std::path::{Path, PathBuf};
use zooquake_checkers::Results;
use zooquake_history::Record;

pub mod compare;
mod consensus;
pub mod decision;
pub mod history;
mod html;
pub mod index;
mod lists;
pub mod measurement;
mod messages;
mod model;
pub mod night;
pub mod nights;
mod pair;
mod palette;
mod png;
mod publish;
mod svg;
mod text;

use model::RunModel;

/// What a report shows beside the record and its results.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Command lines that reproduce the run or look closer at it.
    pub reproduce: Vec<String>,
    /// The name of the run's folder.
    pub run_name: String,
    /// The zooquake that checked the record, such as `0.1.0 (3f2a91c)`; empty where nothing states it.
    pub checked_by: String,
    /// The name of the page of the operations and their order, if one was written into the folder of the report.
    pub order_page: Option<&'static str>,
    /// Set while the run goes on: its page is served, and grows.
    pub progress: Option<RunProgress>,
}

/// A run that goes on, as its page shows it.
#[derive(Debug, Clone, Default)]
pub struct RunProgress {
    /// The version of the page; its script asks with it for news.
    pub version: String,
    /// What goes on, in words.
    pub activity: String,
}

/// The page of a run that goes on, with what is known of it so far.
pub fn live_page(record: &Record, results: &Results, extras: &Extras) -> String {
    html::page(&RunModel::new(record, results, extras))
}

/// The page of a run that has recorded nothing yet.
pub fn waiting_page(progress: &RunProgress) -> String {
    html::waiting(progress)
}

/// Writes one file of the report, drawn from the model of a run, to the path.
type Format = fn(&RunModel<'_>, &Path) -> Result<()>;

/// Every file of a report. A new format is a new module and a line here.
const FORMATS: [(&str, Format); 4] = [
    ("report.html", html::write),
    ("timeline.png", png::timeline::write),
    ("latency.png", png::charts::write_latency),
    ("rate.png", png::charts::write_rate),
];

/// Writes only the page of a report.
///
/// # Errors
/// If it cannot be written.
pub fn write_page(record: &Record, results: &Results, extras: &Extras, path: &Path) -> Result<()> {
    html::write(&RunModel::new(record, results, extras), path)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Writes the page of two runs side by side: what differs in their plans, verdicts, faults and times.
///
/// # Errors
/// If it cannot be written.
pub fn write_pair(sides: [pair::Side<'_>; 2], path: &Path) -> Result<()> {
    publish::publish(path, pair::page(sides)).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes the whole report into the folder `dir`, which must exist, and returns the files written.
pub fn write_all(record: &Record, results: &Results, extras: &Extras, dir: &Path) -> Result<Vec<PathBuf>> {
    let model = RunModel::new(record, results, extras);
    let mut written = Vec::with_capacity(FORMATS.len());
    for (name, write) in FORMATS {
        let path = dir.join(name);
        write(&model, &path).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    let root = model.roots.first().map(|root| root.anomaly);
    if let Some(picture) = consensus::picture(&model, root) {
        let path = dir.join("messages.png");
        png::messages::write(&model, &picture, &path).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

/// The diagram of the messages of a run on a network as an SVG that stands for itself, with what is to be said of it in
/// sentences; `None` of a record without messages.
pub fn message_diagram(record: &Record, results: &Results) -> Option<(String, Vec<String>)> {
    let extras = Extras::default();
    let model = RunModel::new(record, results, &extras);
    let picture = consensus::picture(&model, model.roots.first().map(|root| root.anomaly))?;
    let said: Vec<String> = picture.lines().collect();
    Some((messages::file(&picture.diagram, &said.join(" ")), said))
}

/// Publishes files of text, by their names, in a folder; their paths in the same order.
///
/// # Errors
/// If a file cannot be written; those before it are.
fn publish_all<const N: usize>(files: [(&str, String); N], dir: &Path) -> Result<Vec<PathBuf>> {
    let write = |(name, text): (&str, String)| {
        let path = dir.join(name);
        publish::publish(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}
