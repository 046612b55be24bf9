//! `zooquake report`

use super::args::ReportOptions;
use super::exit::Code;
use crate::judge;
use crate::run::folder::Folder;
use anyhow::{Context, Result};
use serde_json::json;

const FILES: [&str; 4] = ["report.html", "timeline.png", "latency.png", "rate.png"];

/// Renders the report of a run again, from its results as they are.
///
/// # Errors
/// If the folder lacks a file, or the report cannot be written.
pub fn report(options: &ReportOptions) -> Result<Code> {
    let folder = Folder {
        path: options.run.clone(),
    };
    let record = folder.load()?;
    let results = folder
        .results()
        .context("a run that was never checked: `zooquake check` makes results.json")?;
    judge::render(&folder, &record, &results)?;
    let files: Vec<_> = FILES.iter().map(|name| folder.file(name)).collect();
    if options.json {
        println!("{}", json!({ "files": files }));
    } else {
        files.iter().for_each(|file| println!("{}", file.display()));
    }
    Ok(Code::Valid)
}
