//! The folder in which an exploration keeps what it has explored, so that a later one goes on.

use super::shard::Shard;
use super::space::Space;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file in it, a line of JSON each: first what is explored, then how far each shard has come.
const FILE: &str = "explored.jsonl";

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// Version of this format; 1.
    format: u32,
    space: Space,
}

/// How far a shard has come: it has explored its schedules up to this one, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Explored {
    shard: Shard,
    until: u64,
}

/// A corpus.
#[derive(Debug, Clone)]
pub struct Corpus {
    path: PathBuf,
    explored: Vec<Explored>,
}

/// A folder has the corpus of another exploration.
#[derive(Debug)]
pub struct Other(String);

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Other {}

impl Corpus {
    /// Opens the corpus in a folder, or begins it; with the space that is explored there, which is the one asked for but for
    /// its first seed: that is the corpus's.
    ///
    /// # Errors
    /// [`Other`] if the folder has the corpus of another space; otherwise if a file cannot be read or written.
    pub fn open(folder: &Path, asked: &Space, seed: Option<u64>) -> Result<(Self, Space)> {
        fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
        let path = folder.join(FILE);
        let doing = || format!("reading {}", path.display());
        if !path.exists() {
            let header = Header {
                format: 1,
                space: asked.clone(),
            };
            let corpus = Self {
                path,
                explored: Vec::new(),
            };
            corpus.append(&header)?;
            return Ok((corpus, asked.clone()));
        }
        let text = fs::read_to_string(&path).with_context(doing)?;
        let mut lines = text.lines();
        let header: Header = serde_json::from_str(lines.next().unwrap_or_default()).with_context(doing)?;
        let here = Space {
            seed: seed.unwrap_or(header.space.seed),
            ..asked.clone()
        };
        if here != header.space {
            return Err(Other(format!(
                "{} explores {:?}: give the same options to go on with it, or another --corpus",
                folder.display(),
                header.space
            ))
            .into());
        }
        // A line that a crash has torn says nothing: its schedules are explored again.
        let explored = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((Self { path, explored }, header.space))
    }

    /// Whether the schedule of this number was explored, by any shard.
    pub fn has(&self, number: u64) -> bool {
        self.explored.iter().any(|explored| {
            explored
                .shard
                .position(number)
                .is_some_and(|position| position < explored.until)
        })
    }

    /// Says that a shard has explored all its schedules before this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn reached(&mut self, shard: Shard, until: u64) -> Result<()> {
        let explored = Explored { shard, until };
        if self.explored.contains(&explored) || until == 0 {
            return Ok(());
        }
        self.append(&explored)?;
        self.explored.retain(|other| other.shard != shard);
        self.explored.push(explored);
        Ok(())
    }

    fn append(&self, line: &impl Serialize) -> Result<()> {
        let doing = || format!("writing {}", self.path.display());
        let mut text = serde_json::to_string(line).with_context(doing)?;
        text.push('\n');
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .with_context(doing)?;
        file.write_all(text.as_bytes()).with_context(doing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(seed: u64) -> Space {
        Space {
            variant: "lock/protected".into(),
            servers: 3,
            clients: 5,
            ops: 8,
            windows: 2,
            faults: vec!["kill".into()],
            seed,
        }
    }

    fn shard(text: &str) -> Shard {
        text.parse().unwrap()
    }

    #[test]
    fn a_corpus_is_gone_on_with_by_the_same_exploration_only() {
        let folder = tempfile::tempdir().unwrap();
        let (mut corpus, here) = Corpus::open(folder.path(), &space(7), None).unwrap();
        assert_eq!(here, space(7));
        corpus.reached(shard("1/2"), 3).unwrap();
        corpus.reached(shard("1/2"), 5).unwrap();
        let (again, here) = Corpus::open(folder.path(), &space(99), None).unwrap();
        assert_eq!(here.seed, 7, "the corpus's own");
        // The first of two shards has the numbers 0, 2, 4, 6, 8.
        let explored: Vec<u64> = (0..20).filter(|number| again.has(*number)).collect();
        assert_eq!(explored, [0, 2, 4, 6, 8]);
        for (other, seed) in [(Space { ops: 9, ..space(7) }, None), (space(8), Some(8))] {
            let refused = Corpus::open(folder.path(), &other, seed).unwrap_err();
            assert!(refused.is::<Other>(), "{refused:#}");
        }
    }

    #[test]
    fn a_line_that_a_crash_has_torn_is_explored_again() {
        let folder = tempfile::tempdir().unwrap();
        let (mut corpus, _) = Corpus::open(folder.path(), &space(7), None).unwrap();
        corpus.reached(shard("1/1"), 3).unwrap();
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{{\"shard\":\"1/1\",\"unt")).unwrap();
        let (again, _) = Corpus::open(folder.path(), &space(7), None).unwrap();
        assert_eq!((0..9).filter(|number| again.has(*number)).count(), 3);
    }
}
