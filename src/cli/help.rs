//! `zooquake completions` and `zooquake man`: the content of the help, for shells and for `man`.

use super::args::{Arguments, CompletionsOptions, ManOptions};
use super::exit::Code;
use anyhow::{Context, Result};
use clap::CommandFactory;

/// Prints the script that makes a shell complete commands and options.
pub fn completions(options: &CompletionsOptions) -> Code {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "zooquake", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Code::Valid
}

/// Writes a page for the program and one for each of its commands.
///
/// # Errors
/// If the folder cannot be written.
pub fn man(options: &ManOptions) -> Result<Code> {
    let folder = &options.folder;
    let written = || {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(Arguments::command(), folder)
    };
    written().with_context(|| format!("writing manual pages into {}", folder.display()))?;
    println!("{}", folder.join("zooquake.1").display());
    Ok(Code::Valid)
}
