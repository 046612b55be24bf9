//! Checking one input.

use super::input::{self, CheckInput, Format};
use crate::cli::exit::Usage;
use crate::cli::paths;
use crate::judge::{self, ThreadClock};
use crate::pack;
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};
use zooquake_checkers::search::picture::{HistoryPicture, PictureSubject};
use zooquake_checkers::search::{Budget, HistoryTerms, InitialValue, ModelKind, Notation};
use zooquake_checkers::{Results, inferred_plan};
use zooquake_history::edn::parse_edn;
use zooquake_history::files::Files;
use zooquake_history::jsonl::{parse_json, parse_jsonl};
use zooquake_history::textlog::{self, PassedLines, parse_log, parse_txt};
use zooquake_history::{Damage, History, Record};
use zooquake_reports::history::HistoryExtras;

/// What to give in place of a history that cannot be read.
const A_HISTORY: &str = "give a history file that is whole and may be read";

/// What to give in place of a file that is not called like a history and holds no event.
const HISTORIES: &str = "give the folder of a run, the file that `zooquake pack` made of one, or a history: ours \
    (.jsonl), in JSON (.json, .jsonl), Jepsen's (.edn, .log, .txt) or porcupine's (.txt), each also compressed (.gz, .zst)";

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
    /// The value with which each object begins, where that was stated.
    pub initial: Option<&'p InitialValue>,
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
        let named = opened.folder.name();
        let read = ReadHistory {
            history: &record.history,
            damage,
            passed: Vec::new(),
        };
        return alone(begun, &named, read, Some(kind), Notation::Maps, how);
    }
    refuse_initial(None, how)?;
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

/// Checks an input as [`check`] does, and notes which copies of its history stand beside it.
///
/// # Errors
/// If it cannot be read at all.
pub fn check_with_copies(
    input: &CheckInput,
    model: Option<ModelKind>,
    how: CheckLimits<'_>,
) -> Result<CheckedInput, Usage> {
    let mut checked = check(&input.path, model, how)?;
    let names: Vec<_> = input.copies.iter().filter_map(|copy| copy.file_name()).collect();
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    if !names.is_empty() {
        let copies = if names.len() == 1 { "is a copy" } else { "are copies" };
        checked.results.reasons.push(format!(
            "note: {} beside it {copies} of this history, or of parts of it, and not judged",
            names.join(" and ")
        ));
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
    let named = Format::from_name(path);
    let format = named.map_or_else(|| Format::of_nameless(&bytes), |named| named.within(&bytes));
    let plan = path.with_file_name("plan.json");
    let of_a_run = format == Format::Json && path.to_string_lossy().contains(".jsonl") && plan.exists();
    if of_a_run && model.is_none() {
        refuse_initial(None, how)?;
        if how.page.is_some() {
            return Err(Usage(format!("{}: {OF_A_RUN}", path.display())));
        }
        let read = contents(&plan)?;
        let record = Record::read(Files {
            plan: Some(&read),
            history: Some(&bytes),
            ..Files::default()
        });
        if let Some(why) = record.plan.unknown_format() {
            return Err(Usage(format!("{} {why}", plan.display())));
        }
        return Ok(timed(begun, &record));
    }
    let (history, damage) = match of_a_run {
        true => parse_jsonl(&bytes),
        false => read(format, &bytes),
    };
    if let (true, Some(damage)) = (history.events.is_empty(), &damage)
        && (named.is_none() || path.extension().is_some_and(|end| end == "json") || input::is_record(&bytes))
    {
        return Err(Usage(format!(
            "{} is no history ({damage}): {HISTORIES}",
            path.display()
        )));
    }
    if history.events.is_empty() && input::is_beside(path) {
        return Err(Usage(format!(
            "{} is what Jepsen stores beside a history, and none itself: give the history, or the folder",
            path.display()
        )));
    }
    let passed = passed_over(format, &bytes, damage.as_ref());
    drop(bytes);
    let damage: Vec<String> = damage.into_iter().map(|damage| damage.to_string()).collect();
    let notation = match format {
        Format::Log => Notation::Log,
        // A line of `history.txt` means what the map in `history.edn` does.
        Format::Json | Format::Edn | Format::Txt => Notation::Maps,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let read = ReadHistory {
        history: &history,
        damage,
        passed,
    };
    alone(begun, &name, read, model, notation, how)
}

/// A history without a plan, as it was read.
struct ReadHistory<'h> {
    history: &'h History,
    /// What of it could not be read.
    damage: Vec<String>,
    /// What of it may be events and was not read.
    passed: Vec<PassedLines>,
}

/// Reads a history up to its first damage.
pub fn read(format: Format, bytes: &[u8]) -> (History, Option<Damage>) {
    match format {
        Format::Json => parse_json(bytes),
        Format::Edn => parse_edn(bytes),
        Format::Log => parse_log(bytes),
        Format::Txt => parse_txt(bytes),
    }
}

/// The lines that [`read`] passes over although they may be events, each sort once: only a log has such.
pub fn passed_over(format: Format, bytes: &[u8], damage: Option<&Damage>) -> Vec<PassedLines> {
    match format {
        Format::Log => textlog::passed_over(bytes, damage),
        Format::Json | Format::Edn | Format::Txt => Vec::new(),
    }
}

/// Refuses a stated beginning for what has one of its own: a model, or a family, if it is none.
///
/// # Errors
/// Some value was stated with which each object begins.
fn refuse_initial(model: Option<ModelKind>, how: CheckLimits<'_>) -> Result<(), Usage> {
    let own = match model {
        Some(kind) => kind.beginning(),
        None => Some("this one is judged by the checkers of a family, which begins as its page states"),
    };
    match own.filter(|_| how.initial.is_some()) {
        Some(own) => Err(Usage(format!(
            "--initial is of a history that is searched as a register (--model register): {own}"
        ))),
        None => Ok(()),
    }
}

/// Checks a history that was read since `begun` and has no plan.
///
/// # Errors
/// A value was stated with which each object begins, and the model has a beginning of its own.
fn alone(
    begun: Instant,
    name: &str,
    ReadHistory {
        history,
        damage,
        passed,
    }: ReadHistory<'_>,
    model: Option<ModelKind>,
    notation: Notation,
    how: CheckLimits<'_>,
) -> Result<CheckedInput, Usage> {
    if let Some((kind, only)) = inferred_plan::subject(history, model) {
        refuse_initial(Some(kind).filter(|_| only.is_none()), how)?;
    } else if inferred_plan::is_ours(history) {
        refuse_initial(None, how)?;
    }
    let parse_ms = milliseconds(begun);
    let (begun, clock) = (Instant::now(), ThreadClock::new());
    let terms = HistoryTerms {
        notation,
        initial: how.initial,
    };
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: how.bytes,
        expired: &mut || clock.elapsed() > how.time,
    };
    let mut results = inferred_plan::judge(history, damage, model, terms, &mut budget);
    results
        .reasons
        .extend(passed.iter().map(|passed| format!("note: {passed}")));
    let check_ms = milliseconds(begun);
    let write = |into: &Path| write_page(name, history, (model, terms), &results, (how, into)).err();
    Ok(CheckedInput {
        unwritten: how.page.and_then(write),
        results,
        parse_ms,
        check_ms,
        events: history.events.len(),
    })
}

/// Writes the page of a history.
fn write_page(
    name: &str,
    history: &History,
    (model, terms): (Option<ModelKind>, HistoryTerms<'_>),
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
            terms,
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
