//! What is kept of runs that showed nothing new, so that a year of nights fits on a disk.

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use std::fs;
use zooquake_history::Node;

/// What a verdict rests on beside the plan and the servers' logs; kept, but compressed.
const EVIDENCE: [&str; 6] = [
    "history.jsonl",
    "tree.json",
    "txnlog.jsonl",
    "txnlogs.json",
    "servers.jsonl",
    "messages.jsonl",
];

/// What can be drawn again from the evidence.
const PICTURES: [&str; 4] = ["timeline.png", "latency.png", "rate.png", "messages.png"];

/// Compresses the evidence, and removes the pictures and the clients' logs, on which nothing rests. The plan, the
/// provenance, the results and the page stay as they are: `check` and `report` go on working. Doing it again changes
/// nothing.
///
/// # Errors
/// If a file cannot be read, written or removed.
pub fn compact(folder: &Folder) -> Result<()> {
    for name in EVIDENCE {
        folder.compress(name)?;
    }
    for name in PICTURES {
        remove(folder, name)?;
    }
    for entry in folder.entries("logs")? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("logs/{name}");
        let of = name.split(['.', '-']).next().unwrap_or_default();
        match Node::from(of).is_server() {
            true if name.ends_with(".log") => folder.compress(&path)?,
            true => {}
            false => remove(folder, &path)?,
        }
    }
    Ok(())
}

fn remove(folder: &Folder, name: &str) -> Result<()> {
    let path = folder.file(name);
    if path.exists() {
        fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::Plan;

    #[test]
    fn a_thin_run_is_read_as_it_was() {
        let out = tempfile::tempdir().unwrap();
        let folder = Folder::create(out.path(), &Plan::default()).unwrap();
        folder.write_json("plan.json", &Plan::default()).unwrap();
        let event =
            r#"{"index":0,"time":5,"process":0,"type":"invoke","f":"acquire","value":{"grant":"g1"},"node":"c1"}"#;
        fs::write(folder.file("history.jsonl"), format!("{event}\n")).unwrap();
        for name in ["timeline.png", "logs/n1.log", "logs/c1.log"] {
            fs::write(folder.file(name), "text\n").unwrap();
        }
        folder
            .write_json("provenance.json", &serde_json::json!({ "zooquake": "0.1.0" }))
            .unwrap();
        let before = folder.load().unwrap();
        assert_eq!(before.history.events.len(), 1);
        compact(&folder).unwrap();
        compact(&folder).unwrap();
        let after = folder.load().unwrap();
        assert_eq!(after.history, before.history);
        assert_eq!((after.damage, after.plan), (before.damage, before.plan));
        assert!(after.provenance.is_some() && after.provenance == before.provenance);
        assert!(!folder.file("history.jsonl").exists() && !folder.file("timeline.png").exists());
        assert!(folder.file("logs/n1.log.gz").exists() && !folder.file("logs/c1.log").exists());
    }
}
