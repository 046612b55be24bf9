//! The index of a folder of runs: one static page that lists them, newest first, with links to their reports.

mod page;

use anyhow::{Context, Result};
use std::path::Path;
use zooquake_checkers::{Anomaly, Results};
use zooquake_history::Plan;

/// A run of the folder. Its files that are missing or cannot be read are named in [`RunEntry::trouble`].
#[derive(Debug, Clone, Default)]
pub struct RunEntry {
    /// The name of its folder, which begins with the time at which it was made.
    pub name: String,
    /// Its plan; `None` if that cannot be read.
    pub plan: Option<Plan>,
    /// Its results; none if it was never checked.
    pub results: Option<Results>,
    /// Whether its folder has a report.
    pub report: bool,
    /// What of it is missing or cannot be read, in words.
    pub trouble: Vec<String>,
}

impl RunEntry {
    /// When it was begun, as `2026-11-20 21:24:45` (UTC), if its name begins with it.
    pub fn begun(&self) -> Option<String> {
        let stamp = self.name.get(..15)?.as_bytes();
        let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        if stamp[8] != b'T' || !digits(&stamp[..8]) || !digits(&stamp[9..]) {
            return None;
        }
        let part = |from: usize, until: usize| &self.name[from..until];
        Some(format!(
            "{}-{}-{} {}:{}:{}",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(9, 11),
            part(11, 13),
            part(13, 15)
        ))
    }

    /// Its verdict in one word; `not checked` if there is none.
    pub fn verdict(&self) -> String {
        let told = self.results.as_ref().map(|results| results.verdict.to_string());
        told.unwrap_or_else(|| "not checked".into())
    }

    /// Anomalies that are news: neither advisory nor accepted.
    pub fn news(&self) -> impl Iterator<Item = &Anomaly> {
        let all = self.results.iter().flat_map(|results| &results.anomalies);
        all.filter(|anomaly| !anomaly.advisory && !anomaly.accepted)
    }
}

/// Writes the page to the path; runs are listed newest first, however they are given. It links to `NAME/report.html`.
///
/// # Errors
/// If it cannot be written.
pub fn write(folder: &str, mut runs: Vec<RunEntry>, path: &Path) -> Result<()> {
    runs.sort_by(|a, b| b.begun().cmp(&a.begun()).then_with(|| b.name.cmp(&a.name)));
    crate::publish(path, page::page(folder, &runs)).with_context(|| format!("cannot write {}", path.display()))
}
