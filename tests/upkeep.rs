//! What is left when a run is stopped: by Ctrl-C, SIGHUP and SIGKILL, or loses its reader; and what `clean` removes.

mod common;

use common::{OneEnsemble, Runs, assert_nothing_left, docker, history, signal, start, until, zooquake};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until the history of the run has a line with all of these.
fn recorded(runs: &Runs, parts: &[&str]) {
    until(&format!("an event with {parts:?}"), PATIENCE, || {
        let made = std::fs::read_dir(runs.path())
            .ok()?
            .flatten()
            .any(|entry| entry.path().is_dir());
        let text = if made { history(runs) } else { String::new() };
        text.lines()
            .any(|line| parts.iter().all(|part| line.contains(part)))
            .then_some(())
    });
}

#[test]
fn ctrl_c_heals_clears_away_and_still_checks() {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("interrupted");
    let child = start(
        &runs,
        &["lock/fenced", "--faults", "pause", "--time", "60s", "--seed", "1"],
    );
    recorded(&runs, &["\"f\":\"pause\"", "\"phase\":\"on\""]);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(2), "an interrupted run is unknown: {text}");
    assert!(text.contains("interrupted"), "{text}");
    assert!(runs.only().join("results.json").exists() && runs.only().join("report.html").exists());
    assert!(history(&runs).contains("\"phase\":\"off\""), "the pause was healed");
    assert_nothing_left();
}

#[test]
fn ctrl_c_in_recovery_says_what_it_does() {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("interrupted-recovery");
    let child = start(
        &runs,
        &["lock/fenced", "--faults", "none", "--time", "3s", "--seed", "1"],
    );
    recorded(&runs, &["\"value\":\"recover\""]);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(2), "an interrupted run is unknown: {text}");
    assert!(text.contains("interrupted: giving up the recovery"), "{text}");
    assert!(history(&runs).contains("\"interrupted\""));
    assert_nothing_left();
}

#[test]
fn after_sigkill_nothing_stays_frozen_or_cut_and_clean_removes_the_rest() {
    let _turn = OneEnsemble::wait();
    for (fault, sign) in [("pause", "paused"), ("partition", "cut")] {
        let runs = Runs::new(&format!("killed-{fault}"));
        let mut child = start(
            &runs,
            &["lock/fenced", "--faults", fault, "--time", "60s", "--seed", "1"],
        );
        recorded(&runs, &["\"phase\":\"on\""]);
        assert!(damaged(fault), "nothing is {sign} although the fault is on");
        signal(&child, "KILL");
        child.wait().expect("waiting for zooquake");
        until("healing by the watcher", Duration::from_secs(20), || {
            (!damaged(fault)).then_some(())
        });
        let checked = zooquake()
            .arg("check")
            .arg(runs.only())
            .output()
            .expect("starting zooquake");
        assert_eq!(
            checked.status.code(),
            Some(2),
            "a cut-off run is unknown: {}",
            common::text(&checked)
        );
        assert!(
            !docker(&["ps", "-aq", "--filter", "label=zooquake.run"]).is_empty(),
            "containers outlive SIGKILL"
        );
        let cleaned = zooquake().arg("clean").output().expect("starting zooquake");
        assert_eq!(cleaned.status.code(), Some(0), "{}", common::text(&cleaned));
        assert_nothing_left();
    }
}

#[test]
fn an_image_that_is_no_zookeeper_is_named_with_its_last_words() {
    let _turn = OneEnsemble::wait();
    let name = tools_image();
    let runs = Runs::new("no-zookeeper");
    let run = start(
        &runs,
        &["lock/fenced", "--zookeeper", &name, "--faults", "none", "--time", "5s"],
    );
    let output = run.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(255), "{text}");
    assert!(
        text.contains("ended instead of serving") && text.contains("docker-entrypoint.sh"),
        "{text}"
    );
    assert_nothing_left();
}

#[test]
fn sighup_heals_clears_away_and_still_checks() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    if ignored.is_some_and(|mask| mask.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f'])) {
        eprintln!("skipped: these tests run under nohup, and so would zooquake");
        return;
    }
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("hung-up");
    let child = start(&runs, &[SMALL, &["--faults", "pause", "--time", "60s"]].concat());
    recorded(&runs, &["\"f\":\"pause\"", "\"phase\":\"on\""]);
    // A closed terminal sends it more than once.
    signal(&child, "HUP");
    signal(&child, "HUP");
    let output = child.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(2), "an interrupted run is unknown: {text}");
    assert!(runs.only().join("results.json").exists(), "{text}");
    assert!(history(&runs).contains("\"phase\":\"off\""), "the pause was healed");
    assert_nothing_left();
}

#[test]
fn sigkill_while_a_pause_is_under_way_leaves_nothing_frozen() {
    let _turn = OneEnsemble::wait();
    for delay_ms in [0, 2, 5, 10] {
        let runs = Runs::new(&format!("killed-in-pause-{delay_ms}"));
        let mut child = start(&runs, &[SMALL, &["--faults", "pause", "--time", "60s"]].concat());
        until("the beginning of a pause", PATIENCE, || {
            let made = std::fs::read_dir(runs.path()).ok()?.flatten().next().is_some();
            (made && history(&runs).contains("\"phase\":\"begin\"")).then_some(())
        });
        std::thread::sleep(Duration::from_millis(delay_ms));
        signal(&child, "KILL");
        child.wait().expect("waiting for zooquake");
        // The engine needs a moment for a pause that it was asked for, the watcher one to see it.
        std::thread::sleep(Duration::from_secs(2));
        until("healing by the watcher", Duration::from_secs(10), || {
            (!damaged("pause")).then_some(())
        });
        std::thread::sleep(Duration::from_secs(1));
        assert!(!damaged("pause"), "frozen again, {delay_ms} ms after the beginning");
        let cleaned = zooquake().arg("clean").output().expect("starting zooquake");
        assert_eq!(cleaned.status.code(), Some(0), "{}", common::text(&cleaned));
        assert_nothing_left();
    }
}

#[test]
fn a_reader_that_goes_after_one_line_ends_no_run() {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("head");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = zooquake();
    command
        .arg("run")
        .args(SMALL)
        .args(["--faults", "none", "--time", "3s", "--out"]);
    let child = command
        .arg(runs.path())
        .stdout(writer.try_clone().expect("the pipe's end"))
        .stderr(writer)
        .spawn();
    let mut child = child.expect("starting zooquake");
    drop(command);
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).expect("a line");
    let status = child.wait().expect("waiting for zooquake");
    assert_eq!(status.code(), Some(0), "the first line was {line}");
    assert!(runs.only().join("results.json").exists() && runs.only().join("report.html").exists());
    assert_nothing_left();
}

#[test]
fn clean_spares_runs_that_go_on_and_goes_on_past_what_it_cannot_remove() {
    let _turn = OneEnsemble::wait();
    let runs = Runs::new("spared");
    let child = start(&runs, &[SMALL, &["--faults", "none", "--time", "12s"]].concat());
    recorded(&runs, &["\"f\":\"phase\"", "\"ops\""]);
    let containers = std::fs::read(runs.only().join("containers.json")).expect("containers.json");
    let containers: Value = serde_json::from_slice(&containers).expect("JSON");
    let id = containers["run"].as_str().expect("the run's id").to_string();
    // A dead run that can be removed, and one that cannot: a foreign container has its volume. So has the live run, in
    // whose network another one stands.
    let label = |id: &str| format!("zooquake.run={id}");
    let image = tools_image();
    let mut foreign = Foreign::default();
    foreign.make("network", &["--label", &label("zz-dead"), "zooquake-test-dead"]);
    foreign.start(&["--network", &format!("zooquake-{id}"), &image]);
    for (id, volume) in [("a-stubborn", "zooquake-test-stubborn"), (&id, "zooquake-test-held")] {
        foreign.make("volume", &["--label", &label(id), volume]);
        foreign.start(&["-v", &format!("{volume}:/held"), &image]);
    }

    let clean = |arguments: &[&str]| {
        let elsewhere = Runs::new("elsewhere");
        let mut command = zooquake();
        command.arg("clean").args(arguments).env("TMPDIR", elsewhere.path());
        let output = command.stdin(Stdio::null()).output().expect("starting zooquake");
        (output.status.code().expect("an exit code"), common::text(&output))
    };
    let (code, text) = clean(&["--dry-run"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("run zz-dead: would remove 1 network"), "{text}");
    assert!(text.contains(&format!("run {id}: going on")), "{text}");
    let (code, text) = clean(&[]);
    assert_eq!(code, 255, "{text}");
    assert!(text.contains("run zz-dead: removed 1 network"), "{text}");
    assert!(
        text.contains("run a-stubborn: could not remove volume zooquake-test-stubborn"),
        "{text}"
    );
    assert!(text.contains(&format!("run {id}: going on")), "{text}");

    let output = child.wait_with_output().expect("waiting for zooquake");
    let text = common::text(&output);
    assert_eq!(
        output.status.code(),
        Some(0),
        "a run that cannot be cleared away is judged: {text}"
    );
    assert!(runs.only().join("results.json").exists(), "{text}");
    assert!(text.contains(&format!("`zooquake clean --run {id}`")), "{text}");
    foreign.end();
    let (code, text) = clean(&["--run", &id]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains(&format!("run {id}: removed 1 volume")) && !text.contains("a-stubborn"),
        "{text}"
    );
    assert_eq!(clean(&[]).0, 0);
    assert_nothing_left();
}

/// Containers, networks and volumes that are not a run's; a failing test leaves none of them behind.
#[derive(Default)]
struct Foreign {
    containers: Vec<String>,
    others: Vec<(&'static str, String)>,
}

impl Foreign {
    /// Makes a `network` or a `volume`, whose name is the last argument.
    fn make(&mut self, kind: &'static str, arguments: &[&str]) {
        self.others.push((kind, arguments.last().expect("a name").to_string()));
        docker(&[&[kind, "create"], arguments].concat());
    }

    /// Starts a container that stays for a while; the image is the last argument.
    fn start(&mut self, arguments: &[&str]) {
        let id = docker(&[&["run", "-d"], arguments, &["sleep", "300"]].concat());
        self.containers.push(id);
    }

    /// Removes the containers.
    fn end(&mut self) {
        self.containers.drain(..).for_each(|id| remove(&["rm", "-f", &id]));
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.end();
        self.others
            .drain(..)
            .for_each(|(kind, name)| remove(&[kind, "rm", &name]));
    }
}

/// Removes something that `clean` may have removed. What stays is found by `assert_nothing_left`.
fn remove(arguments: &[&str]) {
    let _ = std::process::Command::new("docker").args(arguments).output();
}

/// A run on as few containers as there can be.
const SMALL: &[&str] = &["lock/fenced", "--servers", "1", "--clients", "2", "--seed", "1"];

/// The image of the clients.
fn tools_image() -> String {
    let images = zooquake()
        .args(["images", "--json"])
        .output()
        .expect("starting zooquake");
    let images: Value = serde_json::from_slice(&images.stdout).expect("JSON");
    let mut images = images["images"].as_array().expect("a list").iter();
    let tools = images.find(|image| image["role"] == "tools");
    let name = tools.expect("the image of the clients")["name"].as_str();
    name.expect("a name").to_string()
}

/// Whether some container of ours is frozen, or has network rules.
fn damaged(fault: &str) -> bool {
    let running = docker(&["ps", "-q", "--filter", "label=zooquake.sidecar"]);
    match fault {
        "pause" => !docker(&[
            "ps",
            "-q",
            "--filter",
            "label=zooquake.run",
            "--filter",
            "status=paused",
        ])
        .is_empty(),
        _ => running
            .lines()
            .any(|id| docker(&["exec", id, "iptables-save"]).contains("ZOOQUAKE")),
    }
}
