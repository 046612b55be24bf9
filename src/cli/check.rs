//! `zooquake check`

use super::args::CheckOptions;
use super::exit::{Code, Usage};
use super::run::summary;
use crate::judge;
use crate::run::folder::Folder;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zooquake_checkers::history::parse_jsonl;
use zooquake_checkers::plan::{Plan, Workload};
use zooquake_checkers::{Record, Results};

/// One input and its verdict.
struct Checked {
    path: PathBuf,
    results: Results,
    parse_ms: f64,
    check_ms: f64,
    events: usize,
}

/// Checks every input again.
///
/// # Errors
/// If an input cannot be read at all.
pub fn check(options: &CheckOptions) -> Result<Code> {
    let mut checked = Vec::new();
    for path in &options.paths {
        for input in inputs(path)? {
            let one = if input.is_dir() {
                check_folder(&input)
            } else {
                check_file(&input)
            };
            checked.push(one.with_context(|| format!("checking {}", input.display()))?);
        }
    }
    if options.json {
        let all: Vec<Value> = checked.iter().map(as_json).collect();
        println!("{}", serde_json::to_string_pretty(&all).context("writing JSON")?);
    } else {
        for Checked { path, results, .. } in &checked {
            println!("{}: {}", path.display(), summary(results));
        }
    }
    Ok(Code::worst(checked.iter().map(|one| one.results.verdict.into())))
}

/// What a path stands for: a run, a history file, or all runs in a folder.
fn inputs(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.exists() {
        return Err(Usage(format!("there is nothing at {}", path.display())).into());
    }
    let is_run = |folder: &Path| {
        ["plan.json", "history.jsonl"]
            .iter()
            .any(|name| folder.join(name).exists())
    };
    if path.is_file() || is_run(path) {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("reading {}", path.display()))?;
    let mut runs: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // `latest` and the like are second names of runs that are listed anyway.
    runs.retain(|run| !run.is_symlink() && (is_run(run) || run.extension().is_some_and(|end| end == "jsonl")));
    runs.sort();
    if runs.is_empty() {
        let text = format!(
            "{} is no run (it lacks plan.json and history.jsonl) and holds none",
            path.display()
        );
        return Err(Usage(text).into());
    }
    Ok(runs)
}

fn check_folder(path: &Path) -> Result<Checked> {
    let folder = Folder {
        path: path.to_path_buf(),
    };
    let begun = Instant::now();
    let record = folder.load()?;
    let checked = timed(path, begun, &record);
    judge::keep(&folder, &record, &checked.results)?;
    Ok(checked)
}

/// Checks a record that was read since `read_since`.
fn timed(path: &Path, read_since: Instant, record: &Record) -> Checked {
    let parse_ms = read_since.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let results = zooquake_checkers::check(record);
    let check_ms = begun.elapsed().as_secs_f64() * 1e3;
    Checked {
        path: path.to_path_buf(),
        results,
        parse_ms,
        check_ms,
        events: record.history.events.len(),
    }
}

/// A history file alone: the plan beside it if there is one, else what the operations tell.
fn check_file(path: &Path) -> Result<Checked> {
    let begun = Instant::now();
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let (history, damage) = parse_jsonl(&bytes);
    let beside = path
        .parent()
        .map(|parent| parent.join("plan.json"))
        .filter(|plan| plan.exists());
    let plan = match beside {
        Some(plan) => {
            let bytes = std::fs::read(&plan).with_context(|| format!("reading {}", plan.display()))?;
            serde_json::from_slice(&bytes).with_context(|| format!("reading {}", plan.display()))?
        }
        None => Plan {
            workload: Workload {
                family: "lock".into(),
                variant: "unknown".into(),
                ..Default::default()
            },
            ..Default::default()
        },
    };
    let damage = damage
        .map(|damage| format!("{}, {damage}", path.display()))
        .into_iter()
        .collect();
    let record = Record {
        plan,
        history,
        damage,
        ..Record::default()
    };
    Ok(timed(path, begun, &record))
}

fn as_json(checked: &Checked) -> Value {
    let Checked {
        path,
        results,
        parse_ms,
        check_ms,
        events,
    } = checked;
    json!({
        "path": path,
        "verdict": results.verdict,
        "anomalies": results.anomalies,
        "reasons": results.reasons,
        "stats": { "events": events, "parse_ms": parse_ms, "check_ms": check_ms },
    })
}
