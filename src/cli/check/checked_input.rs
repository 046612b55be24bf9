//! Checking one input.

use super::input::{self, Format};
use crate::cli::exit::Usage;
use crate::cli::paths;
use crate::{judge, pack};
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};
use zooquake_checkers::search::picture::{HistoryPicture, PictureSubject};
use zooquake_checkers::search::{Budget, ModelKind, Notation};
use zooquake_checkers::{Results, inferred_plan};
use zooquake_history::{Damage, History, Record, edn::parse_edn, event::parse_jsonl, files::Files, textlog::parse_log};
use zooquake_reports::history::HistoryExtras;

/// What to give in place of a history that cannot be read.
const A_HISTORY: &str = "give a history file that is whole and may be read";

/// What to give in place of a file that is not called like a history and holds no event.
const HISTORIES: &str = "give the folder of a run, the file that `zooquake pack` made of one, or a history: ours \
    (.jsonl), Jepsen's (.edn, .log, .txt) or porcupine's (.txt), each also compressed (.gz, .zst)";

/// Why a run gets no page by `--page`.
const OF_A_RUN: &str = "--page is of a history that is searched; a run has its own (report.html, and order.html if it is of a \
    register), and with --model its history is searched";

/// How an input is checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckLimits<'p> {
    /// How long the search of one history may take.
    pub time: Duration,
    /// Bytes that it may take.
    pub bytes: usize,
    /// Whether the report of a run is rendered again into its folder, beside its results.
    pub report: bool,
    /// Where a page of a history is written, if one is.
    pub page: Option<&'p Path>,
}

/// One input and its verdict.
#[derive(Debug)]
pub struct CheckedInput {
    /// The verdict.
    pub results: Results,
    /// Milliseconds that reading took.
    pub parse_ms: f64,
    /// Milliseconds that checking took.
    pub check_ms: f64,
    /// Events of the history.
    pub events: usize,
    /// Why the results of a run were not written into its folder, or the page of a history to its place.
    pub unwritten: Option<anyhow::Error>,
}

/// Checks an input: with `model` if that is given, else by what the input is.
///
/// # Errors
/// If it cannot be read at all.
pub fn check(path: &Path, model: Option<ModelKind>, how: CheckLimits<'_>) -> Result<CheckedInput, Usage> {
    if !path.is_dir() && !pack::is_pack(path) {
        return check_file(path, model, how);
    }
    let begun = Instant::now();
    let (opened, record) = paths::run(path)?;
    if let Some(kind) = model {
        let damage = record.damage.clone();
        return Ok(alone(
            begun,
            &opened.folder.name(),
            (&record.history, damage),
            Some(kind),
            Notation::Maps,
            how,
        ));
    }
    if how.page.is_some() {
        return Err(Usage(format!("{}: {OF_A_RUN}", path.display())));
    }
    let mut checked = timed(begun, &record);
    // What is unpacked goes away.
    if !opened.is_pack() {
        checked.unwritten = match how.report {
            true => judge::keep(&opened.folder, &record, &checked.results).err(),
            false => judge::write(&opened.folder, &checked.results).err(),
        };
    }
    Ok(checked)
}

/// Checks a record that was read since `begun` by the checkers of its family.
fn timed(begun: Instant, record: &Record) -> CheckedInput {
    let parse_ms = milliseconds(begun);
    let begun = Instant::now();
    let results = zooquake_checkers::check(record);
    CheckedInput {
        results,
        parse_ms,
        check_ms: milliseconds(begun),
        events: record.history.events.len(),
        unwritten: None,
    }
}

/// A history file alone.
///
/// # Errors
/// If it cannot be read, or is none.
fn check_file(path: &Path, model: Option<ModelKind>, how: CheckLimits<'_>) -> Result<CheckedInput, Usage> {
    let begun = Instant::now();
    let contents = |path: &Path| input::bytes(path).map_err(|error| Usage(format!("{error:#}: {A_HISTORY}")));
    let bytes = contents(path)?;
    let format = Format::from_name(path).unwrap_or(Format::Jsonl).within(&bytes);
    let plan = path.with_file_name("plan.json");
    if format == Format::Jsonl && model.is_none() && plan.exists() {
        if how.page.is_some() {
            return Err(Usage(format!("{}: {OF_A_RUN}", path.display())));
        }
        let plan = contents(&plan)?;
        let record = Record::read(Files {
            plan: Some(&plan),
            history: Some(&bytes),
            ..Files::default()
        });
        return Ok(timed(begun, &record));
    }
    let (history, damage) = read(format, &bytes);
    if let (None, true, Some(damage)) = (Format::from_name(path), history.events.is_empty(), &damage) {
        return Err(Usage(format!(
            "{} is no history ({damage}): {HISTORIES}",
            path.display()
        )));
    }
    drop(bytes);
    let damage: Vec<String> = damage.into_iter().map(|damage| damage.to_string()).collect();
    let notation = match format {
        Format::Log => Notation::Log,
        Format::Jsonl | Format::Edn => Notation::Maps,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(alone(begun, &name, (&history, damage), model, notation, how))
}

/// Reads a history up to its first damage.
pub fn read(format: Format, bytes: &[u8]) -> (History, Option<Damage>) {
    match format {
        Format::Jsonl => parse_jsonl(bytes),
        Format::Edn => parse_edn(bytes),
        Format::Log => parse_log(bytes),
    }
}

/// Checks a history that was read since `begun` and has no plan.
fn alone(
    begun: Instant,
    name: &str,
    (history, damage): (&History, Vec<String>),
    model: Option<ModelKind>,
    notation: Notation,
    how: CheckLimits<'_>,
) -> CheckedInput {
    let parse_ms = milliseconds(begun);
    let begun = Instant::now();
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: how.bytes,
        expired: &mut || begun.elapsed() > how.time,
    };
    let results = inferred_plan::judge(history, damage, model, notation, &mut budget);
    let check_ms = milliseconds(begun);
    let write = |into: &Path| write_page(name, history, (model, notation), &results, (how, into)).err();
    CheckedInput {
        unwritten: how.page.and_then(write),
        results,
        parse_ms,
        check_ms,
        events: history.events.len(),
    }
}

/// Writes the page of a history.
fn write_page(
    name: &str,
    history: &History,
    (model, notation): (Option<ModelKind>, Notation),
    results: &Results,
    (how, into): (CheckLimits<'_>, &Path),
) -> Result<()> {
    let mut extras = HistoryExtras {
        name: name.to_owned(),
        checked_by: crate::version::FULL.into(),
        ..HistoryExtras::default()
    };
    let mut picture = HistoryPicture::default();
    if let Some((kind, only)) = inferred_plan::subject(history, model) {
        let subject = PictureSubject {
            kind,
            notation,
            only,
            anomalies: &results.anomalies,
        };
        picture = judge::ordered(history, subject, how.time.min(judge::ORDER_TIME));
        match only {
            Some(only) => extras.remark = judge::remark(only),
            None => extras.budget = format!("{} s and {} MiB", how.time.as_secs_f64(), how.bytes >> 20),
        }
    }
    zooquake_reports::history::write(&picture, results, &extras, into)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
