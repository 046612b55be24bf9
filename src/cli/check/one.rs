//! Checking one input.

use super::input::{self, Format};
use crate::cli::exit::Usage;
use crate::cli::paths;
use crate::judge;
use crate::pack;
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};
use zooquake_checkers::Results;
use zooquake_checkers::inferred_plan;
use zooquake_checkers::search::{Budget, ModelKind, Notation};
use zooquake_history::{Damage, History, Record, edn::parse_edn, event::parse_jsonl, files::Files, textlog::parse_log};

/// What to give in place of a history that cannot be read.
const A_HISTORY: &str = "give a history file that is whole and may be read";

/// What to give in place of a file that is not called like a history and holds no event.
const HISTORIES: &str = "give the folder of a run, the file that `zooquake pack` made of one, or a history: ours \
    (.jsonl), Jepsen's (.edn, .log, .txt) or porcupine's (.txt), each also compressed (.gz, .zst)";

/// How an input is checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckLimits {
    /// How long the search of one history may take.
    pub time: Duration,
    /// Bytes that it may take.
    pub bytes: usize,
    /// Whether the report of a run is rendered again into its folder, beside its results.
    pub report: bool,
}

/// One input and its verdict.
#[derive(Debug)]
pub struct Checked {
    /// The verdict.
    pub results: Results,
    /// Milliseconds that reading took.
    pub parse_ms: f64,
    /// Milliseconds that checking took.
    pub check_ms: f64,
    /// Events of the history.
    pub events: usize,
    /// Why the results of a run were not written into its folder.
    pub unwritten: Option<anyhow::Error>,
}

/// Checks an input: with `model` if that is given, else by what the input is.
///
/// # Errors
/// If it cannot be read at all.
pub fn check(path: &Path, model: Option<ModelKind>, how: CheckLimits) -> Result<Checked, Usage> {
    if !path.is_dir() && !pack::is_pack(path) {
        return check_file(path, model, how);
    }
    let begun = Instant::now();
    let (opened, record) = paths::run(path)?;
    if let Some(kind) = model {
        let damage = record.damage.clone();
        return Ok(alone(begun, &record.history, damage, Some(kind), Notation::Maps, how));
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
fn timed(begun: Instant, record: &Record) -> Checked {
    let parse_ms = milliseconds(begun);
    let begun = Instant::now();
    let results = zooquake_checkers::check(record);
    Checked {
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
fn check_file(path: &Path, model: Option<ModelKind>, how: CheckLimits) -> Result<Checked, Usage> {
    let begun = Instant::now();
    let contents = |path: &Path| input::bytes(path).map_err(|error| Usage(format!("{error:#}: {A_HISTORY}")));
    let bytes = contents(path)?;
    let format = Format::from_name(path).unwrap_or(Format::Jsonl).within(&bytes);
    let plan = path.with_file_name("plan.json");
    if format == Format::Jsonl && model.is_none() && plan.exists() {
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
    Ok(alone(begun, &history, damage, model, notation, how))
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
    history: &History,
    damage: Vec<String>,
    model: Option<ModelKind>,
    notation: Notation,
    how: CheckLimits,
) -> Checked {
    let parse_ms = milliseconds(begun);
    let begun = Instant::now();
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: how.bytes,
        expired: &mut || begun.elapsed() > how.time,
    };
    Checked {
        results: inferred_plan::judge(history, damage, model, notation, &mut budget),
        parse_ms,
        check_ms: milliseconds(begun),
        events: history.events.len(),
        unwritten: None,
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
