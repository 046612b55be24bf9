//! What a path on the command line stands for.

use crate::cli::exit::Usage;
use crate::pack;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How a history file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Ours: one JSON object a line.
    Jsonl,
    /// Jepsen's maps of operations.
    Edn,
    /// Jepsen's text log.
    Log,
}

impl Format {
    /// The format of a file, by its name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "jsonl" => Some(Self::Jsonl),
            "edn" => Some(Self::Edn),
            "log" | "txt" => Some(Self::Log),
            _ => None,
        }
    }
}

/// The inputs that a path stands for: itself, or all runs, packs and histories in a folder and its folders.
///
/// # Errors
/// If there is nothing at the path, nothing to check in the folder, or the folder cannot be read.
pub fn inputs(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.exists() {
        return Err(Usage(format!("there is nothing at {}", path.display())).into());
    }
    if path.is_file() || is_run(path) {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("reading {}", folder.display()))?.path();
            // `latest` and the like are second names of runs that are found anyway.
            if entry.is_symlink() {
                continue;
            }
            if is_run(&entry) || pack::is_pack(&entry) || is_history(&entry)? {
                found.push(entry);
            } else if entry.is_dir() {
                folders.push(entry);
            }
        }
    }
    found.sort();
    if found.is_empty() {
        let text = format!(
            "{} is no run (it lacks plan.json and history.jsonl) and holds neither runs nor histories",
            path.display()
        );
        return Err(Usage(text).into());
    }
    Ok(found)
}

/// Whether a folder is that of a run, though some file of it may be missing.
pub fn is_run(folder: &Path) -> bool {
    ["plan.json", "history.jsonl"]
        .iter()
        .any(|name| folder.join(name).exists())
}

fn is_history(path: &Path) -> Result<bool> {
    Ok(match Format::of(path) {
        _ if !path.is_file() => false,
        Some(Format::Jsonl | Format::Edn) => true,
        // Many a file is called so; one that nobody named must show what it is.
        Some(Format::Log) => {
            let mut start = Vec::new();
            let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
            file.take(1 << 16)
                .read_to_end(&mut start)
                .with_context(|| format!("reading {}", path.display()))?;
            String::from_utf8_lossy(&start).contains("jepsen.util")
        }
        None => false,
    })
}
