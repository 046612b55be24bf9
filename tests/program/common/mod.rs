//! Running the real program, on a machine that has room for three small ensembles at most.
#![allow(dead_code, reason = "every test binary uses a part of this")]

pub mod jepsen;
mod program_output;
mod run_files;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[allow(unused_imports, reason = "every test binary uses a part of this")]
pub use program_output::{ProgramOutput, call, ended, output_of, owner, refused, without_engine, zooquake};
#[allow(unused_imports, reason = "every test binary uses a part of this")]
pub use run_files::{RunFiles, checks_again_to_the_same_bytes, document, run, short, valid};

/// The images of runs, made if they are missing: tests bound the time that a run takes, and making them takes minutes.
static IMAGES: LazyLock<()> = LazyLock::new(|| {
    call("images").ends(0);
});

/// The right to have an ensemble up, for as long as it is held: of up to three tests, whose short runs mostly wait.
/// Also of the tests of other processes.
pub struct EnsembleSlot {
    locked: File,
}

impl EnsembleSlot {
    /// Waits until at most two others are held.
    ///
    /// # Panics
    /// If an image cannot be made, there is no slot within half an hour, or a lock file cannot be made.
    pub fn shared() -> Self {
        LazyLock::force(&IMAGES);
        let free = || Self::slots().into_iter().find(|slot| slot.try_lock().is_ok());
        let locked = until("a slot for an ensemble", Duration::from_secs(1800), free);
        Self { locked }
    }

    fn slots() -> [File; 3] {
        [1, 2, 3].map(|slot| {
            let path = std::env::temp_dir().join(format!("zooquake-tests-ensemble-{slot}.lock"));
            File::create(&path).expect("a lock file in the temporary folder")
        })
    }

    /// Keeps it until this process, and every program that it starts from now on, has ended.
    pub fn inherit(self) {
        rustix::io::fcntl_setfd(&self.locked, rustix::io::FdFlags::empty()).expect("a lock that children inherit");
        std::mem::forget(self);
    }
}

/// A folder for runs that goes away with the test, unless the test fails: then its runs can be looked at.
pub struct Runs {
    path: PathBuf,
}

impl Runs {
    pub fn new(name: &str) -> Self {
        // Tests of one process may give theirs the same name.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("zooquake-test-{name}-{process}-{number}"));
        std::fs::create_dir_all(&path).expect("a folder for runs");
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The runs in it.
    fn folders(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.path)
            .expect("the folder of runs")
            .map(|e| e.expect("an entry").path())
            .filter(|p| p.is_dir() && !p.is_symlink())
            .collect()
    }

    /// The only run in it.
    pub fn only(&self) -> PathBuf {
        let runs = self.folders();
        assert_eq!(runs.len(), 1, "runs in {}: {runs:?}", self.path.display());
        runs.into_iter().next().expect("one")
    }

    /// The id of the only run in it, which its containers carry.
    pub fn id(&self) -> String {
        run_id(&self.only())
    }

    /// The filter by which the engine lists what belongs to the only run in it.
    pub fn label(&self) -> String {
        format!("label=zooquake.run={}", self.id())
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the runs of this test are in {}", self.path.display());
        } else {
            std::fs::remove_dir_all(&self.path).expect("removing the folder of runs");
        }
    }
}

/// The id of the run in this folder, which its containers carry.
pub fn run_id(run: &Path) -> String {
    let containers = document(run, "containers.json");
    containers["run"].as_str().expect("the run's id").to_string()
}

/// Starts `zooquake run` and leaves it running.
pub fn start(runs: &Runs, line: &str) -> Child {
    let mut command = zooquake(&format!("run {line} --out"));
    command.arg(runs.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("starting zooquake")
}

/// Sends a signal to a process.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(child.id().to_string())
        .status();
    assert!(sent.expect("the kill program").success(), "sending {name}");
}

/// Polls until the condition gives something.
pub fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(
            begun.elapsed() < limit,
            "{what} did not come about in {} s",
            limit.as_secs()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The history of the only run, as it stands on disk.
pub fn history(runs: &Runs) -> String {
    std::fs::read_to_string(runs.only().join("history.jsonl")).unwrap_or_default()
}

/// Waits until the history of the run has a line with all of these.
pub fn recorded(runs: &Runs, parts: &[&str]) {
    until(&format!("an event with {parts:?}"), Duration::from_secs(120), || {
        let made = !runs.folders().is_empty();
        let has = |line: &str| parts.iter().all(|part| line.contains(part));
        (made && history(runs).lines().any(has)).then_some(())
    });
}

/// What `docker` prints.
pub fn docker(arguments: &[&str]) -> String {
    let output = output_of(Command::new("docker").args(arguments)).ends(0);
    output.stdout.trim().to_string()
}

/// The containers, networks and volumes of this test that are there.
pub fn left_behind() -> Vec<String> {
    with_label(&format!("label=zooquake.owner={}", owner()))
}

fn with_label(label: &str) -> Vec<String> {
    listed(&[
        ("container", &["ps", "-aq", "--filter", label]),
        ("network", &["network", "ls", "-q", "--filter", label]),
        ("volume", &["volume", "ls", "-q", "--filter", label]),
    ])
}

fn listed(kinds: &[(&str, &[&str])]) -> Vec<String> {
    let listed: Vec<_> = kinds
        .iter()
        .map(|(kind, arguments)| (*kind, docker(arguments)))
        .collect();
    let named = |(kind, ids): &(&str, String)| {
        let ids = ids.lines().filter(|id| *kind != "network" || !miscounted(id));
        ids.map(|id| format!("{kind} {id}")).collect::<Vec<_>>()
    };
    listed.iter().flat_map(named).collect()
}

/// Whether the engine refuses to remove a network for endpoints that it does not list: it has lost count of them
/// (moby#42119), and removes the network when it is restarted.
fn miscounted(network: &str) -> bool {
    let endpoints = docker(&["network", "inspect", "--format", "{{len .Containers}}", network]);
    let removal = output_of(Command::new("docker").args(["network", "rm", network]));
    let miscounted = endpoints == "0" && removal.has("has active endpoints");
    if miscounted {
        eprintln!("the engine has lost count of the endpoints of the network {network}: {removal}");
    }
    miscounted
}

/// The containers, networks and volumes of a run, which another test's may stand beside.
pub fn left_of(run: &str) -> Vec<String> {
    with_label(&format!("label=zooquake.run={run}"))
}

/// Fails if something of a run is left.
#[track_caller]
pub fn assert_nothing_left_of(run: &str) {
    assert_eq!(left_of(run), Vec::<String>::new(), "something is left of {run}");
}

/// Has `clean` with these options remove the run that they end with. Nothing is left of it then but a network whose
/// endpoints the engine has lost count of.
#[track_caller]
pub fn clean_up(options: &str, run: &str) {
    let output = output_of(zooquake(&format!("clean {options}")).arg(run));
    let kept = |line: &&str| line.contains("could not remove");
    let mut kept = output.stdout.lines().filter(kept).peekable();
    let lost_count = kept.peek().is_some() && kept.all(|line| line.contains("in which the engine lists nothing"));
    let expected = if lost_count { 255 } else { 0 };
    assert_eq!(output.code, Some(expected), "{output}");
    assert_nothing_left_of(run);
}

/// Fails if a container, network or volume of this test is left.
#[track_caller]
pub fn assert_nothing_left() {
    assert_eq!(left_behind(), Vec::<String>::new(), "something is left");
}

/// The results of a run in which nothing was found.
pub const NO_RESULTS: &str = r#"{"verdict":"valid","anomalies":[],"reasons":[],"windows":[],"checkers":{},"stats":{}}"#;

/// A run that no ensemble is needed for: a plan and no events.
pub fn hand_made(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("history.jsonl"), "").unwrap();
    std::fs::write(
        folder.join("plan.json"),
        r#"{"format":1,"seed":7,"workload":{"family":"lock","variant":"fenced","promise":"","resource":"external",
            "fenced":true,"contenders":["/lock"],"accepted":[]},"cluster":{"servers":3,"clients":1,"image":null,"timing":
            {"tick_ms":250,"init_limit":20,"sync_limit":4,"session_ms":2000}},"time_ms":5000,"faults":["pause"],
            "windows":[],"clients":[{"cycles":[]}]}"#,
    )
    .unwrap();
}

/// A run on as few containers as there can be.
pub const SMALL: &str = "lock/fenced --servers 1 --clients 2 --seed 1";

/// The image of the clients.
pub fn tools_image() -> String {
    let images = call("images --json").json();
    let mut images = images["images"].as_array().expect("a list").iter();
    let tools = images.find(|image| image["role"] == "tools");
    let name = tools.expect("the image of the clients")["name"].as_str();
    name.expect("a name").to_string()
}
