//! `zooquake generate`

use super::exit::{Code, Usage};
use super::paths;
use anyhow::{Context, Result};
use clap::Args;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use zooquake_checkers::generate::{Object, Options, Values, generate as history};
use zooquake_history::jsonl::to_line;

/// `generate`
#[derive(Debug, Args)]
#[command(after_help = format!("\
Models: {};
`check --model` takes the same names, and `zooquake list` describes them.

The history is linearizable, unless --violation plants one contradiction in it, which is certain whatever the operations of
unknown outcome did. The same options give the same history.

Examples:
  zooquake generate --model register --values unique --out valid.jsonl
  zooquake generate --model semaphore:3 --clients 20 --out valid.jsonl
  zooquake generate --model mutex --ops 100000 --unknown 0.01 --violation --out double.jsonl
  zooquake check double.jsonl", model_names()))]
pub struct GenerateOptions {
    /// What is simulated; the models are named below
    #[arg(long, value_name = "MODEL", default_value = "register")]
    pub model: Object,
    /// Operations
    #[arg(long, default_value_t = 10_000)]
    pub ops: usize,
    /// Clients, each with one operation in flight
    #[arg(long, default_value_t = 10)]
    pub clients: usize,
    /// The share of operations of unknown outcome
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub unknown: f64,
    /// What is written, put in or added: `unique` values, or each one of so many
    #[arg(long, value_name = "N|unique", default_value_t = Values::Unique)]
    pub values: Values,
    /// Decides whatever is drawn
    #[arg(long, default_value_t = 0, value_parser = crate::planning::values::seed)]
    pub seed: u64,
    /// Plant a violation
    #[arg(long)]
    pub violation: bool,
    /// The file to write, in .jsonl
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// JSON on stdout: the file and its number of events
    #[arg(long)]
    pub json: bool,
}

/// The names of all models that are generated, eight in a line.
fn model_names() -> String {
    let names: Vec<String> = Object::names().collect();
    let lines: Vec<String> = names.chunks(8).map(|line| line.join(", ")).collect();
    lines.join(",\n")
}

/// Writes a history of a simulated object.
///
/// # Errors
/// [`Usage`] for options that no history has; otherwise if the file cannot be written.
pub fn generate(options: &GenerateOptions) -> Result<Code> {
    let out = &options.out;
    if out.extension().is_none_or(|extension| extension != "jsonl") {
        return Err(Usage(format!("{}: expected a name in .jsonl as --out", out.display())).into());
    }
    paths::output_file(out, "give another --out FILE")?;
    let history = history(&Options {
        object: options.model,
        ops: options.ops,
        clients: options.clients,
        unknown: options.unknown,
        values: options.values,
        seed: options.seed,
        violation: options.violation,
    })
    .map_err(Usage)?;
    let write = || {
        let mut file = BufWriter::new(std::fs::File::create(out)?);
        history
            .events
            .iter()
            .try_for_each(|event| file.write_all(to_line(event).as_bytes()))?;
        file.flush()
    };
    write().with_context(|| format!("writing {}", out.display()))?;
    super::convert::print(out, &history, options.json);
    Ok(Code::Valid)
}
