//! Runs on simulated ensembles, by the real program, where no Docker engine answers.

use crate::common::{Runs, text, zooquake};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

/// What the program does where no engine answers.
fn without_engine(arguments: &[&str]) -> Output {
    let mut command = zooquake();
    command
        .args(arguments)
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    command.output().expect("starting zooquake")
}

fn read(run: &Path, name: &str) -> Vec<u8> {
    fs::read(run.join(name)).unwrap_or_else(|error| panic!("{name} of {}: {error}", run.display()))
}

fn json(run: &Path, name: &str) -> Value {
    serde_json::from_slice(&read(run, name)).expect("JSON")
}

const SHORT: [&str; 6] = ["lock/protected", "--faults", "pause", "--time", "12s", "--seed=7"];

#[test]
fn a_run_without_an_engine_is_simulated_and_says_so_wherever_it_is_read() {
    let (runs, again) = (Runs::new("simulated"), Runs::new("simulated-again"));
    let out = |runs: &Runs| runs.path().to_str().unwrap().to_string();
    let output = without_engine(&[&["run"], &SHORT[..], &["--out", &out(&runs)]].concat());
    let said = text(&output);
    let first = String::from_utf8(output.stderr.clone()).unwrap();
    let first = first.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("simulated: no Docker engine answers at unix:///nowhere/docker.sock"),
        "{first}"
    );
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("on a simulated ensemble"),
        "{said}"
    );
    let run = runs.only();
    assert_eq!(json(&run, "plan.json")["on"], "sim");
    let results = json(&run, "results.json");
    assert_eq!(results["on"], "sim");
    let code = ["valid", "invalid", "unknown"]
        .iter()
        .position(|verdict| results["verdict"] == *verdict);
    assert_eq!(output.status.code(), code.map(|code| code as i32), "{said}");
    let page = String::from_utf8(read(&run, "report.html")).unwrap();
    let first_screen = page.split_once("</header>").unwrap().0;
    assert!(first_screen.contains("The ensemble was simulated") && !first_screen.contains("servers of ZooKeeper"));
    // Checked again, to the same bytes.
    let before = read(&run, "results.json");
    let checked = without_engine(&["check", run.to_str().unwrap()]);
    assert_eq!(checked.status.code(), output.status.code());
    assert_eq!(read(&run, "results.json"), before);
    // Run again, from a pack of it, to the same history.
    let pack = runs.path().join("run.zooquake.tar.gz");
    let packed = without_engine(&["pack", run.to_str().unwrap(), "--out", pack.to_str().unwrap()]);
    assert_eq!(packed.status.code(), Some(0), "{}", text(&packed));
    let replayed = without_engine(&["replay", pack.to_str().unwrap(), "--out", &out(&again)]);
    assert_eq!(replayed.status.code(), output.status.code(), "{}", text(&replayed));
    assert!(read(&again.only(), "history.jsonl") == read(&run, "history.jsonl"));
    // What insists on a real ensemble does not get a simulated one.
    let real = without_engine(&["replay", run.to_str().unwrap(), "--on", "docker", "--out", &out(&again)]);
    assert_eq!(real.status.code(), Some(255), "{}", text(&real));
}

#[test]
fn nights_and_comparisons_are_simulated_where_that_is_asked_for() {
    let runs = Runs::new("simulated-campaigns");
    let campaign = runs.path().join("small.toml");
    let cells = "variants = [\"lock/fenced\"]\nfaults = [\"none\"]\nseeds = [1, 2]\ntime = \"2s\"\non = \"sim\"\n";
    fs::write(&campaign, cells).unwrap();
    let folder = |name: &str| runs.path().join(name).to_str().unwrap().to_string();
    let (night, compared) = (folder("night"), folder("compared"));
    let nightly = ["nightly", campaign.to_str().unwrap(), "--out", &night];
    let output = without_engine(&nightly);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(
        fs::read_dir(Path::new(&night).join("runs")).unwrap().flatten().count(),
        3,
        "two and `latest`"
    );
    let page = String::from_utf8(read(Path::new(&night), "index.html")).unwrap();
    assert!(page.contains("the ensembles were simulated"));
    let other = without_engine(&[&nightly[..], &["--on", "docker"]].concat());
    assert_eq!(other.status.code(), Some(255), "{}", text(&other));
    let output = without_engine(&[
        "compare",
        "lock",
        "--variants",
        "protected,fenced",
        "--faults",
        "none",
        "--runs",
        "1",
        "--time",
        "2s",
        "--on",
        "sim",
        "--out",
        &compared,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let table = String::from_utf8(read(Path::new(&compared), "compare.md")).unwrap();
    assert!(table.contains("simulated ensembles"), "{table}");
}

#[test]
fn what_is_explored_is_told_once_written_as_a_run_and_shrunk() {
    let runs = Runs::new("explored");
    let out = runs.path().to_str().unwrap();
    let small = [
        "--schedules",
        "40",
        "--seed",
        "100",
        "--clients",
        "3",
        "--ops",
        "6",
        "--json",
        "--out",
        out,
    ];
    let output = without_engine(&[&["explore", "lock/predecessor", "--faults", "drop-reply"], &small[..]].concat());
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    assert_eq!(
        (output.status.code(), &told["schedules"]),
        (Some(0), &Value::from(40)),
        "known failures only"
    );
    let failures = told["failures"].as_array().unwrap();
    let lost = failures
        .iter()
        .find(|failure| failure["anomaly"] == "lost-wakeup")
        .unwrap();
    assert_eq!(lost["known"], true);
    let run = Path::new(lost["run"].as_str().unwrap());
    let checked = without_engine(&["check", run.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked));
    let shrunk = Path::new(lost["shrunk"]["run"].as_str().unwrap());
    let has = |run: &Path| {
        let results = json(run, "results.json");
        let anomalies = results["anomalies"].as_array().unwrap().clone();
        anomalies.iter().any(|anomaly| anomaly["kind"] == "lost-wakeup")
    };
    assert!(has(run) && has(shrunk));
    assert!(lost["shrunk"]["operations"].as_u64() <= Some(12), "{lost}");
    // Shrunk by itself, from the run of the schedule that failed.
    let output = without_engine(&["shrink", run.to_str().unwrap(), "--json", "--out", out]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    assert_eq!((output.status.code(), &told["kept"]), (Some(0), &Value::from(true)));
    let size = |when: &str| told[when]["operations"].as_u64().unwrap();
    assert!(size("after") < size("before"), "{told}");
}

#[test]
fn what_needs_a_real_ensemble_says_so_before_it_begins() {
    let runs = Runs::new("confirmed-nowhere");
    let out = runs.path().to_str().unwrap();
    let explore = [
        "explore",
        "lock/predecessor",
        "--faults",
        "drop-reply",
        "--schedules",
        "4",
    ];
    let seeded = [&explore[..], &["--seed", "1", "--out", out]].concat();
    let output = without_engine(&[&seeded[..], &["--confirm"]].concat());
    assert_eq!(output.status.code(), Some(255), "{}", text(&output));
    assert!(!text(&output).contains("exploring"), "{}", text(&output));
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0, "nothing was explored");
    // A simulated run is shrunk where it ran, and on real ensembles only if that is asked for.
    let output = without_engine(&seeded);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = runs.path().join("latest");
    let shrink = ["shrink", run.to_str().unwrap(), "--json", "--out", out];
    let output = without_engine(&shrink);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    assert_eq!((&told["on"], &told["kept"]), (&Value::from("sim"), &Value::from(true)));
    let output = without_engine(&[&shrink[..], &["--on", "docker"]].concat());
    assert_eq!(output.status.code(), Some(255), "{}", text(&output));
}

#[test]
fn a_correct_lock_is_silent_and_has_nothing_to_shrink() {
    let runs = Runs::new("explored-silent");
    let out = runs.path().to_str().unwrap();
    let output = without_engine(&[
        "explore",
        "lock/fenced",
        "--schedules",
        "30",
        "--seed",
        "1",
        "--out",
        out,
    ]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("30 schedules") && said.contains("was missed with"),
        "{said}"
    );
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0, "nothing failed");
    let run = [
        "run",
        "lock/fenced",
        "--on",
        "sim",
        "--faults",
        "none",
        "--time",
        "2s",
        "--out",
        out,
    ];
    assert_eq!(without_engine(&run).status.code(), Some(0));
    let run = runs.path().join("latest");
    for (arguments, why) in [
        (&["shrink", run.to_str().unwrap()][..], "no anomaly"),
        (&["explore", "lock/crate"], "client library"),
        (&["explore", "lock/fenced", "--shard", "2/4"], "--seed"),
    ] {
        let output = without_engine(arguments);
        assert_eq!(output.status.code(), Some(254), "{}", text(&output));
        assert!(text(&output).contains(why), "{}", text(&output));
    }
}
