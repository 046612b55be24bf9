//! A project's defaults: `.config/zooquake.toml` in the working directory, or in the nearest folder above that has one.

use super::args::Arguments;
use super::exit::Usage;
use crate::planning::values;
use anyhow::Result;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zooquake_backend::files;
use zooquake_history::operation::consensus;

/// Where the file lies in a project.
const FILE: &str = ".config/zooquake.toml";

/// The options of each command that the file gives defaults for.
const TAKEN: [(&str, &[&str]); 6] = [
    ("run", &["zookeeper", "timing", "clients", "out"]),
    ("compare", &["zookeeper", "clients"]),
    ("images", &["zookeeper"]),
    ("replay", &["out"]),
    ("shrink", &["out"]),
    ("explore", &["out"]),
];

/// The keys of the file.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defaults {
    zookeeper: Option<String>,
    timing: Option<String>,
    clients: Option<u64>,
    out: Option<PathBuf>,
}

impl Defaults {
    /// The defaults in the text of a project's file.
    ///
    /// # Errors
    /// What is wrong with it, with the line or the key.
    fn read(text: &str, project: &Path) -> Result<Self, String> {
        let keys: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let wrong = |key: &str, why: String| format!("`{key}`: {why}");
        if let Some(zookeeper) = &keys.zookeeper {
            values::zookeeper(zookeeper).map_err(|why| wrong("zookeeper", why))?;
        }
        if let Some(timing) = &keys.timing {
            values::timing(timing).map_err(|why| wrong("timing", why))?;
        }
        if let Some(clients) = keys.clients {
            values::clients(&clients.to_string()).map_err(|why| wrong("clients", why))?;
        }
        // Wherever in the project a command is given, its runs are kept in one folder.
        let out = keys.out.map(|out| project.join(out));
        Ok(Self { out, ..keys })
    }

    /// The default of an option.
    fn default_value(&self, option: &str) -> Option<OsString> {
        match option {
            "zookeeper" => self.zookeeper.clone().map(Into::into),
            "timing" => self.timing.clone().map(Into::into),
            "clients" => self.clients.map(|clients| clients.to_string().into()),
            "out" => self.out.clone().map(Into::into),
            _ => None,
        }
    }

    /// What of it holds for a command line: options that are not given there. A seed, or a file, names one plan,
    /// whatever the project's defaults have become since, and a simulated ensemble has no version.
    fn for_line(&self, name: &str, given: &ArgMatches) -> Vec<(&'static str, OsString)> {
        let Some(given) = given.subcommand_matches(name) else {
            return Vec::new();
        };
        let has = |option: &str| {
            given.ids().any(|id| id == option) && given.value_source(option) == Some(ValueSource::CommandLine)
        };
        // No ZooKeeper and no clients of one take part in what is compared of consensus protocols.
        let is_family = |family: &OsStr| family.to_string_lossy().trim_end_matches('/') == consensus::FAMILY.name;
        if name == "compare" && given.get_raw("family").is_some_and(|mut family| family.any(is_family)) {
            return Vec::new();
        }
        let simulated = has("on") && given.get_raw("on").is_some_and(|mut on| on.any(|on| on == "sim"));
        let taken = TAKEN.into_iter().filter(|(command, _)| *command == name);
        let options = taken.flat_map(|(_, options)| options.iter().copied());
        options
            .filter(|option| !has(option) && (*option == "out" || !has("seed") && !has("plan")))
            .filter(|option| *option != "zookeeper" || !simulated)
            .filter_map(|option| Some((option, self.default_value(option)?)))
            .collect()
    }
}

/// The nearest project from a folder upwards that has the file.
fn project(from: &Path) -> Option<&Path> {
    from.ancestors().find(|folder| folder.join(FILE).is_file())
}

/// The user that a project's file, or a folder that it lies in, belongs to, if that is neither this one nor root:
/// who may write there decides what a command does.
fn stranger(file: &Path) -> Option<u32> {
    let own = rustix::process::geteuid().as_raw();
    let owners = file
        .ancestors()
        .take(3)
        .filter_map(|path| Some(std::fs::metadata(path).ok()?.uid()));
    foreign(own, owners)
}

/// The first of these owners that is neither this user nor root.
fn foreign(own: u32, owners: impl IntoIterator<Item = u32>) -> Option<u32> {
    owners.into_iter().find(|owner| *owner != own && *owner != 0)
}

/// The command in which these options have these defaults.
fn with_defaults(command: Command, name: &str, options: Vec<(&'static str, OsString)>) -> Command {
    command.mut_subcommand(name, |command| {
        options.into_iter().fold(command, |command, (option, value)| {
            // Clap keeps defaults as long as the program runs.
            let value: &'static OsString = Box::leak(Box::new(value));
            command.mut_arg(option, |arg| arg.default_value(value.as_os_str()))
        })
    })
}

/// Parses a command line, with the defaults of the project in which a folder lies. The second value is a sentence about
/// these defaults for the user; `None` if none apply.
///
/// # Errors
/// Clap's for the command line, which is no error if help was asked for; [`Usage`] for the file.
pub fn parse(line: Vec<OsString>, folder: &Path) -> Result<(Arguments, Option<String>)> {
    let given = Arguments::command().try_get_matches_from(&line)?;
    let name = given.subcommand_name().unwrap_or_default();
    let takes = TAKEN.iter().any(|(command, _)| *command == name);
    let Some(project) = project(folder).filter(|_| takes) else {
        return Ok((Arguments::from_arg_matches(&given)?, None));
    };
    let file = project.join(FILE);
    if let Some(owner) = stranger(&file) {
        let told = format!("{} is not read: it belongs to user {owner}, not to you", file.display());
        return Ok((Arguments::from_arg_matches(&given)?, Some(told)));
    }
    // The shortest path from here.
    let here = if project == folder { Path::new("") } else { project };
    let text = files::read_to_string(&file, files::SETTINGS).map_err(|error| error.to_string());
    let defaults = text.and_then(|text| Defaults::read(&text, here)).map_err(|why| {
        Usage(format!(
            "the defaults in {}: {why}: mend the file or remove it",
            file.display()
        ))
    })?;
    let options = defaults.for_line(name, &given);
    let words: String = options
        .iter()
        .map(|(option, value)| format!(" --{option} {}", value.to_string_lossy()))
        .collect();
    let told = (!words.is_empty()).then(|| format!("{} gives{words}", file.display()));
    let matches = with_defaults(Arguments::command(), name, options).try_get_matches_from(&line)?;
    Ok((Arguments::from_arg_matches(&matches)?, told))
}

#[cfg(test)]
mod tests {
    use super::super::args::Command;
    use super::*;
    use crate::planning::spec::RunSpec;

    /// What a command line in a folder of this project, or the project itself, makes of this file.
    fn parsed(file: &str, below: &str, line: &str) -> Result<(Command, Option<String>)> {
        let project = tempfile::tempdir()?;
        let folder = project.path().join(below);
        std::fs::create_dir_all(&folder)?;
        std::fs::create_dir_all(project.path().join(".config"))?;
        std::fs::write(project.path().join(FILE), file)?;
        let (arguments, told) = parse(format!("zooquake {line}").split(' ').map(Into::into).collect(), &folder)?;
        let told = told.map(|told| told.replace(&format!("{}/", project.path().display()), ""));
        Ok((arguments.command, told))
    }

    fn run(file: &str, line: &str) -> RunSpec {
        match parsed(file, "", line).unwrap().0 {
            Command::Run(spec) => spec,
            other => panic!("{other:?}"),
        }
    }

    const ALL: &str = "zookeeper = \"trixie\"\ntiming = \"500/4/4000\"\nclients = 7\nout = \"target/runs\"\n";

    #[test]
    fn the_file_gives_what_the_line_does_not() {
        let (_, told) = parsed(ALL, "", "run lock/fenced").unwrap();
        let gives = ".config/zooquake.toml gives --zookeeper trixie --timing 500/4/4000 --clients 7 --out target/runs";
        assert_eq!(told.unwrap(), gives);
        let spec = run(ALL, "run lock/fenced --clients 3");
        assert_eq!((spec.zookeeper.as_deref(), spec.clients), (Some("trixie"), Some(3)));
        assert_eq!((spec.timing.unwrap().tick_ms, spec.out), (500, "target/runs".into()));
        let spec = run(ALL, "run lock/fenced --on sim");
        assert_eq!((spec.zookeeper, spec.clients), (None, Some(7)));
        assert_eq!(run("", "run lock/fenced"), RunSpec::new("lock/fenced"));
    }

    #[test]
    fn a_line_with_a_seed_draws_its_plan_in_every_project() {
        let spec = run(ALL, "run lock/fenced --seed 7");
        let expected = RunSpec {
            seed: Some(7),
            out: "target/runs".into(),
            ..RunSpec::new("lock/fenced")
        };
        assert_eq!(spec, expected);
    }

    #[test]
    fn a_plan_in_a_file_is_played_as_it_stands_in_every_project() {
        let spec = run(ALL, "run --plan plan.json");
        let expected = RunSpec {
            plan_file: Some("plan.json".into()),
            out: "target/runs".into(),
            ..RunSpec::new("")
        };
        assert_eq!(spec, expected);
    }

    #[test]
    fn a_comparison_of_consensus_protocols_takes_no_zookeeper_and_no_clients() {
        let compared = |family: &str| match parsed(ALL, "", &format!("compare {family}")).unwrap() {
            (Command::Compare(options), told) => (options.zookeeper.len(), options.clients, told.is_some()),
            other => panic!("{other:?}"),
        };
        assert_eq!(compared("lock"), (1, Some(7), true));
        assert_eq!(compared("consensus"), (0, None, false));
    }

    #[test]
    fn runs_of_a_project_are_kept_in_one_folder() {
        let (command, told) = parsed(ALL, "a/b", "explore lock/fenced").unwrap();
        assert!(told.unwrap().ends_with("gives --out target/runs"));
        match command {
            Command::Explore(options) => assert!(options.out.is_absolute() && options.out.ends_with("target/runs")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn mistakes_name_the_file_and_concern_only_commands_that_take_it() {
        let wrong = |file: &str, part: &str| {
            let error = parsed(file, "", "run lock/fenced").unwrap_err();
            let said = format!("{error:#}");
            assert!(said.contains(FILE) && said.contains(part), "{said}");
            assert!(parsed(file, "", "clean").is_ok());
        };
        wrong("clients = 0", "`clients`: ");
        wrong("zookeeper = \"3.9.3\"", "`zookeeper`: `3.9.3` is a version");
        wrong("timing = \"soon\"", "`timing`: ");
        wrong("image = \"trixie\"", "zookeeper");
        wrong("clients =", "line 1");
    }

    #[test]
    fn a_file_of_another_user_is_not_read() {
        assert_eq!(foreign(1000, [1000, 0, 1000]), None);
        assert_eq!(foreign(0, [0, 1001]), Some(1001));
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join(".config")).unwrap();
        std::fs::write(project.path().join(FILE), "clients = 7").unwrap();
        // Only root may give a file away.
        if std::os::unix::fs::chown(project.path(), Some(12_345), None).is_err() {
            return;
        }
        let line = ["zooquake", "run", "lock/fenced"].map(Into::into).to_vec();
        let (arguments, told) = parse(line, project.path()).unwrap();
        assert!(
            told.unwrap()
                .ends_with("is not read: it belongs to user 12345, not to you")
        );
        match arguments.command {
            Command::Run(spec) => assert_eq!(spec.clients, None),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_wrong_usage() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join(".config")).unwrap();
        std::fs::write(project.path().join(FILE), b"\xff").unwrap();
        let line = ["zooquake", "run", "lock/fenced"].map(Into::into).to_vec();
        let error = parse(line, project.path()).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains(FILE), "{error}");
    }

    #[test]
    fn every_option_that_the_file_can_give_is_one() {
        let all = Defaults::read(ALL, Path::new("")).unwrap();
        for (name, options) in TAKEN {
            let options = options
                .iter()
                .map(|option| (*option, all.default_value(option).unwrap()));
            with_defaults(Arguments::command(), name, options.collect()).debug_assert();
        }
    }
}
