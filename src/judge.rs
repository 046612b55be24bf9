//! From a run's folder to its verdict, its results and its report.

use crate::planning::reproduction;
use crate::run::folder::Folder;
use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zooquake_checkers::Results;
use zooquake_checkers::search::picture::{HistoryPicture, PictureSubject, picture};
use zooquake_checkers::search::{Budget, ModelKind, Notation};
use zooquake_history::{History, Record};
use zooquake_reports::Extras;
use zooquake_reports::history::HistoryExtras;

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
    let only = zooquake_checkers::operations_in_order(&record.plan);
    if let Some(only) = only {
        let subject = PictureSubject {
            kind: ModelKind::REGISTER,
            terms: Notation::Maps.into(),
            only: Some(only),
            anomalies: &results.anomalies,
        };
        let extras = HistoryExtras {
            name: folder.name(),
            checked_by: crate::version::FULL.into(),
            budget: String::new(),
            remark: remark(only),
        };
        let picture = ordered(&record.history, subject, ORDER_TIME);
        zooquake_reports::history::write(&picture, results, &extras, &into.join(ORDER_PAGE))?;
    }
    let extras = Extras {
        reproduce: reproduction::lines(&run, &record.plan),
        run_name: folder.name(),
        checked_by: crate::version::FULL.into(),
        order_page: only.map(|_| ORDER_PAGE),
        progress: None,
    };
    zooquake_reports::write_all(record, results, &extras, into)
        .with_context(|| format!("rendering the report of {}", folder.path.display()))?;
    Ok(())
}

/// The page of the operations of a register and their order, beside the report.
pub const ORDER_PAGE: &str = "order.html";

/// What an order leaves out of a register, as a sentence.
pub fn remark(only: &[&str]) -> String {
    match only.contains(&"read") {
        true => String::new(),
        false => {
            "Reads are left out of the order: they may be stale, and nothing promises that they have a place in it."
                .to_owned()
        }
    }
}

/// The processor time that this thread takes from some moment on: a search that is bounded by it gets as far however
/// busy the machine is.
#[derive(Debug, Clone, Copy)]
pub struct ThreadClock(Duration);

impl ThreadClock {
    /// From now on.
    pub fn new() -> Self {
        Self(Self::now())
    }

    /// What the thread took since then.
    pub fn elapsed(self) -> Duration {
        Self::now().saturating_sub(self.0)
    }

    fn now() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// How much processor time the search for an order that a page shows may take.
pub const ORDER_TIME: Duration = Duration::from_secs(10);

/// A history with the longest order of its operations, as a page shows it. The steps are bounded, so that the page is
/// the same each time unless the time is over first.
pub fn ordered(history: &History, subject: PictureSubject<'_>, time: Duration) -> HistoryPicture {
    let clock = ThreadClock::new();
    let mut budget = Budget {
        steps: 4_000_000,
        bytes: 256 << 20,
        expired: &mut || clock.elapsed() > time,
    };
    picture(history, subject, &mut budget)
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
