//! Plans and schedules in files of the user's, by the real program, on simulated ensembles.

use crate::common::{Runs, document, output_of, without_engine};
use std::fs;

#[test]
fn a_plan_in_a_file_is_played_as_it_stands() {
    let (drawn, played, changed) = (Runs::new("drawn"), Runs::new("played"), Runs::new("changed"));
    let line = "run lock/protected --on sim --faults kill,pause --time 20s --seed 7 --out";
    output_of(without_engine(line).arg(drawn.path()));
    let plan = drawn.only().join("plan.json");
    let play = |runs: &Runs| output_of(without_engine("run --out").arg(runs.path()).arg("--plan").arg(&plan));
    play(&played).with(&["verdict: "]);
    let history = |runs: &Runs| fs::read(runs.only().join("history.jsonl")).unwrap();
    assert!(
        history(&played) == history(&drawn),
        "the same plan has the same history"
    );
    let mut own = document(&drawn.only(), "plan.json");
    own["windows"][0]["trigger"] = serde_json::json!({ "at": { "at_ms": 3_000 } });
    own["windows"][0]["target"] = serde_json::json!({ "node": "c2" });
    fs::write(&plan, own.to_string()).unwrap();
    play(&changed).with(&["verdict: "]);
    let began = String::from_utf8(history(&changed)).unwrap();
    let own = own["windows"][0]["fault"].as_str().unwrap();
    let struck = began.lines().any(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let value = &event["value"];
        event["f"] == own && value["phase"] == "begin" && value["window"] == 1 && value["target"] == "c2"
    });
    assert!(struck, "{began}");
    output_of(without_engine("run lock/fenced --plan").arg(&plan))
        .ends(254)
        .with(&["has the workload lock/protected", "leave lock/fenced out"]);
}
