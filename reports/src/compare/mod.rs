//! The report of a comparison: subjects that ran the same plans under the same faults, on one page, in one picture and
//! in a table for a README.
//!
//! [`Comparison`] is what was run. `pool` puts the runs of a subject together, `statistics` has the estimates and their
//! intervals, `words` puts them into sentences; `figure` is what is drawn, for the page's and for the picture's pen
//! alike.

use crate::night::AnomalyCount;
use crate::png::figures::{self, FigureSheet};
use crate::{lists, text};
use anyhow::{Context, Result};
use figure::FigureLabels;
use serde::Serialize;
use std::path::{Path, PathBuf};
use zooquake_checkers::NotJudged;
use zooquake_checkers::sample::{FamilyMeasures, Sample};

pub(crate) mod figure;
mod page;
pub(crate) mod pool;
mod statistics;
#[cfg(test)]
mod tests;
mod words;

pub use words::summary;

/// A comparison, finished or under way.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Family of the recipes, such as `lock`.
    pub family: String,
    /// When it began.
    pub begun: String,
    /// What is compared.
    pub subjects: Vec<ComparedSubject>,
    /// Kinds of fault joined by `+`, or `none`; each was run by itself.
    pub faults: Vec<String>,
    /// Runs that it has when it is through.
    pub planned: usize,
    /// Its runs, in order.
    pub runs: Vec<SubjectRun>,
    /// Its settings, each a name and a value.
    pub settings: Vec<(String, String)>,
    /// Whether its ensembles were simulated: their clock is a model's, and how long something took there means nothing.
    pub virtual_time: bool,
    /// What is counted and waited for.
    #[serde(skip)]
    pub kind: &'static FamilyMeasures,
}

/// One of the things compared.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedSubject {
    /// Its name among the others: `fenced`, or `fenced, trixie`.
    pub label: String,
    /// `lock/fenced`, ….
    pub variant: String,
    /// What it promises.
    pub promise: String,
}

/// One run of a subject under one kind of faults.
#[derive(Debug, Clone, Serialize)]
pub struct SubjectRun {
    /// Index of the subject in [`Comparison::subjects`].
    pub subject: usize,
    /// Index of the faults in [`Comparison::faults`].
    pub faults: usize,
    /// What its plan was drawn from.
    pub seed: u64,
    /// `valid`, `invalid`, `unknown`; `None` if the harness failed.
    pub verdict: Option<String>,
    /// How the harness failed.
    pub error: Option<String>,
    /// What was found.
    pub anomalies: Vec<AnomalyCount>,
    /// What was not judged because its clients do not report it.
    pub not_judged: Vec<NotJudged>,
    /// Its measures.
    pub sample: Option<Sample>,
    /// Its folder, relative to the comparison's.
    pub run: Option<String>,
}

impl Comparison {
    /// The runs of a subject under some faults, or under all.
    fn runs_of(&self, subject: usize, faults: Option<usize>) -> impl Iterator<Item = &SubjectRun> {
        let here = move |run: &&SubjectRun| run.subject == subject && faults.is_none_or(|faults| run.faults == faults);
        self.runs.iter().filter(here)
    }

    /// Its settings in one line.
    fn settings_in_words(&self, separator: &str) -> String {
        lists::joined(
            self.settings.iter().map(|(name, value)| format!("{name} {value}")),
            separator,
        )
    }

    pub(crate) fn title(&self) -> String {
        format!("{} compared: {} runs", self.family, self.runs.len())
    }
}

/// Writes the report into the folder `dir`, which must exist, and returns the files written.
///
/// # Errors
/// If a file cannot be written.
pub fn write_all(comparison: &Comparison, dir: &Path) -> Result<Vec<PathBuf>> {
    let measured = pool::MeasuredComparison::new(comparison);
    let texts = [page::page(&measured), words::table(&measured)];
    write_files(texts, |path| draw_picture(&measured, path), dir)
}

/// Writes the files of a comparison: its page, its table, and the picture that is drawn at a path.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write_files(
    [page, table]: [String; 2],
    draw: impl FnOnce(&Path) -> Result<()>,
    dir: &Path,
) -> Result<Vec<PathBuf>> {
    let mut written = crate::publish_all([("compare.html", page), ("compare.md", table)], dir)?;
    let picture = dir.join("compare.png");
    draw(&picture).with_context(|| format!("cannot write {}", picture.display()))?;
    written.push(picture);
    Ok(written)
}

fn draw_picture(measured: &pool::MeasuredComparison<'_>, path: &Path) -> Result<()> {
    let comparison = measured.comparison;
    let figures = figure::all(measured);
    let (subjects, faults) = (comparison.subjects.len() as u32, comparison.faults.len() as u32);
    let sheet = FigureSheet {
        title: &comparison.title(),
        subtitle: &text::clip(&comparison.settings_in_words(" · "), 170),
        labels: FigureLabels::new(comparison),
        figures: figures.iter().collect(),
        height: (101 + 14 * subjects * faults.max(1) + 8 * subjects).clamp(231, 1451),
    };
    figures::write(&sheet, 2, path)
}
