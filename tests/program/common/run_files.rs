//! A run of the real program to its end, and what it left.

use super::{EnsembleSlot, Runs, assert_nothing_left_of, output_of, zooquake};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a run of the program left.
pub struct RunFiles {
    pub code: i32,
    pub results: Value,
    pub folder: PathBuf,
    pub stderr: String,
}

impl RunFiles {
    /// Kinds of anomalies, advisory ones left out.
    pub fn damage(&self) -> Vec<String> {
        let anomalies = self.results["anomalies"].as_array().expect("a list of anomalies");
        let mut kinds: Vec<String> = anomalies
            .iter()
            .filter(|a| a["advisory"] == false)
            .map(|a| a["kind"].as_str().expect("a kind").to_string())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// The JSON lines of a file of the run.
    pub fn lines(&self, file: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.join(file)).expect(file);
        let values = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        values.collect()
    }

    /// Nothing else was found, but for what is advisory.
    #[track_caller]
    pub fn at_most(&self, kind: &str) {
        let damage = self.damage();
        assert!(damage.iter().all(|found| found == kind), "{damage:?}: {}", self.story());
    }

    /// Whether the machine was too slow for what the run is to show: a client lost its connection though no fault was
    /// injected, or a pause took effect only after the write that it was to strike.
    fn disturbed(&self) -> bool {
        let events = self.lines("history.jsonl");
        let lost = |event: &Value| event["f"] == "session" && event["value"]["state"] == "disconnected";
        let faultless = self.results["windows"].as_array().is_some_and(Vec::is_empty);
        faultless && events.iter().any(lost) || has_late_pause(&events)
    }

    /// Everything a failing assertion should show.
    pub fn story(&self) -> String {
        format!(
            "code {}, run {}\nreasons {}\nwindows {}\nstderr:\n{}",
            self.code,
            self.folder.display(),
            self.results["reasons"],
            self.results["windows"],
            self.stderr
        )
    }
}

/// Whether a client's write was answered between the begin of its pause and the moment at which that was seen to be on.
fn has_late_pause(events: &[Value]) -> bool {
    let of_pause = |event: &Value, phase: &str| event["f"] == "pause" && event["value"]["phase"] == phase;
    events.iter().enumerate().any(|(on, event)| {
        let value = &event["value"];
        let same = |other: &Value| of_pause(other, "begin") && other["value"]["window"] == value["window"];
        let mut before = events[..on].iter().rev().take_while(|other| !same(other));
        let answered =
            |other: &Value| other["f"] == "write" && other["type"] == "ok" && other["node"] == value["target"];
        of_pause(event, "on") && before.any(answered)
    })
}

/// How often a run is repeated that the machine disturbed.
const AGAIN: usize = 2;

/// Runs `zooquake run … --json` to its end.
pub fn run(runs: &Runs, line: &str) -> RunFiles {
    let output = output_of(zooquake(&format!("run {line} --json --out")).arg(runs.path()));
    let results = output.json();
    RunFiles {
        code: output.code.expect("an exit code"),
        folder: results["run"].as_str().expect("the folder of the run").into(),
        results,
        stderr: output.stderr,
    }
}

/// A short real run, judged, checked again, and looked at for all that it should leave and should not.
pub fn short(name: &str, line: &str, judge: impl FnOnce(&RunFiles)) {
    let _turn = EnsembleSlot::shared();
    let (mut runs, mut again) = (Runs::new(name), AGAIN);
    let mut ran = run(&runs, line);
    while again > 0 && ran.disturbed() {
        again -= 1;
        runs = Runs::new(name);
        ran = run(&runs, line);
    }
    judge(&ran);
    checks_again_to_the_same_bytes(&ran);
    for file in [
        "plan.json",
        "provenance.json",
        "tree.json",
        "txnlog.jsonl",
        "txnlogs.json",
        "servers.jsonl",
        "report.html",
        "timeline.png",
    ] {
        let size = std::fs::metadata(ran.folder.join(file))
            .unwrap_or_else(|e| panic!("{file}: {e}"))
            .len();
        assert!(size > 0, "{file} is empty");
    }
    let logs = document(&ran.folder, "txnlogs.json");
    let logs = logs.as_array().expect("a list");
    let whole = |log: &Value| log["whole"] == true && log["problem"].is_null();
    assert!(!logs.is_empty() && logs.iter().all(whole), "{logs:?}");
    assert_nothing_left_of(&runs.id());
}

/// The JSON of a file in the folder of a run.
pub fn document(run: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(run.join(name)).expect(name)).expect("JSON")
}

/// `check` of the folder gives the same `results.json`, byte for byte.
pub fn checks_again_to_the_same_bytes(ran: &RunFiles) {
    let results = ran.folder.join("results.json");
    let before = std::fs::read(&results).expect("results.json");
    output_of(zooquake("check").arg(&ran.folder)).ends(ran.code);
    assert_eq!(
        std::fs::read(&results).expect("results.json"),
        before,
        "checking again gave other results"
    );
}

/// The run is valid: nothing but advisory anomalies, exit code 0.
#[track_caller]
pub fn valid(ran: &RunFiles) {
    assert_eq!(ran.damage(), Vec::<String>::new(), "{}", ran.story());
    assert_eq!(
        (ran.code, &ran.results["verdict"]),
        (0, &"valid".into()),
        "{}",
        ran.story()
    );
}
