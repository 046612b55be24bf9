//! `zooquake check`

mod expect;
pub mod input;
mod one;
mod show;

use super::args::duration;
use super::exit::Code;
use anyhow::{Context, Result};
use clap::Args;
use one::{Checked, Limits};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use zooquake_checkers::search::Kind;

pub use input::Format;
pub use one::read;

/// `check`
#[derive(Debug, Args)]
#[command(after_help = "\
Runs and our own histories (.jsonl) are judged by the checkers of their family. Other histories, and any with --model, are
searched for an order of their operations: Jepsen's EDN (.edn) and text logs (.log, .txt), and .jsonl with bare values.

Models: register (or cas-register): read, write and cas. mutex: the lock may be lost like a lease, and a hold counts only
as far as a release that succeeded proves it. mutex-strict: held from each acquire to the next release that succeeded.

Exit codes: 0 all valid, 1 some invalid, 2 some unknown. With --expect: 0 if all verdicts are as expected, else 1.

Examples:
  zooquake check runs/latest
  zooquake check failure.zooquake.tar.gz
  zooquake check runs --json
  zooquake check history.edn --model mutex
  zooquake check histories --expect histories/expected.tsv")]
pub struct CheckOptions {
    /// A run's folder or pack, a history file, or a folder of such, searched through
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// What the histories are of: register, cas-register, mutex or mutex-strict; told by their operations if not given
    #[arg(long, value_name = "MODEL", conflicts_with = "expect")]
    pub model: Option<Kind>,
    /// What the verdicts should be: lines of `file<TAB>model<TAB>verdict`, the files relative to this one's folder
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// How long to search one history, such as 60s or 5m; then its verdict is unknown
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = duration)]
    pub budget: Duration,
    /// How much memory a search may take, in MiB; then the verdict is unknown
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub memory: u32,
    /// JSON on stdout, one element for each input
    #[arg(long)]
    pub json: bool,
}

/// Checks every input again.
///
/// # Errors
/// If an input cannot be read at all.
pub fn check(options: &CheckOptions) -> Result<Code> {
    let limits = Limits {
        time: options.budget,
        bytes: options.memory as usize * (1 << 20),
    };
    if let Some(file) = &options.expect {
        return expect::check(file, options, limits);
    }
    let mut checked = Vec::new();
    for path in &options.paths {
        for input in input::inputs(path)? {
            let one = one::check(&input, options.model, limits);
            checked.push(one.with_context(|| format!("checking {}", input.display()))?);
        }
    }
    if options.json {
        let all: Vec<Value> = checked.iter().map(show::as_json).collect();
        println!("{}", serde_json::to_string_pretty(&all).context("writing JSON")?);
    } else {
        checked.iter().for_each(show::print);
    }
    Ok(Code::worst(checked.iter().map(|one| one.results.verdict.into())))
}
