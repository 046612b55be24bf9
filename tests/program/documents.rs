//! The documents hold: each of their lines that begins with `zooquake` is run as a reader's shell would run it, in
//! order, in a folder of its page. Where it would bring up a real ensemble it is played on a simulated one, and where
//! it would take minutes it does less.

use crate::common::{output_of, owner, without_engine};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;

/// Lines for which no simulation takes an engine's place, and why. They are run where none answers, and must get as far
/// as that. So must all that name a recipe of one's own, whose program is never simulated.
const NEEDS_ENGINE: [(&str, &str); 22] = [
    ("clean", "an engine keeps what a crashed run left"),
    ("clean --hosts unix:///run/a.sock,ssh://me@b", "hosts have engines"),
    (
        "compare lock --variants fenced --zookeeper bookworm,trixie --faults partition",
        VERSION,
    ),
    ("explore lock/predecessor --faults drop-reply --confirm", CONFIRMS),
    ("explore queue/fifo --confirm --confirm-times 10 --json", CONFIRMS),
    ("images", "an engine keeps images"),
    ("measure channel", MEASURES),
    ("measure clients", MEASURES),
    ("measure commit", MEASURES),
    ("measure herd", MEASURES),
    ("replay runs/latest --on docker", "asks for an engine"),
    ("run ensemble/textbook", ELECTS),
    ("run ensemble/textbook --seed 1", ELECTS),
    ("run ensemble/textbook --zookeeper trixie", ELECTS),
    ("run lock/fenced --faults pause --time 20s --live", LIVE),
    (
        "run lock/fenced --hosts unix:///run/a.sock,ssh://me@b --faults host-kill --time 20s",
        HOSTS,
    ),
    (
        "run lock/fenced --hosts unix:///run/a.sock,ssh://me@b --faults host-kill,host-partition --time 20s",
        HOSTS,
    ),
    (
        "run lock/fenced --hosts unix:///run/a.sock,ssh://me@b --place n1=h1,n2=h2,c1=h2",
        HOSTS,
    ),
    (
        "run lock/fenced --hosts unix:///run/a.sock,ssh://me@b --time 20s",
        HOSTS,
    ),
    ("run lock/predecessor --live", LIVE),
    ("selftest L12 --confirm", CONFIRMS),
    ("shrink runs/latest --on docker --budget 1h", "asks for an engine"),
];
const CONFIRMS: &str = "a failure is confirmed on a real ensemble";
const ELECTS: &str = "ZooKeeper's own elections are not simulated";
const HOSTS: &str = "a simulated ensemble stands on no hosts";
const LIVE: &str = "a simulated run is over before anybody looks";
const MEASURES: &str = "what is measured is a real ensemble";
const VERSION: &str = "a simulated ensemble has no version";

/// Lines that are not run at all.
const NOT_RUN: [(&str, &str); 2] = [
    ("selftest", "takes minutes; the tests of src/selftest have a part of it"),
    ("selftest C1 C2 C3 C4 C5 C6 C7", "takes 10 s, and is tested there too"),
];

/// What pages take for granted that stands in the reader's folder: the lines that make it, of a shell.
const PREPARED: [(&str, &str); 6] = [
    (
        "docs/first-recipe.md",
        "zooquake run lock/predecessor --on sim --seed 1",
    ),
    (
        "docs/log/measurements.md",
        "zooquake new lock my-lock --language python",
    ),
    (
        "docs/nightly.md",
        r#"printf 'variants = ["lock/*d"]\nfaults = ["pause"]\non = "sim"\n' > campaign.toml
        for part in 1 2; do zooquake nightly campaign.toml --shard "$part/2" --out "parts/$part"; done"#,
    ),
    (
        "docs/replaying.md",
        "zooquake run lock/predecessor --on sim --seed 1
        cp -r runs/latest/ 20260301T021500-lock-fenced-7",
    ),
    (
        "docs/reports.md",
        "for run in first second; do
            zooquake run lock/predecessor --on sim --seed 1; cp -r runs/latest/ \"runs/$run\"
        done",
    ),
    (
        "docs/schedules.md",
        r#"printf '[[window]]\nfault = "pause"\nvictim = "holder"\nat = "5s"\nfor = "3s"\n' > faults.toml
        zooquake run consensus/paxos --seed 1; cp runs/latest/plan.json plan.json"#,
    ),
];

/// The README and all below `docs/`, seen from the repository.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = walkdir::WalkDir::new(root.join("docs")).sort_by_file_name();
    let below = below.into_iter().map(|entry| entry.expect("the documents").into_path());
    let pages = below.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let pages = std::iter::once(root.join("README.md")).chain(pages);
    let seen_from_root = |page: PathBuf| page.strip_prefix(root).expect("a page of the repository").to_owned();
    pages.map(seen_from_root).collect()
}

/// The arguments of the commands of a page: lines of its indented and fenced blocks, also behind a prompt. Two spaces
/// separate a command from what explains it.
fn commands(text: &str) -> Vec<String> {
    let mut fenced = false;
    let in_block = |line: &&str| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fence && (fenced || line.starts_with("    "))
    };
    let command = |line: &str| {
        let line = line.trim_start();
        let command = line.strip_prefix("$ ").unwrap_or(line).strip_prefix("zooquake ")?;
        Some(command.split("  ").next().unwrap_or_default().to_owned())
    };
    text.lines().filter(in_block).filter_map(command).collect()
}

/// The words of a command.
struct CommandWords(Vec<String>);

impl CommandWords {
    fn value(&mut self, option: &str) -> Option<&mut String> {
        let at = self.0.iter().position(|word| word == option)?;
        self.0.get_mut(at + 1)
    }

    /// Gives an option this value, whether it has one or not.
    fn set(&mut self, option: &str, value: &str) {
        match self.value(option) {
            Some(given) => value.clone_into(given),
            None => self.0.extend([option.to_owned(), value.to_owned()]),
        }
    }

    /// Lowers the number that an option has.
    fn lower(&mut self, option: &str, most: u32) {
        if let Some(given) = self.value(option) {
            *given = given.parse::<u32>().expect("a number").min(most).to_string();
        }
    }

    /// Draws from a seed that is known where the line leaves that to chance.
    fn seed(&mut self) {
        if self.value("--seed").is_none() {
            self.set("--seed", "1");
        }
    }
}

/// The line as it is played without an engine, from a seed that is known, and within seconds.
fn adapted(command: &str) -> String {
    let mut words = CommandWords(command.split(' ').map(str::to_owned).collect());
    let subject = words.0.get(1).cloned().unwrap_or_default();
    let of_network = subject.starts_with("consensus");
    if words.value("--plan").is_some() {
        // It has a seed, and a place where it runs.
        return words.0.join(" ");
    }
    words.lower("--times", 2);
    match words.0[0].as_str() {
        "run" => words.seed(),
        "compare" if !of_network => {
            words.set("--times", "1");
            if let Some(faults) = words.value("--faults") {
                *faults = faults.split(',').next().unwrap_or_default().to_owned();
            }
        }
        "explore" => {
            words.seed();
            match words.value("--schedules") {
                Some(_) => words.lower("--schedules", 30),
                None => words.set("--schedules", "30"),
            }
            words.set("--budget", "2s");
        }
        "nightly" if subject.is_empty() || subject.starts_with("--") => words.set("--shard", "1/30"),
        _ => {}
    }
    if ["run", "compare", "nightly"].contains(&words.0[0].as_str()) && !of_network {
        words.set("--on", "sim");
    }
    words.0.join(" ")
}

/// The folder of a page's reader, and the shell in it.
struct Reader {
    folder: TempDir,
}

impl Reader {
    /// With the documents beside, as in a checkout, and what the page takes for granted.
    fn of(page: &Path) -> Self {
        let reader = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        std::os::unix::fs::symlink(documents, reader.folder.path().join("docs")).expect("a link to the documents");
        for (_, lines) in PREPARED.iter().filter(|(prepared, _)| Path::new(prepared) == page) {
            output_of(&mut reader.shell(&format!("{lines} >/dev/null || [ $? = 1 ]"))).ends(0);
        }
        reader
    }

    /// Finds the program by its name, no engine, and the part that a CI system's variables name.
    fn shell(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_zooquake"))
            .parent()
            .expect("a folder of programs");
        let path = std::env::var("PATH").expect("the folders of programs");
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.folder.path());
        shell.env("PATH", format!("{}:{path}", program.display()));
        shell.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
        shell.env("ZOOQUAKE_SHARD", "1/2").env("ZOOQUAKE_OWNER", owner());
        shell
    }

    /// What is wrong with what a command does.
    fn complaint(&self, command: &str) -> Option<String> {
        // The comparisons of a page are alternatives; none goes on with another.
        let compared = self.folder.path().join("compare");
        if command.starts_with("compare") && compared.exists() {
            std::fs::remove_dir_all(compared).expect("removing a comparison");
        }
        let own_recipe = !command.starts_with("new") && command.contains(" ./") || command.contains(",./");
        if own_recipe || listed(&NEEDS_ENGINE, command) {
            let output = output_of(&mut self.shell(&format!("zooquake {command}")));
            let stopped = output.code == Some(255) && output.has("no Docker engine answers");
            return (!stopped).then(|| format!("should end for want of an engine, and ends with {output}"));
        }
        let adapted = adapted(command);
        let output = output_of(&mut self.shell(&format!("zooquake {adapted}")));
        (!matches!(output.code, Some(0 | 1))).then(|| format!("as {adapted:?} ends with {output}"))
    }
}

fn listed(list: &[(&str, &str)], command: &str) -> bool {
    list.iter().any(|(line, _)| *line == command)
}

#[test]
fn the_readme_shows_what_its_first_run_prints() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    let indented = |line: &&str| line.starts_with("    ");
    let first = readme.lines().find(indented).expect("a line to run");
    let line = first
        .trim_start()
        .strip_prefix("cargo run --release -- ")
        .expect("from a checkout");
    let folder = tempfile::tempdir().expect("a folder");
    let output = output_of(without_engine(line).current_dir(folder.path())).ends(1);
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed = one_line(&output.stdout);
    let shown = readme.lines().skip_while(|line| !line.starts_with("    verdict: "));
    // The folder of a run goes by its time.
    let shown = shown.take_while(|line| indented(line) && !line.contains("report: "));
    let shown = one_line(&shown.collect::<Vec<_>>().join("\n"));
    for part in shown.split("[…]").map(str::trim) {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
}

#[test]
fn every_line_of_the_documents_does_what_it_says() {
    let pages = pages().into_iter().map(|page| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&page)).expect("a page");
        (page, commands(&text))
    });
    let pages: Vec<_> = pages.filter(|(_, commands)| !commands.is_empty()).collect();
    let all: BTreeSet<&str> = pages.iter().flat_map(|(_, lines)| lines).map(String::as_str).collect();
    for (line, _) in NEEDS_ENGINE.iter().chain(&NOT_RUN) {
        assert!(all.contains(line), "no page has the line {line:?} any more");
    }
    let waiting = Mutex::new(pages.iter());
    let complaints = Mutex::new(Vec::new());
    let worker = || {
        while let Some((page, commands)) = { waiting.lock().expect("the pages").next() } {
            let reader = Reader::of(page);
            for command in commands.iter().filter(|command| !listed(&NOT_RUN, command)) {
                if let Some(complaint) = reader.complaint(command) {
                    let place = page.display();
                    complaints
                        .lock()
                        .expect("complaints")
                        .push(format!("{place}: {command}: {complaint}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(worker);
        }
    });
    let complaints = complaints.into_inner().expect("complaints");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
