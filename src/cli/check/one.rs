//! Checking one input.

use super::input::Format;
use crate::judge;
use crate::pack;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zooquake_checkers::edn::parse_edn;
use zooquake_checkers::files::Files;
use zooquake_checkers::history::{Damage, parse_jsonl};
use zooquake_checkers::search::{Budget, Kind, Notation};
use zooquake_checkers::textlog::parse_log;
use zooquake_checkers::{History, Record, Results, search};

/// How much a search of one history may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// Bytes of its table.
    pub bytes: usize,
}

/// One input and its verdict.
#[derive(Debug)]
pub struct Checked {
    /// The input.
    pub path: PathBuf,
    /// The verdict.
    pub results: Results,
    /// Milliseconds that reading took.
    pub parse_ms: f64,
    /// Milliseconds that checking took.
    pub check_ms: f64,
    /// Events of the history.
    pub events: usize,
}

/// Checks an input: as what is said, else as what it is.
///
/// # Errors
/// If it cannot be read at all, or the results of a run cannot be written into its folder.
pub fn check(path: &Path, model: Option<Kind>, limits: Limits) -> Result<Checked> {
    if path.is_file() && !pack::is_pack(path) {
        return check_file(path, model, limits);
    }
    let begun = Instant::now();
    let opened = pack::open(path)?;
    let record = opened.folder.load()?;
    if let Some(kind) = model {
        let input = Searched {
            path,
            begun,
            history: &record.history,
            damage: record.damage.clone(),
            notation: Notation::Maps,
        };
        return Ok(input.check(kind, limits));
    }
    let checked = timed(path, begun, &record);
    // What is unpacked goes away.
    if !opened.is_pack() {
        judge::keep(&opened.folder, &record, &checked.results)?;
    }
    Ok(checked)
}

/// Checks a record that was read since `begun` by the checkers of its family.
fn timed(path: &Path, begun: Instant, record: &Record) -> Checked {
    let parse_ms = milliseconds(begun);
    let begun = Instant::now();
    let results = zooquake_checkers::check(record);
    Checked {
        path: path.to_path_buf(),
        results,
        parse_ms,
        check_ms: milliseconds(begun),
        events: record.history.events.len(),
    }
}

/// A history file alone.
fn check_file(path: &Path, model: Option<Kind>, limits: Limits) -> Result<Checked> {
    let begun = Instant::now();
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let format = Format::of(path).unwrap_or(Format::Jsonl);
    let plan = path.with_file_name("plan.json");
    if format == Format::Jsonl && model.is_none() && plan.exists() {
        let plan = std::fs::read(&plan).with_context(|| format!("reading {}", plan.display()))?;
        let record = Record::read(Files {
            plan: Some(&plan),
            history: Some(&bytes),
            ..Files::default()
        });
        return Ok(timed(path, begun, &record));
    }
    let (history, damage) = read(format, &bytes);
    let kind = model.or_else(|| Kind::of(&history).filter(|_| format != Format::Jsonl || !has_grants(&history)));
    if let Some(kind) = kind {
        let input = Searched {
            path,
            begun,
            history: &history,
            damage: damage.into_iter().map(|damage| damage.to_string()).collect(),
            notation: if format == Format::Log {
                Notation::Log
            } else {
                Notation::Maps
            },
        };
        return Ok(input.check(kind, limits));
    }
    let mut record = Record::read(Files {
        history: Some(&bytes),
        ..Files::default()
    });
    // Without a plan nobody knows what was promised; what the operations are of can be told.
    record.plan.workload.family = family(&history).to_owned();
    record.plan.workload.variant = "unknown".to_owned();
    Ok(timed(path, begun, &record))
}

/// Reads a history as far as it is sound.
pub fn read(format: Format, bytes: &[u8]) -> (History, Option<Damage>) {
    match format {
        Format::Jsonl => parse_jsonl(bytes),
        Format::Edn => parse_edn(bytes),
        Format::Log => parse_log(bytes),
    }
}

/// Whether the operations name grants, as those of our locks do.
fn has_grants(history: &History) -> bool {
    history.events.iter().any(|event| event.str("grant").is_some())
}

fn family(history: &History) -> &'static str {
    let any = |names: &[&str]| history.events.iter().any(|event| names.contains(&event.f.as_str()));
    if any(&["elect", "resign"]) {
        "election"
    } else if any(&["enqueue", "dequeue", "enter"]) {
        "queue"
    } else if any(&["vote", "decide"]) {
        "commit"
    } else {
        "lock"
    }
}

/// A history that was read since `begun`.
struct Searched<'a> {
    path: &'a Path,
    begun: Instant,
    history: &'a History,
    damage: Vec<String>,
    notation: Notation,
}

impl Searched<'_> {
    fn check(self, kind: Kind, limits: Limits) -> Checked {
        let parse_ms = milliseconds(self.begun);
        let begun = Instant::now();
        let mut budget = Budget {
            steps: u64::MAX,
            bytes: limits.bytes,
            expired: &mut || begun.elapsed() > limits.time,
        };
        Checked {
            path: self.path.to_path_buf(),
            results: search::judge(self.history, self.damage, kind, self.notation, &mut budget),
            parse_ms,
            check_ms: milliseconds(begun),
            events: self.history.events.len(),
        }
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
