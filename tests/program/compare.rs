//! Comparisons: what is in the folder, and going on after an interruption.

use crate::common::{EnsembleSlot, ProgramOutput, Runs, output_of, without_engine, zooquake};
use std::path::Path;

/// Two runs, as small as they can be.
fn compare(folder: &Path, time: &str) -> ProgramOutput {
    let two = "compare lock --variants predecessor,fenced --faults none --servers 1 --clients 2 --times 1 --json";
    output_of(zooquake(&format!("{two} --time {time} --out")).arg(folder.join("compare")))
}

/// The lines of the record.
fn record(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("compare/compare.jsonl")).expect("the record");
    text.lines().map(String::from).collect()
}

#[test]
fn a_comparison_goes_on_where_it_was_and_its_page_is_complete() {
    let _turn = EnsembleSlot::shared();
    let folder = Runs::new("compare");
    let folder = folder.path();
    compare(folder, "3s").ends(0);
    let before = record(folder);
    assert_eq!(before.len(), 3, "what is compared, and two runs");

    // As if it had been killed while it wrote the end of the second run.
    let cut = format!("{}\n{}\n{}", before[0], before[1], &before[2][..40]);
    std::fs::write(folder.join("compare/compare.jsonl"), cut).unwrap();
    let second = compare(folder, "3s").ends(0);
    let second = second.with(&["did not come to its end: it is run again", "[2/2]"]);
    let second = second.without(&["[1/2]"]);
    let after = record(folder);
    assert_eq!(after[..2], before[..2], "what was recorded stays");
    assert_eq!(after.len(), 3);

    let comparison = second.json();
    assert_eq!(comparison["order"].as_array().map(Vec::len), Some(2));
    let runs = comparison["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["verdict"], "valid", "{run}");
        assert!(run["sample"]["units"].as_u64() > Some(3), "{run}");
        assert!(run["sample"]["transactions"].as_u64() > Some(6), "{run}");
        let report = folder
            .join("compare")
            .join(run["run"].as_str().expect("a folder"))
            .join("report.html");
        assert!(report.exists(), "{}", report.display());
    }
    let page = std::fs::read_to_string(folder.join("compare/compare.html")).expect("the page");
    assert!(page.contains("No violation was found in 2 runs."), "{page}");
    assert!(folder.join("compare/compare.png").exists() && folder.join("compare/compare.md").exists());

    compare(folder, "4s").ends(254).with(&["other options"]);
    assert_eq!(record(folder), after);
}

#[test]
fn what_a_decision_takes_is_compared_without_an_engine_and_the_same_again() {
    let folder = Runs::new("decisions");
    let out = |name: &str| folder.path().join(name);
    let call = |line: &str, name: &str| output_of(without_engine(&format!("compare {line} --out")).arg(out(name)));
    call("consensus", "whole").ends(0).with(&[
        "Phase 1 is done. Message delays: 3 in paxos; 2 in ",
        "compare.html",
        "compare.json",
    ]);
    let all = call("consensus --on network --json", "again").ends(0).json();
    let read = |name: &str, file: &str| std::fs::read(out(name).join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    for file in ["compare.html", "compare.md", "compare.png"] {
        assert!(read("whole", file) == read("again", file), "{file}");
    }
    // The document has this table.
    let document = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/comparing.md")).unwrap();
    let table = String::from_utf8(read("whole", "compare.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 2 + 7 * 4);
    assert!(rows.iter().all(|row| document.contains(row)), "{table}");
    assert_eq!(all["acceptors"], serde_json::json!([3, 4, 5, 7]));
    let collision = &all["situations"][2];
    assert_eq!(collision["name"], "collision");
    let delays = |row: usize| &collision["rows"][row]["costs"][2]["delays"];
    assert_eq!(
        [0, 1, 2, 3].map(|row| delays(row).as_u64()),
        [3, 6, 4, 3].map(Some),
        "{collision}"
    );

    let two = "consensus --variants paxos,fast-paxos --servers 5,3 --seed 7 --json";
    let two = call(two, "two").ends(0).json();
    assert_eq!(two["acceptors"], serde_json::json!([3, 5]));
    let names = two["protocols"]
        .as_array()
        .unwrap()
        .iter()
        .map(|protocol| &protocol["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["paxos", "fast-paxos"]);
    assert_eq!(two["situations"][0]["rows"][0]["costs"][1]["messages"], 16);

    // A folder with a comparison of recipes keeps it.
    std::fs::create_dir(out("recipes")).unwrap();
    std::fs::write(out("recipes").join("compare.jsonl"), "{}").unwrap();
    call("consensus", "recipes")
        .ends(254)
        .with(&["a comparison of recipes", "another --out"]);
}
