//! The page of a run that goes on, with what is recorded so far.

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use zooquake_backend::files;
use zooquake_history::Record;
use zooquake_reports::{Extras, RunProgress, live_page, waiting_page};

/// How far a run has come.
pub enum LiveStage {
    /// Nothing is recorded yet.
    Waiting,
    /// The run of the folder goes on, and its history has so many bytes.
    Running(Folder, u64),
    /// The run of the folder is over, and its report is written.
    Finished(Folder),
}

impl LiveStage {
    /// The version of its page; another page has another one.
    pub fn version(&self) -> String {
        match self {
            Self::Waiting => "nothing".to_owned(),
            Self::Running(folder, bytes) => format!("{} {bytes}", folder.name()),
            Self::Finished(folder) => format!("{} over", folder.name()),
        }
    }

    /// Whether no page follows its page.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_))
    }

    /// The page.
    ///
    /// # Errors
    /// If what the run has recorded, or its report, cannot be read.
    pub fn page(&self) -> Result<String> {
        let version = self.version();
        match self {
            Self::Waiting => Ok(waiting_page(&RunProgress {
                version,
                activity: "the ensemble and its clients come up".into(),
            })),
            Self::Running(folder, _) => so_far(folder, version),
            Self::Finished(folder) => {
                let report = folder.file("report.html");
                files::read_to_string(&report, PAGE).with_context(|| format!("reading {}", report.display()))
            }
        }
    }
}

/// Most bytes of a report.
const PAGE: u64 = 1 << 30;

/// The page of a run that is not over, from what it has recorded.
fn so_far(folder: &Folder, version: String) -> Result<String> {
    let mut record = folder.load()?;
    let activity = activity(&record);
    let progress = RunProgress { version, activity };
    if !record.history.events.iter().any(|event| event.entered().is_some()) {
        return Ok(waiting_page(&progress));
    }
    let mut results = zooquake_checkers::check(&record);
    // What a run lacks that is not over, and a line of its history that is being written, mean nothing.
    record.damage.clear();
    results.reasons.clear();
    results.not_judged.clear();
    let now = record.history.events.last().map(|event| event.time);
    for window in &mut results.windows {
        window.until = window.until.or(window.from.and(now));
        window.why.insert_str(0, "so far: ");
    }
    let extras = Extras {
        run_name: folder.name(),
        progress: Some(progress),
        ..Extras::default()
    };
    Ok(live_page(&record, &results, &extras))
}

/// What goes on, by the last phase that has begun.
fn activity(record: &Record) -> String {
    let events = &record.history.events;
    let begun = events
        .iter()
        .rev()
        .find_map(|event| Some((event.entered()?, event.time)));
    let last = events.last().map_or(0, |event| event.time);
    match begun {
        None => "the clients come up".into(),
        Some(("ops", from)) => format!(
            "operations and faults go on, {} of {} s",
            (last - from) / 1_000_000_000,
            record.plan.time_ms.div_ceil(1000)
        ),
        Some(("heal", _)) => "the faults are being healed".into(),
        Some(("recover" | "not-recovered", _)) => "the ensemble and its clients recover".into(),
        Some(("recovered", _)) => "the last operations, and the reading of what was left behind".into(),
        Some(_) => "what was recorded is being checked".into(),
    }
}
