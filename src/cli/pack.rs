//! `zooquake pack`

use super::exit::{Code, Usage};
use super::paths::{self, OutputKind};
use crate::pack::{self, Pack};
use crate::shell;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

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
    /// JSON on stdout: the file, its size in bytes, and the commands that unpack, check and replay it
    #[arg(long)]
    pub json: bool,
}

/// Makes one file of a run.
///
/// # Errors
/// [`Usage`] for a wrong path; otherwise if the run cannot be read, or the file not be written.
pub fn pack(options: &PackOptions) -> Result<Code> {
    let (opened, _) = paths::run(&options.run)?;
    if opened.is_pack() {
        return Err(Usage(format!("{:?} is packed already: give the folder of a run", options.run)).into());
    }
    let way_out = "give another --out FILE";
    match &options.out {
        Some(out) => {
            paths::output_file(out, way_out)?;
            paths::replaceable(out, OutputKind::Pack, &[], way_out)?;
        }
        None => paths::output_folder(Path::new("."), "--out FILE")?,
    }
    let Pack { file, bytes, run, case } = pack::write(&options.run, options.out.as_deref())?;
    let commands = pack::commands(shell::program(), &file, &run, case.as_ref());
    if options.json {
        println!("{}", json!({ "file": file, "bytes": bytes, "commands": commands }));
    } else {
        println!("{} ({} kB)", file.display(), bytes.div_ceil(1000));
        commands.iter().for_each(|command| println!("  {command}"));
    }
    Ok(Code::Valid)
}
