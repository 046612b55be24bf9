//! A failure that is reproduced from a saved run, and from the file that was made of it.

use crate::common::{EnsembleSlot, Ran, Runs, assert_nothing_left_of, call, run, text, zooquake};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const BROKEN: &[&str] = &["lock/predecessor", "--faults", "pause", "--time", "8s", "--seed", "1"];

fn zooquake_with(arguments: &[&str], path: &Path) -> Output {
    let (command, more) = arguments.split_first().expect("a command");
    let output = zooquake().arg(command).arg(path).args(more).output();
    output.expect("starting zooquake")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

fn broken(runs: &Runs) -> Ran {
    let ran = run(runs, BROKEN);
    assert_eq!(ran.code, 1, "{}", ran.story());
    assert!(ran.damage().contains(&"stale-write".to_string()), "{}", ran.story());
    ran
}

#[test]
fn a_stale_write_comes_back_and_travels_in_one_file() {
    let _turn = EnsembleSlot::shared();
    let (runs, again) = (Runs::new("replay-of"), Runs::new("replay"));
    let ran = broken(&runs);
    let pack = runs.path().join("failure.zooquake.tar.gz");
    let pack_name = pack.to_string_lossy().into_owned();
    let packed = zooquake_with(&["pack", "--out", &pack_name], &ran.folder);
    assert_eq!(packed.status.code(), Some(0), "{}", text(&packed));

    let checked = zooquake_with(&["check", "--json"], &pack);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked));
    assert_eq!(json(&checked)[0]["anomalies"], ran.results["anomalies"]);

    let out = again.path().to_string_lossy().into_owned();
    let replayed = zooquake_with(&["replay", "--json", "--out", &out], &pack);
    let results = json(&replayed);
    let kinds: Vec<&Value> = results["anomalies"].as_array().expect("anomalies").iter().collect();
    assert!(
        kinds.iter().any(|anomaly| anomaly["kind"] == "stale-write"),
        "{}",
        text(&replayed)
    );
    let stderr = String::from_utf8_lossy(&replayed.stderr);
    assert!(stderr.contains("stale-write came back in 1 of 1"), "{stderr}");
    let plan = std::fs::read(again.only().join("plan.json")).expect("the replay's plan");
    let plan: Value = serde_json::from_slice(&plan).expect("JSON");
    let name = ran.folder.file_name().expect("a name").to_string_lossy();
    assert_eq!(plan["replay_of"], name.as_ref());
    let triggers: Vec<&Value> = plan["windows"].as_array().expect("windows").iter().collect();
    assert!(
        triggers.iter().any(|window| window["trigger"]["op"]["f"] == "write"),
        "no window is pinned to a write: {plan}"
    );
    for runs in [&runs, &again] {
        assert_nothing_left_of(&runs.id());
    }
}

#[test]
fn what_is_no_run_cannot_be_replayed_or_packed() {
    let nothing = Path::new("/nonexistent/run");
    for command in ["replay", "pack"] {
        let output = zooquake_with(&[command], nothing);
        assert_ne!(output.status.code(), Some(0));
        assert!(text(&output).contains("/nonexistent/run"), "{}", text(&output));
    }
}

#[test]
fn what_is_found_on_the_model_is_confirmed_on_a_real_ensemble() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("confirmed");
    let out = runs.path().to_str().unwrap();
    let explored = call(&[
        "explore",
        "lock/predecessor",
        "--faults",
        "drop-reply",
        "--schedules",
        "2",
        "--seed",
        "1",
        "--confirm",
        "--json",
        "--out",
        out,
    ]);
    let told: Value = serde_json::from_slice(&explored.stdout).unwrap_or_else(|_| panic!("{}", text(&explored)));
    let failures = told["failures"].as_array().expect("a list of failures");
    let confirmed = failures
        .iter()
        .find(|failure| failure["confirmation"]["confirmed"] == true);
    let confirmed = confirmed.unwrap_or_else(|| panic!("none is confirmed: {told}"));
    let run = confirmed["confirmation"]["shown"]["run"].as_str().expect("its folder");
    let results = std::fs::read(Path::new(run).join("results.json")).expect("results.json");
    let results: Value = serde_json::from_slice(&results).expect("JSON");
    let shows = |anomaly: &Value| anomaly["kind"] == confirmed["anomaly"] && anomaly["advisory"] == false;
    assert!(results["anomalies"].as_array().unwrap().iter().any(shows), "{results}");
    assert_eq!(results["on"], Value::Null, "a real one says nothing of it");
}
