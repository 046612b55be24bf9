//! A failure that is reproduced from a saved run, and from the file that was made of it.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, document, output_of, run, zooquake};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_stale_write_comes_back_and_travels_in_one_file() {
    let _turn = EnsembleSlot::shared();
    let (runs, again) = (Runs::new("replay-of"), Runs::new("replay"));
    let ran = run(&runs, "lock/predecessor --faults pause --time 8s --seed 1");
    assert_eq!(ran.code, 1, "{}", ran.story());
    assert!(ran.damage().contains(&"stale-write".to_string()), "{}", ran.story());
    let pack = runs.path().join("failure.zooquake.tar.gz");
    output_of(zooquake("pack --out").args([&pack, &ran.folder])).ends(0);
    let checked = output_of(zooquake("check --json").arg(&pack)).ends(1).json();
    assert_eq!(checked[0]["anomalies"], ran.results["anomalies"]);

    let replayed = output_of(zooquake("replay --json --out").arg(again.path()).arg(&pack));
    let results = replayed.json();
    let mut anomalies = results["anomalies"].as_array().expect("anomalies").iter();
    assert!(anomalies.any(|anomaly| anomaly["kind"] == "stale-write"), "{replayed}");
    replayed.with(&["stale-write came back in 1 of 1"]);
    let plan = document(&again.only(), "plan.json");
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
fn what_is_found_on_the_model_is_confirmed_on_a_real_ensemble() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("confirmed");
    let line = "explore lock/predecessor --faults drop-reply --schedules 2 --seed 1 --confirm --json --out";
    let output = output_of(zooquake(line).arg(runs.path())).json();
    let failures = output["failures"].as_array().expect("a list of failures");
    let confirmed = failures
        .iter()
        .find(|failure| failure["confirmation"]["confirmed"] == true);
    let confirmed = confirmed.unwrap_or_else(|| panic!("none is confirmed: {output}"));
    let run = confirmed["confirmation"]["shown"]["run"].as_str().expect("its folder");
    let results = document(Path::new(run), "results.json");
    let shows = |anomaly: &Value| anomaly["kind"] == confirmed["anomaly"] && anomaly["advisory"] == false;
    assert!(results["anomalies"].as_array().unwrap().iter().any(shows), "{results}");
    assert_eq!(results["on"], Value::Null, "a real one says nothing of it");
}
