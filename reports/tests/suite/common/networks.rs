//! Runs of consensus protocols, played from the plans in `tests/plans`.

use std::fs;
use std::path::{Path, PathBuf};
use zooquake_history::{History, Record};
use zooquake_network::play;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans")
}

/// The names of the plans, sorted.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the folder of plans");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = paths
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What is recorded of the run of a plan.
pub fn record(name: &str) -> Record {
    let text = fs::read_to_string(folder().join(format!("{name}.json"))).expect(name);
    let plan = serde_json::from_str(&text).expect(name);
    let played = play::play(&plan).expect(name);
    Record {
        plan,
        history: History { events: played.events },
        messages: Some(played.messages),
        ..Record::default()
    }
}
