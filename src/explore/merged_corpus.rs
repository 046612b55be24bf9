//! One corpus of those that the parts of an exploration filled.

use super::corpus::{self, CorpusText};
use crate::campaign::ledger::ForeignRecord;
use crate::campaign::shard::Shard;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use zooquake_backend::files;

/// A corpus that was made of others.
#[derive(Debug)]
pub struct MergedCorpus {
    /// How many schedules of each part were explored.
    pub shards: Vec<(Shard, u64)>,
    /// Parts that are missing, or were there twice, in sentences.
    pub remarks: Vec<String>,
    /// Whether every part of some division is there.
    pub whole: bool,
}

/// Makes one corpus of those in the folders, in the folder `out`. Of a part that is in several, the one that came
/// further counts, since both have explored the same schedules.
///
/// # Errors
/// [`ForeignRecord`] if they are not of one exploration and one version; otherwise if one cannot be read, or the new
/// one not be written.
pub fn merge(folders: &[PathBuf], out: &Path) -> Result<MergedCorpus> {
    let mut texts: Vec<(&PathBuf, CorpusText)> = Vec::new();
    for folder in folders {
        let path = folder.join(corpus::FILE);
        let reading = || format!("reading {}", path.display());
        let text = files::read(&path, files::RECORD).with_context(reading)?;
        texts.push((folder, CorpusText::read(&text).with_context(reading)?));
    }
    let (first, one) = texts.first().context("there are no corpora")?;
    for (folder, other) in &texts[1..] {
        if let Some(why) = one.difference(other) {
            let why = format!("{first:?} and {folder:?} are no parts of one exploration: {why}");
            return Err(ForeignRecord(why).into());
        }
    }
    let mut merged = MergedCorpus {
        shards: Vec::new(),
        remarks: Vec::new(),
        whole: false,
    };
    let mut furthest: BTreeMap<(String, u64), (Shard, u64, &PathBuf)> = BTreeMap::new();
    for (folder, text) in &texts {
        for (shard, until) in text.explored() {
            let division = shard.to_string().split_once('/').map(|(_, of)| of.to_string());
            let key = (division.unwrap_or_default(), shard.first());
            let Some(known) = furthest.get_mut(&key) else {
                furthest.insert(key, (shard, until, folder));
                continue;
            };
            merged.remarks.push(format!(
                "part {shard} is in {:?} and in {folder:?}: the one that came further counts",
                known.2
            ));
            if until > known.1 {
                *known = (shard, until, folder);
            }
        }
    }
    merged.shards = furthest.values().map(|(shard, until, _)| (*shard, *until)).collect();
    merged.look_for_gaps();
    fs::create_dir_all(out).with_context(|| format!("making the folder {}", out.display()))?;
    let path = out.join(corpus::FILE);
    let text = one.with(&merged.shards)?;
    zooquake_reports::publish(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(merged)
}

impl MergedCorpus {
    /// States which parts of each division are missing.
    fn look_for_gaps(&mut self) {
        let has = |shard: Shard| self.shards.iter().any(|(other, _)| *other == shard);
        let mut gaps: Vec<String> = Vec::new();
        for (shard, _) in &self.shards {
            let gone: Vec<String> = shard
                .siblings()
                .filter(|sibling| !has(*sibling))
                .map(|sibling| sibling.to_string())
                .collect();
            self.whole |= gone.is_empty();
            let gap = format!("without {}, whose schedules nobody has explored here", gone.join(", "));
            if !gone.is_empty() && !gaps.contains(&gap) {
                gaps.push(gap);
            }
        }
        self.remarks.extend(gaps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::corpus::{Corpus, tests::space};

    fn corpus(at: &Path, seed: u64, shard: &str, until: u64) -> PathBuf {
        let (mut corpus, _) = Corpus::open(at, &space(seed), Some(seed)).unwrap();
        corpus.reached(shard.parse().unwrap(), until).unwrap();
        at.to_path_buf()
    }

    #[test]
    fn what_any_part_explored_is_explored_and_a_missing_part_is_named() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let mut parts = vec![
            corpus(&at("a"), 7, "1/3", 2),
            corpus(&at("b"), 7, "3/3", 3),
            corpus(&at("c"), 7, "1/3", 4),
        ];
        let merged = merge(&parts, &at("out")).unwrap();
        assert!(!merged.whole);
        assert_eq!(merged.remarks.len(), 2, "{:?}", merged.remarks);
        assert!(merged.remarks[1].contains("2/3"), "{:?}", merged.remarks);
        let (explored, here) = Corpus::open(&at("out"), &space(99), None).unwrap();
        assert_eq!(here, space(7));
        let numbers: Vec<u64> = (0..20).filter(|number| explored.done().has(*number)).collect();
        assert_eq!(numbers, [0, 2, 3, 5, 6, 8, 9]);
        parts.push(corpus(&at("d"), 7, "2/3", 1));
        assert!(merge(&parts, &at("whole")).unwrap().whole);
    }

    #[test]
    fn corpora_of_other_schedules_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let parts = [corpus(&at("a"), 7, "1/2", 2), corpus(&at("b"), 8, "2/2", 3)];
        let refused = merge(&parts, &at("out")).unwrap_err();
        assert!(refused.is::<ForeignRecord>(), "{refused:#}");
        assert!(!at("out").exists());
    }
}
