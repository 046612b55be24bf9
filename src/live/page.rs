//! The page of a run as far as it has come.

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use zooquake_backend::files;
use zooquake_checkers::Record;
use zooquake_reports::{Extras, Ongoing, live_page, waiting_page};

/// What there is to be shown.
pub enum Shown {
    /// Nothing is recorded yet.
    Nothing,
    /// The run of the folder goes on, and its history has so many bytes.
    SoFar(Folder, u64),
    /// The run of the folder is over, and its report is written.
    Over(Folder),
}

impl Shown {
    /// What names the page of it; another page has another name.
    pub fn name(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::SoFar(folder, bytes) => format!("{} {bytes}", folder.name()),
            Self::Over(folder) => format!("{} over", folder.name()),
        }
    }

    /// The page.
    ///
    /// # Errors
    /// If what the run has recorded, or its report, cannot be read.
    pub fn page(&self) -> Result<String> {
        let ongoing = |does: String| Ongoing { of: self.name(), does };
        match self {
            Self::Nothing => Ok(waiting_page(&ongoing("the ensemble and its clients come up".into()))),
            Self::SoFar(folder, _) => so_far(folder, ongoing),
            Self::Over(folder) => {
                let report = folder.file("report.html");
                files::read_to_string(&report, PAGE).with_context(|| format!("reading {}", report.display()))
            }
        }
    }
}

/// Most bytes of a report.
const PAGE: u64 = 1 << 30;

fn so_far(folder: &Folder, ongoing: impl Fn(String) -> Ongoing) -> Result<String> {
    let mut record = folder.load()?;
    let does = does(&record);
    if !record.history.events.iter().any(|event| event.entered().is_some()) {
        return Ok(waiting_page(&ongoing(does)));
    }
    let mut results = zooquake_checkers::check(&record);
    // What a run lacks that is not over, and that a line of its history is being written, says nothing.
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
        ongoing: Some(ongoing(does)),
        ..Extras::default()
    };
    Ok(live_page(&record, &results, &extras))
}

/// What goes on, by the last phase that has begun.
fn does(record: &Record) -> String {
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
