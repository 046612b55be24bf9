//! The record of a comparison: what it is, and a line for each run that is over.

use super::order::Turn;
use super::setup::Setup;
use crate::journal::{self, Journal};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use zooquake_checkers::Verdict;
use zooquake_checkers::sample::Sample;
use zooquake_reports::night::Seen;

/// Name of the file in the comparison's folder.
pub const NAME: &str = "compare.jsonl";

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first one: what is compared.
    Comparison(Box<Header>),
    /// A run is over.
    Run(Box<Entry>),
}

/// What is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of this format; 1.
    pub format: u32,
    /// What is compared.
    pub setup: Setup,
    /// When it began.
    pub begun: String,
}

/// A run that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Which one.
    #[serde(flatten)]
    pub turn: Turn,
    /// What its plan was drawn from.
    pub seed: u64,
    /// The verdict; `None` if the harness failed.
    pub verdict: Option<Verdict>,
    /// How the harness failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The anomalies by kind.
    #[serde(default)]
    pub anomalies: Vec<Seen>,
    /// Its measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// The name of its folder; `None` if it never had one.
    pub run: Option<String>,
    /// Seconds that it took from the first container to the report.
    pub seconds: f64,
}

/// The folder has another comparison.
#[derive(Debug)]
pub struct OtherComparison(PathBuf);

impl fmt::Display for OtherComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} has a comparison with other options: give the same ones to go on with it, or another --out",
            self.0.display()
        )
    }
}

impl std::error::Error for OtherComparison {}

/// A record that goes on.
#[derive(Debug)]
pub struct Ledger {
    /// What is compared.
    pub header: Header,
    /// The runs, in the order of their ends; of a turn that failed and was taken again both.
    pub entries: Vec<Entry>,
    journal: Journal,
}

impl Ledger {
    /// Begins the comparison in this folder, or goes on with it.
    ///
    /// # Errors
    /// [`OtherComparison`] if it is one; otherwise if another program is at it, or it cannot be read or written.
    pub fn open(folder: &Path, begun: Header) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
        let path = folder.join(NAME);
        let reading = || format!("reading {}", path.display());
        let (mut journal, text) = Journal::open(&path)?
            .with_context(|| format!("another zooquake is at the comparison in {}", folder.display()))?;
        let mut lines = journal::lines::<Line>(&text).with_context(reading)?.into_iter();
        let header = match lines.next() {
            None => {
                journal
                    .append(&Line::Comparison(Box::new(begun.clone())))
                    .with_context(|| format!("writing {}", path.display()))?;
                begun
            }
            Some((_, Line::Comparison(header))) if header.setup == begun.setup => *header,
            Some((_, Line::Comparison(_))) => return Err(OtherComparison(folder.to_path_buf()).into()),
            Some((number, Line::Run(_))) => bail!("{}: line {number} should say what is compared", path.display()),
        };
        let mut entries = Vec::new();
        for (number, line) in lines {
            match line {
                Line::Run(entry) => entries.push(*entry),
                Line::Comparison(_) => bail!("{}: line {number} begins it again", path.display()),
            }
        }
        Ok(Self {
            header,
            entries,
            journal,
        })
    }

    /// Adds a run that is over, and returns when it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record(&mut self, entry: Entry) -> Result<()> {
        let line = Line::Run(Box::new(entry));
        self.journal.append(&line).context("writing the comparison's record")?;
        if let Line::Run(entry) = line {
            self.entries.push(*entry);
        }
        Ok(())
    }

    /// What came of each turn: the last entry of each.
    pub fn last(&self) -> BTreeMap<Turn, &Entry> {
        self.entries.iter().map(|entry| (entry.turn, entry)).collect()
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::setup::tests::setup;
    use super::*;
    use std::io::Write;

    /// A folder that nobody else uses.
    pub fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("zooquake-compare-{name}-{}", std::process::id()))
    }

    /// A comparison of two locks, without faults, in two rounds.
    pub fn header() -> Header {
        Header {
            format: 1,
            setup: setup(&["predecessor", "fenced"], &["none"], &[1, 2]),
            begun: "2026-11-20T22:00:00Z".into(),
        }
    }

    /// A run that was judged.
    pub fn entry(turn: Turn) -> Entry {
        Entry {
            turn,
            seed: 1,
            verdict: Some(Verdict::Valid),
            error: None,
            anomalies: vec![],
            sample: Some(Sample::default()),
            run: Some(format!("run-{}-{}", turn.round, turn.subject)),
            seconds: 40.0,
        }
    }

    #[test]
    fn it_goes_on_after_a_torn_line_and_refuses_another_comparison() {
        let folder = folder("ledger");
        let turn = Turn {
            round: 0,
            faults: 0,
            subject: 1,
        };
        let mut ledger = Ledger::open(&folder, header()).unwrap();
        ledger.record(entry(turn)).unwrap();
        let busy = Ledger::open(&folder, header()).unwrap_err().to_string();
        assert!(busy.contains("another zooquake"), "{busy}");
        drop(ledger);
        let mut torn = std::fs::OpenOptions::new()
            .append(true)
            .open(folder.join(NAME))
            .unwrap();
        torn.write_all(b"{\"line\":\"run\",\"rou").unwrap();
        drop(torn);
        let later = Header {
            begun: "2026-11-21T22:00:00Z".into(),
            ..header()
        };
        let ledger = Ledger::open(&folder, later).unwrap();
        assert_eq!(ledger.header, header(), "it began when it began");
        assert_eq!(ledger.last(), BTreeMap::from([(turn, &entry(turn))]));
        drop(ledger);
        let other = Header {
            setup: setup(&["predecessor"], &["none"], &[1, 2]),
            ..header()
        };
        let refused = Ledger::open(&folder, other).unwrap_err();
        assert!(refused.downcast_ref::<OtherComparison>().is_some(), "{refused:#}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
