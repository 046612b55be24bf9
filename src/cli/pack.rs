//! `zooquake pack`

use super::exit::Code;
use crate::pack;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// `pack`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake pack runs/latest
  zooquake pack runs/latest --out failure.zooquake.tar.gz
  zooquake check failure.zooquake.tar.gz")]
pub struct PackOptions {
    /// The run's folder
    pub run: PathBuf,
    /// The file to write; the name of the run with .zooquake.tar.gz if not given
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// JSON on stdout: the file and its size in bytes
    #[arg(long)]
    pub json: bool,
}

/// Makes one file of a run.
///
/// # Errors
/// If the run cannot be read, or the file not be written.
pub fn pack(options: &PackOptions) -> Result<Code> {
    let (file, bytes) = pack::write(&options.run, options.out.as_deref())?;
    if options.json {
        println!("{}", json!({ "file": file, "bytes": bytes }));
    } else {
        println!("{} ({} kB)", file.display(), bytes.div_ceil(1000));
    }
    Ok(Code::Valid)
}
