//! The file in a pack that explains it to a reader who has no zooquake.

use crate::backends::{docker, sim};
use crate::judge::ORDER_PAGE;
use crate::planning::admission;
use crate::planning::case::Case;
use crate::shell;
use crate::terminal::line;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use zooquake_checkers::Results;
use zooquake_history::{Provenance, Record};

/// Its name, in the run's folder.
pub const NAME: &str = "README.txt";

/// What it begins with; a file of the same name that begins otherwise is not ours.
pub const OPENING: &str = "This is one run of zooquake,";

/// The files and folders of a run's folder, and what each holds.
const CONTENTS: [(&str, &str); 19] = [
    ("report.html", "the report: one page that fetches nothing"),
    (
        ORDER_PAGE,
        "the operations of a register, and the longest order of them",
    ),
    ("results.json", "the verdict, and what it rests on"),
    ("plan.json", "all that decides the run"),
    ("history.jsonl", "every event of the run, one a line"),
    (
        "provenance.json",
        "the zooquake, the engine and the ZooKeeper that recorded the run",
    ),
    ("tree.json", "the znodes at the end"),
    ("txnlog.jsonl", "ZooKeeper's transaction logs, merged"),
    ("txnlogs.json", "how whole the log of each server is"),
    ("servers.jsonl", "what the servers answered about themselves"),
    (
        "messages.jsonl",
        "of a consensus protocol: every message of its nodes, one a line",
    ),
    ("containers.json", "what finds all that the run started on the engine"),
    ("logs", "the logs of servers and clients"),
    ("recipe", "the files of the recipe that was run"),
    ("timeline.png", "the whole run in a picture"),
    ("latency.png", "how long operations took"),
    ("rate.png", "how many operations were answered, by time"),
    ("messages.png", "of a consensus protocol: the messages of its nodes"),
    ("difference.html", "this run beside the one that it replays"),
];

/// The run that a pack holds.
pub struct PackedRun<'a> {
    /// The name of its folder.
    pub name: &'a str,
    pub record: &'a Record,
    /// What it is of; `None` if that cannot be run.
    pub case: Option<&'a Case>,
    /// `None` of a run that was not checked, or whose results cannot be read.
    pub results: Option<&'a Results>,
}

/// The text of the file, for a pack under this name that holds these files, given relative to the run's folder.
pub fn text(run: &PackedRun<'_>, pack: &Path, files: &[PathBuf]) -> String {
    let Record { plan, provenance, .. } = run.record;
    let there = |name: &str| files.iter().any(|file| file.starts_with(name));
    let verdict = match run.results {
        Some(results) => format!("The verdict is {}.", results.verdict),
        None if there("results.json") => "Its results cannot be read.".to_owned(),
        None => "It was not checked yet.".to_owned(),
    };
    let faults = match plan.faults.as_slice() {
        [] => "no faults".to_owned(),
        faults => line(&faults.join(", ")),
    };
    let recorder = provenance.as_ref().and_then(Provenance::recorder);
    let recorder = recorder.map_or_else(String::new, |recorder| {
        format!(" It was recorded by zooquake {}.", line(&recorder))
    });
    let mut text = format!(
        "{OPENING} which runs recipes of ZooKeeper under faults and judges what was recorded.\n\n\
         {} under {faults}, seed {}. {verdict}{recorder}\n\n",
        line(&plan.workload.name()),
        plan.seed
    );
    text += match there("report.html") {
        true => {
            "To look at it, unpack it and open report.html in a browser. The page needs no network and no zooquake.\n\n"
        }
        false => "It has no report; `zooquake check` makes one.\n\n",
    };
    text += "To judge it again, and to run its plan again:\n\n";
    for command in commands("zooquake", pack, run.name, run.case) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {command}");
    }
    text += &run.case.map(elsewhere).unwrap_or_default();
    text += "\nThe files, of which each may be compressed, with .gz after its name:\n\n";
    let compressed = |name: &str| there(name) || there(&format!("{name}.gz"));
    for (name, what) in CONTENTS.iter().filter(|(name, _)| compressed(name)) {
        let _ = writeln!(text, "    {name:<16}  {what}");
    }
    text
}

/// The command lines that unpack a pack here, check its run and replay its case with this program; one that cannot be
/// written for a shell is left out.
pub fn commands(program: &str, pack: &Path, run: &str, case: Option<&Case>) -> Vec<String> {
    let path = |text: &Path| shell::path(text);
    let unpack = shell::line_from("tar", [OsString::from("xzf"), path(pack)]);
    let run = path(Path::new(run));
    let replay = case.and_then(|case| {
        let exact = case.plan().replay_of.is_some().then(|| "--exact".into());
        shell::line_from(
            program,
            [OsString::from("replay"), run.clone()].into_iter().chain(exact),
        )
    });
    let check = shell::line_from(program, [OsString::from("check"), run]);
    [unpack, check, replay].into_iter().flatten().collect()
}

/// What a replay needs, and where else the plan can be run.
fn elsewhere(case: &Case) -> String {
    let simulated = admission::case_on(&sim::KIND, case);
    let real = admission::case_on(&docker::KIND, case).is_ok();
    match (case.plan().on.is_real(), simulated) {
        (true, Ok(())) => {
            "\n`replay` needs a Docker engine; `replay --on sim` needs none and plays a model of ZooKeeper.\n"
                .to_owned()
        }
        (true, Err(why)) => format!("\n`replay` needs a Docker engine: {}.\n", line(&why)),
        (false, _) if real => {
            "\nThe ensemble was simulated; `replay --on docker` runs the plan on a real one.\n".to_owned()
        }
        (false, _) => "\n`replay` needs no Docker engine.\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::spec::RunSpec;
    use crate::run::simulation;
    use zooquake_history::plan::RecipeSource;

    #[test]
    fn each_file_of_a_run_has_its_words() {
        let plan = RunSpec::from_args("lock/fenced --on sim --faults none --time 2s --seed 7".split(' '));
        let case = plan.unwrap().case().unwrap();
        let out = tempfile::tempdir().unwrap();
        let run = simulation::run(&case, out.path()).unwrap();
        let (name, record) = (run.folder.name(), run.folder.load().unwrap());
        let entries = std::fs::read_dir(&run.folder.path).unwrap();
        let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
        let packed = PackedRun {
            name: &name,
            record: &record,
            case: Some(&case),
            results: Some(&run.results),
        };
        let text = text(&packed, Path::new("it's mine.tar.gz"), &files);
        assert!(files.len() > 10, "{files:?}");
        for file in files {
            assert!(
                text.contains(&format!("\n    {}  ", file.display())),
                "{file:?}: {text}"
            );
        }
        let commands =
            format!("    tar xzf \"it's mine.tar.gz\"\n    zooquake check {name}\n    zooquake replay {name}\n");
        assert!(text.contains(&commands), "{text}");
        assert!(text.starts_with(OPENING) && text.contains(&format!("The verdict is {}.", run.results.verdict)));
        assert!(text.contains(crate::version::FULL), "{text}");
    }

    #[test]
    fn a_replay_is_promised_only_where_the_plan_can_be_run() {
        let said = |line: &str| elsewhere(&RunSpec::from_args(line.split(' ')).unwrap().case().unwrap());
        assert!(said("lock/fenced --on docker").contains("`replay --on sim` needs none"));
        assert!(said("lock/fenced --on sim").contains("`replay --on docker` runs the plan"));
        assert!(said("consensus/paxos").contains("needs no Docker engine"));
        let scenes = said("ensemble/textbook");
        assert!(
            scenes.contains("needs a Docker engine: ensemble/textbook") && !scenes.contains("--on sim"),
            "{scenes}"
        );
        let case = RunSpec::from_args(["lock/fenced"]).unwrap().case().unwrap();
        let own = case.changed(|mut plan| {
            plan.workload.variant = "mine".to_owned();
            plan.workload.recipe = Some(RecipeSource::default());
            plan
        });
        let own = elsewhere(&own);
        assert!(
            own.contains("is a program of its own") && !own.contains("--on sim"),
            "{own}"
        );
    }

    #[test]
    fn nothing_of_a_foreign_plan_begins_a_line_or_is_run() {
        let mut record = Record::default();
        record.plan.workload.variant = "x\n    rm -r ~\u{1b}[2J".into();
        let packed = PackedRun {
            name: "-r $(touch x)",
            record: &record,
            case: None,
            results: None,
        };
        let text = text(&packed, Path::new("-p.tar.gz"), &[]);
        assert!(!text.contains("\n    rm") && !text.contains('\u{1b}'), "{text}");
        assert!(
            text.contains("tar xzf ./-p.tar.gz\n    zooquake check './-r $(touch x)'\n"),
            "{text}"
        );
        assert!(
            !text.contains("zooquake replay") && text.contains("not checked"),
            "{text}"
        );
    }
}
