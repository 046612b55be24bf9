//! `zooquake check`

mod checked_input;
mod expect;
pub mod input;

use super::exit::{Code, Usage};
use super::paths::{self, OutputKind};
use crate::cli::run::print_summary;
use crate::planning::values::duration;
use crate::terminal::line;
use crate::version;
use anyhow::Result;
use checked_input::{CheckLimits, CheckedInput};
pub use checked_input::{passed_over, read};
use clap::Args;
use input::CheckInput;
pub use input::{Format, bytes};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zooquake_checkers::Results;
use zooquake_checkers::search::{InitialValue, ModelKind};

/// `check`
#[derive(Debug, Args)]
#[command(after_help = format!("\
Runs and our own histories (.jsonl) are judged by the checkers of their family; without a plan by what every variant promises.
Other histories, and any with --model, are searched for an order of their operations: Jepsen's EDN (.edn), history.txt and
text logs (.log, .txt), porcupine's key-value text (.txt), and JSON with bare values (.json, .jsonl), lines or an array. Each may
be compressed by gzip or zstd. In a folder of Jepsen's store the first of history.edn, history.txt and jepsen.log is judged.

Models, with their operations:
{}

Exit codes: 0 all valid, 1 some invalid, 2 some unknown, 254 if some input could not be read. With --expect
and --expect-results: 0 if all verdicts are as expected, else 1.

Examples:
  zooquake check runs/latest
  zooquake check failure.zooquake.tar.gz
  zooquake check runs --json --no-report
  zooquake check history.edn --model mutex --page history.html
  zooquake check histories --expect histories/expected.tsv
  zooquake check store --model register --expect-results", model_lines()))]
pub struct CheckOptions {
    /// A run's folder or pack, a history file, or a folder of such, searched through
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// What the histories are of; the models are named below. Inferred from their operations if not given
    #[arg(long, value_name = "MODEL", conflicts_with = "expect")]
    pub model: Option<ModelKind>,
    /// What the verdicts should be: lines of `file<TAB>model<TAB>verdict`, the files relative to this one's folder
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Compare with what Jepsen found: the verdict should be that of results.edn beside the history
    #[arg(long, conflicts_with_all = ["expect", "page"])]
    pub expect_results: bool,
    /// With what each object begins, as JSON or EDN, such as 0 or nil: of a register, whose beginning is else unknown
    #[arg(long, value_name = "VALUE", conflicts_with = "expect", allow_hyphen_values = true)]
    pub initial: Option<InitialValue>,
    /// How much processor time the search of one history may take, such as 60s or 5m; then its verdict is unknown
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = duration)]
    pub budget: Duration,
    /// How much memory a search may take, in MiB, beside the history itself; then the verdict is unknown
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub memory: u32,
    /// Leave the reports of runs as they are, and only write their results anew
    #[arg(long)]
    pub no_report: bool,
    /// Write a page of the one history that is checked: its operations, and how far an order of them reaches
    #[arg(long, value_name = "FILE", conflicts_with = "expect")]
    pub page: Option<PathBuf>,
    /// JSON on stdout, one element for each input
    #[arg(long)]
    pub json: bool,
}

/// A line for each model: its names, and what it is.
fn model_lines() -> String {
    let lines = ModelKind::described().map(|(names, summary)| format!("  {names:<24}  {summary}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks every input again. One that cannot be read keeps no other from its verdict.
///
/// # Errors
/// If there is nothing to check at a path.
pub fn check(options: &CheckOptions) -> Result<Code> {
    let how = CheckLimits {
        time: options.budget,
        bytes: options.memory as usize * (1 << 20),
        report: !options.no_report,
        initial: options.initial.as_ref(),
        page: options.page.as_deref(),
    };
    if let Some(file) = &options.expect {
        return expect::check(file, options, how);
    }
    let inputs = gather(&options.paths)?;
    if options.expect_results {
        return expect::check_results(&inputs, options, how);
    }
    if options.page.is_some() && inputs.len() > 1 {
        return Err(Usage(format!(
            "--page is of one history, and {} were given: name one of them",
            inputs.len()
        ))
        .into());
    }
    if let Some(page) = &options.page {
        let read: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
        let way_out = "give another --page FILE";
        paths::output_file(page, way_out)?;
        paths::replaceable(page, OutputKind::Page, &read, way_out)?;
    }
    let mut all = Vec::new();
    let mut codes = Vec::new();
    for input in inputs {
        let checked = checked_input::check_with_copies(&input, options.model, how);
        let input = input.path;
        codes.push(match &checked {
            // What was asked for is not there.
            Ok(one) if options.page.is_some() && one.unwritten.is_some() => Code::Harness,
            Ok(one) => one.results.verdict.into(),
            Err(Usage(_)) => Code::Usage,
        });
        if options.json {
            all.push(as_json(&input, &checked));
        } else {
            print(&input, &checked);
        }
        warn(&input, &checked);
    }
    if options.json {
        crate::output::json(&all)?;
    }
    Ok(Code::worst(codes))
}

/// The inputs at the paths; what several names lead to is one, under its first name.
///
/// # Errors
/// If there is nothing to check at a path.
fn gather(paths: &[PathBuf]) -> Result<Vec<CheckInput>> {
    let mut inputs = Vec::new();
    let mut known = HashSet::new();
    for path in paths {
        let found = input::inputs(path)?;
        // What has no place of its own, such as a pipe, is what it is called.
        inputs.extend(found.into_iter().filter(|input| {
            let place = input.path.canonicalize().unwrap_or_else(|_| input.path.clone());
            known.insert(place)
        }));
    }
    Ok(inputs)
}

/// Prints a verdict with what was found, or why there is none.
pub fn print(input: &Path, checked: &Result<CheckedInput, Usage>) {
    print!("{}: ", line(&input.display().to_string()));
    match checked {
        Ok(checked) => {
            print_summary(&checked.results);
            if let Some(remark) = other_recorder(&checked.results) {
                println!("{}", line(&remark));
            }
        }
        Err(Usage(why)) => println!("no verdict: {}", line(why)),
    }
}

/// That another zooquake recorded the run than this one, if it certainly did.
fn other_recorder(results: &Results) -> Option<String> {
    let provenance = results.provenance.as_ref()?;
    let other = provenance.differs_from(version::NUMBER, version::COMMIT);
    let recorder = provenance.recorder().filter(|_| other)?;
    Some(format!(
        "recorded by zooquake {recorder}, checked by zooquake {}",
        version::FULL
    ))
}

/// Prints to stderr what could not be written.
pub fn warn(input: &Path, checked: &Result<CheckedInput, Usage>) {
    if let Ok(CheckedInput {
        unwritten: Some(error), ..
    }) = checked
    {
        let what = if input.is_dir() {
            "results.json and the report"
        } else {
            "the page"
        };
        eprintln!(
            "zooquake: warning: {what} of {} could not be written: {error:#}",
            input.display()
        );
    }
}

/// The same for machines.
pub fn as_json(input: &Path, checked: &Result<CheckedInput, Usage>) -> Value {
    let CheckedInput {
        results,
        parse_ms,
        check_ms,
        events,
        unwritten,
        ..
    } = match checked {
        Ok(checked) => checked,
        Err(Usage(why)) => return json!({ "path": input, "verdict": null, "error": why }),
    };
    let mut one = json!({
        "path": input,
        "verdict": results.verdict,
        "anomalies": results.anomalies,
        "reasons": results.reasons,
        "checked_by": version::FULL,
        "stats": { "events": events, "parse_ms": parse_ms, "check_ms": check_ms },
    });
    if let Some(model) = &results.model {
        one["model"] = json!(model);
        one["model_inferred"] = json!(true);
    }
    if !results.not_judged.is_empty() {
        one["not_judged"] = json!(results.not_judged);
    }
    if let Some(provenance) = &results.provenance {
        one["provenance"] = json!(provenance);
    }
    if let Some(error) = unwritten {
        one["unwritten"] = json!(format!("{error:#}"));
    }
    one
}
