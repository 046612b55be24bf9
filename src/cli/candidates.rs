//! The values that a shell completes, of options and arguments whose values are not listed in the command line's types.

use crate::backends::BACKENDS;
use crate::faults;
use crate::planning::names;
use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Arg, Command};
use std::collections::BTreeSet;
use zooquake_backend::images::ImageRequest;
use zooquake_checkers::search::ModelKind;
use zooquake_history::plan::Workload;
use zooquake_workloads::recipes::planted::PLANTED;

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
