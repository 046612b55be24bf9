//! The folder in which an exploration keeps what it has explored, so that a later one goes on.

use super::space::Space;
use crate::campaign::journal::{self, DamagedRecord, Journal};
use crate::campaign::ledger::ForeignRecord;
use crate::campaign::shard::Shard;
use crate::version;
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The file in it, a line of JSON each: first what is explored, then how far each shard has come.
pub const FILE: &str = "explored.jsonl";

/// The version of corpora that this program writes and goes on with.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct CorpusHeader {
    /// Version of this format: [`FORMAT`].
    format: u32,
    /// The version and the commit of the zooquake that began it; empty in old corpora.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    zooquake: String,
    space: Space,
}

/// How far a shard has come: it has explored its schedules up to this one, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CorpusProgress {
    shard: Shard,
    until: u64,
}

/// A corpus that is gone on with; no other process can write it meanwhile.
#[derive(Debug)]
pub struct Corpus {
    journal: Journal,
    done: ExploredSchedules,
}

/// What was explored, by any shard.
#[derive(Debug, Clone, Default)]
pub struct ExploredSchedules(Vec<CorpusProgress>);

impl ExploredSchedules {
    /// Whether the schedule of this number was.
    pub fn has(&self, number: u64) -> bool {
        self.0.iter().any(|explored| {
            explored
                .shard
                .position(number)
                .is_some_and(|position| position < explored.until)
        })
    }
}

/// The text of a corpus, taken apart.
#[derive(Debug)]
pub struct CorpusText {
    header: CorpusHeader,
    progress: Vec<CorpusProgress>,
}

impl CorpusText {
    /// Reads it.
    ///
    /// # Errors
    /// [`ForeignRecord`] if it is of another format; [`DamagedRecord`] if it has no first line, or a line makes no
    /// sense.
    pub fn read(text: &[u8]) -> Result<Self> {
        let mut lines = journal::lines::<Value>(text)?.into_iter();
        let Some((_, first)) = lines.next() else {
            return Err(DamagedRecord("it has no first line".to_owned()).into());
        };
        let header: CorpusHeader = parsed(first, 1)?;
        if header.format != FORMAT {
            return Err(ForeignRecord(format!(
                "it is of format {}, and this zooquake reads format {FORMAT} alone",
                header.format
            ))
            .into());
        }
        let mut progress: Vec<CorpusProgress> = Vec::new();
        for (number, line) in lines {
            let line: CorpusProgress = parsed(line, number)?;
            progress.retain(|other| other.shard != line.shard);
            progress.push(line);
        }
        Ok(Self { header, progress })
    }

    /// How far each part has come that filled it.
    pub fn explored(&self) -> impl Iterator<Item = (Shard, u64)> {
        self.progress.iter().map(|explored| (explored.shard, explored.until))
    }

    /// What keeps it from being of the same exploration as another, in words; `None` if nothing does.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let (here, there) = (&self.header, &other.header);
        if here.zooquake != there.zooquake {
            return Some(format!(
                "their versions of zooquake are {} and {}",
                here.zooquake, there.zooquake
            ));
        }
        (here.space != there.space).then(|| format!("one explores {:?}, the other {:?}", here.space, there.space))
    }

    /// The text of a corpus of the same exploration in which parts have come so far.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn with(&self, explored: &[(Shard, u64)]) -> Result<String> {
        let mut text = serde_json::to_string(&self.header)? + "\n";
        for (shard, until) in explored {
            let (shard, until) = (*shard, *until);
            text += &(serde_json::to_string(&CorpusProgress { shard, until })? + "\n");
        }
        Ok(text)
    }
}

/// What a line stands for.
///
/// # Errors
/// [`DamagedRecord`] if it makes no sense.
fn parsed<T: DeserializeOwned>(line: Value, number: usize) -> Result<T> {
    serde_json::from_value(line).map_err(|error| DamagedRecord(format!("line {number}: {error}")).into())
}

impl Corpus {
    /// Opens the corpus in a folder, or begins it; with the space that is explored there, which is the one asked for
    /// but for its first seed: that is the corpus's.
    ///
    /// # Errors
    /// [`ForeignRecord`] if the folder has the corpus of another space, or another program is at it; otherwise if a
    /// file cannot be read or written.
    pub fn open(folder: &Path, asked: &Space, seed: Option<u64>) -> Result<(Self, Space)> {
        fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
        let path = folder.join(FILE);
        let reading = || format!("reading {}", path.display());
        let Some((mut journal, text)) = Journal::open(&path)? else {
            let why = format!("another exploration is at {}: give another --corpus", folder.display());
            return Err(ForeignRecord(why).into());
        };
        let mut lines = journal::lines::<Value>(&text).with_context(reading)?.into_iter();
        let Some((_, first)) = lines.next() else {
            let header = CorpusHeader {
                format: FORMAT,
                zooquake: version::FULL.to_string(),
                space: asked.clone(),
            };
            journal
                .append(&header)
                .with_context(|| format!("writing {}", path.display()))?;
            let done = ExploredSchedules::default();
            return Ok((Self { journal, done }, header.space));
        };
        let header: CorpusHeader = parsed(first, 1).with_context(reading)?;
        if header.format != FORMAT {
            let (folder, format) = (folder.display(), header.format);
            let why = format!("{folder} is of format {format}, and this zooquake reads format {FORMAT} alone");
            return Err(ForeignRecord(why).into());
        }
        let here = Space {
            seed: seed.unwrap_or(header.space.seed),
            ..asked.clone()
        };
        if here != header.space {
            return Err(ForeignRecord(format!(
                "{} explores {:?}: give the same options to go on with it, or another --corpus",
                folder.display(),
                header.space
            ))
            .into());
        }
        let explored = lines.map(|(number, line)| parsed(line, number).with_context(reading));
        let done = ExploredSchedules(explored.collect::<Result<_>>()?);
        Ok((Self { journal, done }, header.space))
    }

    /// What was explored by now.
    pub fn done(&self) -> ExploredSchedules {
        self.done.clone()
    }

    /// Records that a shard has explored all its schedules before this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn reached(&mut self, shard: Shard, until: u64) -> Result<()> {
        let explored = CorpusProgress { shard, until };
        if self.done.0.contains(&explored) || until == 0 {
            return Ok(());
        }
        self.journal.append(&explored).context("writing the corpus")?;
        self.done.0.retain(|other| other.shard != shard);
        self.done.0.push(explored);
        Ok(())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::explore::space::Search;

    pub fn space(seed: u64) -> Space {
        Space {
            variant: "lock/protected".into(),
            servers: 3,
            clients: 5,
            ops: 8,
            windows: 2,
            faults: vec!["kill".into()],
            seed,
            search: Search::Walk,
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
        let refused = Corpus::open(folder.path(), &space(7), None).unwrap_err();
        assert!(refused.is::<ForeignRecord>(), "two at once: {refused:#}");
        drop(corpus);
        let (again, here) = Corpus::open(folder.path(), &space(99), None).unwrap();
        assert_eq!(here.seed, 7, "the corpus's own");
        // The first of two shards has the numbers 0, 2, 4, 6, 8.
        let explored: Vec<u64> = (0..20).filter(|number| again.done().has(*number)).collect();
        assert_eq!(explored, [0, 2, 4, 6, 8]);
        drop(again);
        for (other, seed) in [(Space { ops: 9, ..space(7) }, None), (space(8), Some(8))] {
            let refused = Corpus::open(folder.path(), &other, seed).unwrap_err();
            assert!(refused.is::<ForeignRecord>(), "{refused:#}");
        }
    }

    #[test]
    fn a_corpus_of_an_unknown_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        drop(Corpus::open(folder.path(), &space(7), None).unwrap());
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path)
            .unwrap()
            .replace("\"format\":1", "\"format\":2");
        fs::write(&path, text).unwrap();
        let refused = Corpus::open(folder.path(), &space(7), None).unwrap_err();
        assert!(
            refused.is::<ForeignRecord>() && refused.to_string().contains("format 2"),
            "{refused:#}"
        );
    }

    #[test]
    fn a_line_that_a_crash_has_torn_is_explored_again_and_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Corpus::open(folder.path(), &space(7), None).unwrap().0;
        let explored = |corpus: &Corpus| (0..9).filter(|number| corpus.done().has(*number)).count();
        open().reached(shard("1/1"), 3).unwrap();
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{{\"shard\":\"1/1\",\"unt")).unwrap();
        let mut again = open();
        assert_eq!(explored(&again), 3);
        again.reached(shard("1/1"), 5).unwrap();
        drop(again);
        assert_eq!(explored(&open()), 5);
    }
}
