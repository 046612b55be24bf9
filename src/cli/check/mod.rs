//! `zooquake check`

mod checked_input;
mod expect;
pub mod input;
mod show;

use super::exit::{Code, Usage};
use super::paths::{self, OutputKind};
use crate::planning::values::duration;
use anyhow::Result;
use checked_input::{CheckLimits, CheckedInput};
use clap::Args;
use input::CheckInput;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zooquake_checkers::search::{InitialValue, ModelKind};

pub use checked_input::{passed_over, read};
pub use input::{Format, bytes};

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
            all.push(show::as_json(&input, &checked));
        } else {
            show::print(&input, &checked);
        }
        show::warn(&input, &checked);
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
