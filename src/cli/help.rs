//! `zooquake completions` and `zooquake man`: the content of the help, for shells and for `man`.

use super::args::{Arguments, CompletionsOptions, ManOptions};
use super::exit::Code;
use crate::backends::BACKENDS;
use crate::faults;
use crate::planning::names;
use crate::template::LANGUAGES;
use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use std::collections::BTreeSet;
use zooquake_backend::images::ImageRequest;
use zooquake_checkers::search::ModelKind;
use zooquake_history::plan::Workload;
use zooquake_workloads::recipes::planted::PLANTED;

/// Completes lists, of which `clap_complete` completes the first value alone.
const LISTS_IN_BASH: &str = include_str!("lists.bash");

/// Prints the script that makes a shell complete commands and options, variants, faults and models.
pub fn completions(options: &CompletionsOptions) -> Code {
    let mut script = Vec::new();
    let mut command = with_candidates(Arguments::command());
    clap_complete::generate(options.shell, &mut command, "zooquake", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    match options.shell {
        Shell::Bash => print!("{LISTS_IN_BASH}"),
        Shell::Fish => positional_lines(&command).iter().for_each(|line| println!("{line}")),
        _ => {}
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

/// The command with candidates for the values of its options and arguments, and of its subcommands'. It completes, and
/// parses nothing: other values are allowed, such as folders of recipes.
pub fn with_candidates(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match candidates(&name, arg.get_id().as_str()) {
        values if values.is_empty() => arg,
        values => listed(arg, values),
    });
    command.mut_subcommands(with_candidates)
}

fn listed(arg: Arg, values: Vec<String>) -> Arg {
    // Clap keeps the names of values as long as the program runs.
    let values = values.into_iter().map(|value| &*value.leak());
    // A default may be a list of values.
    arg.default_value(Resettable::Reset)
        .value_parser(PossibleValuesParser::new(values))
}

/// The candidates for an option or argument of a command; none if there is no list of them.
fn candidates(command: &str, id: &str) -> Vec<String> {
    let variants = || names::workloads().iter().map(Workload::name).collect();
    match (command, id) {
        (_, "workload" | "variant") | ("compare", "variants") => variants(),
        ("new", "family") => {
            let families = LANGUAGES.iter().flat_map(|language| language.families());
            let families: BTreeSet<&str> = families.collect();
            families.into_iter().map(String::from).collect()
        }
        ("new", "language") => LANGUAGES.iter().map(|language| language.name.to_owned()).collect(),
        ("compare", "family") => {
            let names: Vec<String> = variants();
            let families = names.iter().filter_map(|name| name.split_once('/'));
            let families: BTreeSet<&str> = families.map(|(family, _)| family).collect();
            families.into_iter().map(String::from).collect()
        }
        (_, "faults") => ["none".to_owned()].into_iter().chain(faults::all_names()).collect(),
        ("generate", "model") => ModelKind::listed()
            .filter(|model| model.generated)
            .map(|model| model.to_string())
            .collect(),
        (_, "model") => ModelKind::listed().map(|model| model.to_string()).collect(),
        (_, "zookeeper") => ImageRequest::SUITES.map(String::from).into(),
        (_, "on") => BACKENDS.iter().map(|backend| backend.on.name().to_owned()).collect(),
        ("selftest", "ids") => PLANTED.iter().map(|planted| planted.id.to_owned()).collect(),
        _ => Vec::new(),
    }
}
