//! Nights: the folder and the exit code, and going on after SIGKILL.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, output_of, run_id, signal, until, zooquake};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// Two runs, as small as they can be.
const TINY: &str = "name = \"tiny\"\nvariants = [\"lock/fenced\"]\nfaults = [\"none\"]\nseeds = [1, 2]\n\
                    time = \"2s\"\nservers = 1\nclients = 2\n";

/// The command for a night in `<folder>/night`, of the campaign in `<folder>/tiny.toml`.
fn nightly(folder: &Path, line: &str) -> Command {
    let mut command = zooquake(&format!("nightly {line} --out"));
    command.arg(folder.join("night")).arg(folder.join("tiny.toml"));
    command
}

/// The lines of the night's record that are runs.
fn attempts(folder: &Path) -> Vec<String> {
    let record = std::fs::read_to_string(folder.join("night/night.jsonl")).unwrap_or_default();
    let lines = record.lines().filter(|line| line.contains("\"line\":\"attempt\""));
    lines.map(String::from).collect()
}

/// The folders of runs, finished or not.
fn runs(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join("night/runs")) else {
        return Vec::new();
    };
    let folders = entries
        .flatten()
        .filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_night_that_was_killed_goes_on_and_its_folder_is_complete() {
    let _turn = EnsembleSlot::shared();
    let folder = Runs::new("nightly");
    let folder = folder.path();
    std::fs::write(folder.join("tiny.toml"), TINY).unwrap();
    let mut child = nightly(folder, "")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starting zooquake");
    until("the middle of the second run", PATIENCE, || {
        let done = attempts(folder);
        let half = runs(folder)
            .into_iter()
            .find(|run| !done.iter().any(|line| line.contains(run.as_str())))?;
        let history = folder.join("night/runs").join(half).join("history.jsonl");
        (done.len() == 1 && history.exists()).then_some(())
    });
    signal(&child, "KILL");
    child.wait().expect("waiting for zooquake");
    let ids = || {
        runs(folder)
            .into_iter()
            .map(|run| run_id(&folder.join("night/runs").join(run)))
    };
    let mut all_ids: Vec<String> = ids().collect();
    let before = attempts(folder);

    let junit = folder.join("elsewhere/junit.xml");
    let second = output_of(nightly(folder, "--json").arg("--junit").arg(&junit)).ends(0);
    let second = second.with(&["did not come to its end: its cell is run again"]);
    let after = attempts(folder);
    assert_eq!(after[..1], before, "what was recorded stays");
    assert_eq!(after.len(), 2, "nothing is done twice: {after:?}");
    assert_eq!(runs(folder).len(), 2, "half a run is removed");
    all_ids.extend(ids());
    all_ids.iter().for_each(|id| assert_nothing_left_of(id));

    complete(folder, &second.json());
    let xml = std::fs::read_to_string(&junit).expect("the JUnit file");
    assert_eq!(xml, std::fs::read_to_string(folder.join("night/junit.xml")).unwrap());
    let all = xml
        .lines()
        .find(|line| line.starts_with("<testsuites "))
        .expect("the counts");
    for count in ["tests=\"2\"", "failures=\"0\"", "errors=\"0\"", "skipped=\"0\""] {
        assert!(all.contains(count), "{count} in {xml}");
    }

    output_of(&mut nightly(folder, "")).ends(0);
    assert_eq!(attempts(folder), after, "a night that is through has nothing to run");
}

/// The folder has all that it should, and its runs can be checked.
fn complete(folder: &Path, night: &Value) {
    assert_eq!(night["code"], 0, "{night}");
    let cells = night["cells"].as_array().expect("cells");
    let seeds: Vec<&Value> = cells.iter().map(|cell| &cell["seed"]).collect();
    assert_eq!(seeds, [1, 2]);
    for cell in cells {
        assert_eq!(
            (&cell["outcome"], &cell["attempts"][0]["verdict"]),
            (&"expected".into(), &"valid".into())
        );
        let run = folder
            .join("night")
            .join(cell["attempts"][0]["run"].as_str().expect("a run"));
        assert!(
            run.join("history.jsonl.gz").exists() && !run.join("timeline.png").exists(),
            "kept thin"
        );
        let results = std::fs::read(run.join("results.json")).expect("results.json");
        output_of(zooquake("check").arg(&run)).ends(0);
        assert_eq!(
            std::fs::read(run.join("results.json")).unwrap(),
            results,
            "the same verdict, byte for byte"
        );
    }
    let page = std::fs::read_to_string(folder.join("night/index.html")).expect("index.html");
    assert!(page.contains("all 2 cells that were run are as expected"), "{page}");
    let summary = std::fs::read_to_string(folder.join("night/summary.md")).expect("summary.md");
    assert!(summary.contains("| lock/fenced | ✓<br>✓ |"), "{summary}");
}
