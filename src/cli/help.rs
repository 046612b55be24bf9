//! `zooquake completions` and `zooquake man`: the content of the help, for shells and for `man`.

use super::args::{Arguments, CompletionsOptions, ManOptions};
use super::candidates::with_candidates;
use super::exit::Code;
use anyhow::{Context, Result};
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

/// Prints the script that makes a shell complete commands and options, variants, faults and models.
pub fn completions(options: &CompletionsOptions) -> Code {
    let mut script = Vec::new();
    let mut command = with_candidates(Arguments::command());
    clap_complete::generate(options.shell, &mut command, "zooquake", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    if options.shell == Shell::Fish {
        positional_lines(&command).iter().for_each(|line| println!("{line}"));
    }
    Code::Valid
}

/// The lines by which fish completes what the commands take without an option, which `clap_complete` leaves out there.
fn positional_lines(command: &Command) -> Vec<String> {
    let of_command = |command: &Command| {
        let values = command.get_positionals().flat_map(Arg::get_possible_values);
        let values: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        let (name, all) = (command.get_name(), values.join(" "));
        let line = format!("complete -c zooquake -n \"__fish_zooquake_using_subcommand {name}\" -a \"{all}\"");
        (!values.is_empty() && !command.is_hide_set()).then_some(line)
    };
    command.get_subcommands().filter_map(of_command).collect()
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
