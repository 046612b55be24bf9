//! What recorded a run, from its folder to its results, its page and `check`. No ensemble is needed.

use crate::common::{Runs, document, output_of, without_engine, zooquake};
use serde_json::json;
use std::fs;

#[test]
fn a_record_states_what_recorded_it_and_another_zooquake_gives_the_same_results() {
    let runs = Runs::new("provenance");
    let line = "run lock/fenced --on sim --faults none --time 2s --seed 7 --out";
    output_of(without_engine(line).arg(runs.path())).ends(0);
    let run = runs.only();
    let version = env!("CARGO_PKG_VERSION");
    let recorded = document(&run, "provenance.json");
    assert_eq!(
        (&recorded["zooquake"], &recorded["on"]),
        (&json!(version), &json!("sim"))
    );
    assert_eq!(document(&run, "results.json")["provenance"], recorded);
    let page = fs::read_to_string(run.join("report.html")).expect("the page");
    for part in ["recorded by zooquake", "checked by zooquake"] {
        assert!(page.contains(&format!("{part} {version}")), "{part}");
    }
    let check = |line: &str| output_of(zooquake(line).arg(&run)).ends(0);
    check("check").without(&["recorded by"]);
    assert_eq!(check("check --json").json()[0]["provenance"], recorded);

    // A later version has recorded it: its entries stay, and this one names both.
    let later = json!({ "zooquake": "9.0.0", "commit": "3f2a91c", "era": [1, { "b": 2 }] });
    fs::write(run.join("provenance.json"), later.to_string()).unwrap();
    let remark = format!("recorded by zooquake 9.0.0 (3f2a91c), checked by zooquake {version}");
    check("check").with(&[&remark]);
    assert_eq!(document(&run, "results.json")["provenance"], later);
    let checked = check("check --json").json();
    let checker = checked[0]["checked_by"].as_str().expect("a version");
    assert!(checker.starts_with(version), "{checked}");
    let results = fs::read_to_string(run.join("results.json")).unwrap();
    assert!(
        !results.contains(version),
        "what checks stands in no results: {results}"
    );

    // A record of an earlier version has none, and keeps its results.
    fs::remove_file(run.join("provenance.json")).unwrap();
    check("check").without(&["recorded by"]);
    assert!(document(&run, "results.json").get("provenance").is_none());
    assert!(check("check --json").json()[0].get("provenance").is_none());
}
