//! Nights, comparisons and explorations in parts, and the whole that `merge` makes of them.

use crate::common::{ProgramOutput, Runs, output_of, without_engine};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Twelve cells in virtual time, with seeds of the date and a pinned one.
const TWELVE: &str = "name = \"twelve\"\nvariants = [\"lock/predecessor\", \"lock/fenced\"]\n\
    faults = [\"none\", \"kill\", \"drop-reply\"]\nseeds = { count = 2, from = \"date\" }\ntime = \"15s\"\nclients = 3\non = \"sim\"\n";

/// What a call of zooquake in a folder comes to.
fn call(folder: &Path, line: &str) -> ProgramOutput {
    output_of(without_engine(line).current_dir(folder))
}

/// Three parts of the twelve cells, in `part-1` to `part-3`.
fn three_parts(folder: &Path) {
    fs::write(folder.join("twelve.toml"), TWELVE).unwrap();
    for number in 1..=3 {
        let mut part = without_engine("nightly twelve.toml --date 2026-11-20 --shard auto --out");
        part.arg(format!("part-{number}"))
            .env("ZOOQUAKE_SHARD", format!("{number}/3"));
        output_of(part.current_dir(folder)).ends(0);
    }
}

/// A page or JSON, but for the names of runs and times that its own JSON has.
fn timeless(mut text: String, night: &Value) -> String {
    // A style sheet's nonce comes from the whole page.
    if let Some((_, nonce)) = text.split_once("'nonce-") {
        let nonce = nonce.split('\'').next().expect("its end").to_string();
        text = text.replace(&nonce, "some nonce");
    }
    let mut runs: Vec<(String, String)> = Vec::new();
    for (number, cell) in night["cells"].as_array().expect("cells").iter().enumerate() {
        for attempt in cell["attempts"].as_array().expect("attempts") {
            let run = attempt["run"].as_str().expect("a run");
            runs.push((run.to_string(), format!("run-of-cell-{number}")));
            text = text.replace(attempt["begun"].as_str().expect("a time"), "some time");
        }
    }
    // Of two runs that began in one second, the name of one may begin the other's.
    runs.sort_by_key(|(run, _)| std::cmp::Reverse(run.len()));
    for (run, name) in &runs {
        text = text.replace(run, name);
    }
    text.replace(night["begun"].as_str().expect("a time"), "some time")
}

/// The JSON of a night, but for how long its runs took.
fn lasting(night: &Value) -> Value {
    let mut night = night.clone();
    for cell in night["cells"].as_array_mut().expect("cells") {
        for attempt in cell["attempts"].as_array_mut().expect("attempts") {
            attempt["seconds"] = 0.into();
        }
    }
    night["night"] = Value::Null;
    serde_json::from_str(&timeless(night.to_string(), &night)).expect("JSON")
}

#[test]
fn a_night_in_parts_is_merged_into_the_night_that_one_machine_runs() {
    let runs = Runs::new("parts");
    let folder = runs.path();
    three_parts(folder);
    let before = fs::read(folder.join("part-2/night.jsonl")).unwrap();
    // Of one name, each without another night beside it.
    let merged = call(
        folder,
        "merge part-3 part-1 part-2 --out merged/night --junit merged.xml --json",
    )
    .ends(0)
    .json();
    let whole = call(folder, "nightly twelve.toml --date 2026-11-20 --out whole/night --json")
        .ends(0)
        .json();
    assert_eq!(whole["cells"].as_array().map(Vec::len), Some(12));
    assert_eq!(whole["cells"][1]["seed"], 2_026_112_002);
    assert_eq!(lasting(&merged), lasting(&whole));
    let read = |path: &str| fs::read_to_string(folder.join(path)).expect(path);
    for file in ["index.html", "summary.md"] {
        let page = |night: &str, json| timeless(read(&format!("{night}/night/{file}")), json);
        assert_eq!(page("merged", &merged), page("whole", &whole), "{file}");
    }
    assert_eq!(read("merged.xml"), read("merged/night/junit.xml"));
    assert!(read("merged.xml").contains("name=\"kill, drawn seed 2\" classname=\"lock.fenced\""));
    for cell in merged["cells"].as_array().unwrap() {
        let run = cell["attempts"][0]["run"].as_str().expect("a run");
        assert!(
            folder.join("merged/night").join(run).join("report.html").is_file(),
            "{run}"
        );
    }
    assert_eq!(
        fs::read(folder.join("part-2/night.jsonl")).unwrap(),
        before,
        "a part stays as it was"
    );
    // What is merged is a night like any other.
    call(folder, "nightly twelve.toml --out merged/night")
        .ends(0)
        .without(&["[1/12]"]);
}

#[test]
fn parts_that_are_missing_or_cut_off_are_no_green_night() {
    let runs = Runs::new("gaps");
    let folder = runs.path();
    three_parts(folder);
    let record = fs::read_to_string(folder.join("part-2/night.jsonl")).unwrap();
    let lines: Vec<&str> = record.lines().collect();
    assert!(lines.len() > 3, "{record}");
    fs::create_dir(folder.join("cut")).unwrap();
    fs::write(
        folder.join("cut/night.jsonl"),
        format!("{}\n{}\n{{\"line\":", lines[0], lines[1]),
    )
    .unwrap();
    let open = lines.len() - 3;
    let missing = call(folder, "merge part-1 cut --out short --require 0").ends(2);
    let cut = format!(
        "part 2/3 in \"cut\" was cut off: {open} of its {} cells not decided",
        open + 1
    );
    let missing = missing.with(&["part 3/3 is missing:", &cut, "has no folder"]);
    drop(missing);
    let page = fs::read_to_string(folder.join("short/index.html")).unwrap();
    assert!(
        page.contains("part 3/3 is missing:") && page.contains("UNKNOWN"),
        "{page}"
    );
    let xml = fs::read_to_string(folder.join("short/junit.xml")).unwrap();
    assert!(xml.contains("enough cells are run"), "{xml}");

    call(folder, "merge part-1 part-2 part-2 --out no")
        .ends(254)
        .with(&["both have part 2/3"]);
    call(folder, "merge part-1 part-2 --out part-1/below")
        .ends(254)
        .with(&["part-1", "--out"]);
    call(folder, "merge part-1 part-2 --out short")
        .ends(254)
        .with(&["\"short\" is not empty"]);
    call(folder, "merge part-1 short --out no")
        .ends(254)
        .with(&["\"short\" is no part, but a whole"]);
    let other = |from: &str, to: &str| {
        fs::create_dir_all(folder.join("other")).unwrap();
        fs::write(folder.join("other/night.jsonl"), record.replacen(from, to, 1)).unwrap();
        call(folder, "merge part-1 other --out no").ends(254)
    };
    other("2/3", "2/4").with(&["part 1/3", "part 2/4", "one division"]);
    other("\"date\":\"2026-11-20\"", "\"date\":\"2026-11-21\"").with(&["dates are 2026-11-20 and 2026-11-21"]);
    let version = format!("\"zooquake\":\"{}\"", env!("CARGO_PKG_VERSION"));
    other(&version, "\"zooquake\":\"9.9.9\"").with(&["versions of zooquake", "9.9.9"]);
    other("\"time_ms\":15000", "\"time_ms\":16000").with(&["their campaigns differ"]);
    assert!(!folder.join("no").exists(), "nothing is made of what is refused");
}

#[test]
fn a_budget_that_leaves_most_cells_out_is_no_green_night() {
    let runs = Runs::new("budget");
    let folder = runs.path();
    fs::write(folder.join("twelve.toml"), TWELVE.replace("15s", "60s")).unwrap();
    // A simulated run is expected to take a twentieth of its time, until one was made.
    let line = "nightly twelve.toml --budget 1s --out night --require";
    let few = call(folder, &format!("{line} 0.5")).ends(2).with(&[
        "12 cells not run: there was no time",
        "only 0 of 12 cells were run, and at least 6 must be",
    ]);
    drop(few);
    let summary = fs::read_to_string(folder.join("night/summary.md")).unwrap();
    assert!(summary.contains("### Not run (12 of 12)"), "{summary}");
    call(folder, &format!("{line} 1.5"))
        .ends(254)
        .with(&["1.5", "--require", "from 0 to 1"]);
}

#[test]
fn the_part_of_an_engine_is_that_of_its_variables() {
    let runs = Runs::new("auto");
    let folder = runs.path();
    call(folder, "nightly --shard auto --out night")
        .ends(254)
        .with(&["ZOOQUAKE_SHARD=K/N", "CI_NODE_INDEX"]);
    let line = "compare lock --variants predecessor,fenced --faults none,kill --times 1 --time 10s --on sim --shard auto --out";
    for number in 1..=2 {
        let mut part = without_engine(line);
        part.arg(format!("compared-{number}")).env("CI_NODE_TOTAL", "2");
        output_of(part.env("CI_NODE_INDEX", number.to_string()).current_dir(folder)).ends(0);
    }
    let merged = call(folder, "merge compared-1 compared-2 --out compared --json")
        .ends(0)
        .json();
    assert_eq!(merged["runs"].as_array().map(Vec::len), Some(4));
    let page = fs::read_to_string(folder.join("compared/compare.html")).unwrap();
    assert!(page.contains("in 4 runs"), "{page}");
    call(folder, "merge compared-2 --out half")
        .ends(2)
        .with(&["part 1/2 is missing: 2 runs not made"]);
    let explore = "explore lock/protected --schedules 6 --seed 7 --clients 2 --ops 2 --windows 1 --corpus";
    for number in 1..=2 {
        call(folder, &format!("{explore} corpus-{number} --shard {number}/2")).ends(0);
    }
    let merged = call(folder, "merge corpus-1 corpus-2 --out corpus --json")
        .ends(0)
        .json();
    assert_eq!(merged["explored"], serde_json::json!([["1/2", 6], ["2/2", 6]]));
    call(folder, "merge corpus-1 compared-1 --out no")
        .ends(254)
        .with(&["explored.jsonl", "compare.jsonl"]);
}

#[test]
fn nights_are_looked_at_together() {
    let runs = Runs::new("nights");
    let folder = runs.path();
    let small = "variants = [\"lock/fenced\"]\nfaults = [\"none\"]\nseeds = [1]\ntime = \"2s\"\non = \"sim\"\n";
    fs::write(folder.join("small.toml"), small).unwrap();
    for night in ["nights/a", "nights/b"] {
        call(folder, &format!("nightly small.toml --out {night}")).ends(0);
    }
    let files = call(folder, "report nights --json").ends(0).json();
    assert_eq!(files["files"], serde_json::json!(["nights/nights.html"]));
    let page = fs::read_to_string(folder.join("nights/nights.html")).unwrap();
    assert!(page.contains("No night found an anomaly that was not known."), "{page}");
    assert!(
        page.contains("href=\"a/index.html\"") && page.contains("href=\"b/index.html\""),
        "{page}"
    );
    call(folder, "report nights/a nights/b").ends(0).with(&["nights.html"]);
    let page = fs::read_to_string(folder.join("nights.html")).unwrap();
    assert!(page.contains("href=\"nights/b/index.html\""), "{page}");
    call(folder, "report nights/a nights/b small.toml")
        .ends(254)
        .with(&["small.toml", "one too many"]);
}
