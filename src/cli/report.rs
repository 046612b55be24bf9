//! `zooquake report`: of a run's folder in it, of a packed run into a folder of its name here.

use super::args::ReportOptions;
use super::exit::Code;
use crate::{judge, pack};
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

const FILES: [&str; 4] = ["report.html", "timeline.png", "latency.png", "rate.png"];

/// Renders the report of a run again, from its results as they are.
///
/// # Errors
/// If the folder lacks a file, or the report cannot be written.
pub fn report(options: &ReportOptions) -> Result<Code> {
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
    let files: Vec<_> = FILES.iter().map(|name| into.join(name)).collect();
    if options.json {
        println!("{}", json!({ "files": files }));
    } else {
        files.iter().for_each(|file| println!("{}", file.display()));
    }
    Ok(Code::Valid)
}
