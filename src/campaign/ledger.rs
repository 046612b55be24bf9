//! The record of a campaign: one JSON object a line, what it is and each attempt that is over. Everything that is
//! reported of a campaign is made from it.

use super::journal::{self, DamagedRecord, Journal};
use crate::calendar;
use anyhow::{Context, Result};
use schemars::{JsonSchema, Schema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// A line. The other names are those that nights and comparisons had in records of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum LedgerLine<H, A> {
    /// The first one: what the campaign is.
    #[serde(alias = "night", alias = "comparison")]
    Campaign(Box<H>),
    /// An attempt is over.
    #[serde(alias = "run")]
    Attempt(Box<A>),
    /// The campaign was taken up again; no longer written.
    Resumed {},
    /// Everything that could be attempted was.
    Closed {
        /// When it was closed, in UTC.
        at: String,
    },
}

/// The schema of a line of a record.
pub fn line_schema<H: JsonSchema, A: JsonSchema>() -> Schema {
    schema_for!(LedgerLine<H, A>)
}

/// What a campaign is, as the first line of its record has it.
pub trait CampaignHeader: Clone + Serialize + DeserializeOwned {
    /// What is there: `night`, …
    const WHAT: &str;
    /// The message about a folder, after its name, that has another one.
    const OTHER: &str;

    /// Name of the record's file in the campaign's folder.
    fn file(&self) -> String;

    /// What is recorded of it when it begins.
    fn begin(self) -> Self {
        self
    }

    /// Whether this recorded campaign is the one that is asked for.
    fn is(&self, asked: &Self) -> bool;
}

/// What comes of a place of a campaign.
pub trait AttemptRecord: Serialize + DeserializeOwned {
    /// The name of its run's folder, if it has one.
    fn run(&self) -> Option<&str>;
}

/// A folder has the record of something else, or of something that goes on; with the message.
#[derive(Debug)]
pub struct ForeignRecord(pub String);

impl fmt::Display for ForeignRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ForeignRecord {}

/// The content of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerContent<H, A> {
    /// What the campaign is.
    pub header: H,
    /// The attempts, in the order of their ends.
    pub attempts: Vec<A>,
    /// Whether its last line closes it.
    pub closed: bool,
}

/// Reads a record; `None` if it has no first line yet. A last line without its end was being written when the program
/// died, and is left out.
///
/// # Errors
/// [`DamagedRecord`] if a whole line cannot be read or is out of place, with its number.
pub fn read<H: CampaignHeader, A: AttemptRecord>(text: &[u8]) -> Result<Option<LedgerContent<H, A>>> {
    let mut recorded: Option<LedgerContent<H, A>> = None;
    for (number, line) in journal::lines(text)? {
        match (line, &mut recorded) {
            (LedgerLine::Campaign(header), None) => {
                recorded = Some(LedgerContent {
                    header: *header,
                    attempts: Vec::new(),
                    closed: false,
                });
            }
            (LedgerLine::Attempt(attempt), Some(all)) => {
                all.attempts.push(*attempt);
                all.closed = false;
            }
            (LedgerLine::Resumed {}, Some(all)) => all.closed = false,
            (LedgerLine::Closed { .. }, Some(all)) => all.closed = true,
            (LedgerLine::Campaign(_), Some(_)) => {
                return Err(damaged(format!("line {number} begins the {} again", H::WHAT)));
            }
            (_, None) => {
                return Err(damaged(format!(
                    "line {number}: it does not begin with what the {} is",
                    H::WHAT
                )));
            }
        }
    }
    Ok(recorded)
}

fn damaged(why: String) -> anyhow::Error {
    DamagedRecord(why).into()
}

/// The text of a record with this content.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn text<H: CampaignHeader, A: AttemptRecord + Clone>(content: &LedgerContent<H, A>) -> Result<Vec<u8>> {
    let attempts = content.attempts.iter().cloned();
    let header = LedgerLine::Campaign(Box::new(content.header.clone()));
    let attempts = attempts.map(|attempt| LedgerLine::Attempt(Box::new(attempt)));
    let closed = content.closed.then(|| LedgerLine::Closed { at: calendar::now() });
    let mut text = Vec::new();
    for line in std::iter::once(header).chain(attempts).chain(closed) {
        serde_json::to_writer(&mut text, &line).context("writing a record as JSON")?;
        text.push(b'\n');
    }
    Ok(text)
}

/// The record of a campaign that goes on; no other process can write it meanwhile.
#[derive(Debug)]
pub struct CampaignLedger<H, A> {
    /// Its content.
    pub recorded: LedgerContent<H, A>,
    /// The attempts that it had when it was opened.
    before: usize,
    journal: Journal,
}

impl<H: CampaignHeader, A: AttemptRecord> CampaignLedger<H, A> {
    /// Begins the campaign in this folder, or takes it up again.
    ///
    /// # Errors
    /// [`ForeignRecord`] if another one is there; otherwise if another program is at it, or it cannot be read or
    /// written.
    pub fn open(folder: &Path, asked: H) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
        let path = folder.join(asked.file());
        let (mut journal, text) = Journal::open(&path)?
            .with_context(|| format!("another zooquake is at the {} in {}", H::WHAT, folder.display()))?;
        let recorded = match read::<H, A>(&text).with_context(|| format!("reading {}", path.display()))? {
            Some(recorded) if recorded.header.is(&asked) => recorded,
            Some(LedgerContent { .. }) => {
                return Err(ForeignRecord(format!("{} {}", folder.display(), H::OTHER)).into());
            }
            None => {
                let header = asked.begin();
                journal
                    .append(&LedgerLine::<H, A>::Campaign(Box::new(header.clone())))
                    .with_context(|| format!("writing {}", path.display()))?;
                LedgerContent {
                    header,
                    attempts: Vec::new(),
                    closed: false,
                }
            }
        };
        Ok(Self {
            before: recorded.attempts.len(),
            recorded,
            journal,
        })
    }

    /// Adds an attempt that is over, and returns when it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record(&mut self, attempt: A) -> Result<()> {
        let line = LedgerLine::<H, A>::Attempt(Box::new(attempt));
        self.append(&line)?;
        if let LedgerLine::Attempt(attempt) = line {
            self.recorded.attempts.push(*attempt);
            self.recorded.closed = false;
        }
        Ok(())
    }

    /// Records that the campaign is through.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn close(&mut self) -> Result<()> {
        self.append(&LedgerLine::Closed { at: calendar::now() })?;
        self.recorded.closed = true;
        Ok(())
    }

    fn append(&mut self, line: &LedgerLine<H, A>) -> Result<()> {
        let doing = || format!("writing the record of the {}", H::WHAT);
        self.journal.append(line).with_context(doing)
    }

    /// The attempts that were made since it was opened.
    pub fn since_opened(&self) -> &[A] {
        &self.recorded.attempts[self.before..]
    }

    /// The names of the folders of runs that it has.
    pub fn runs(&self) -> BTreeSet<&str> {
        self.recorded.attempts.iter().filter_map(AttemptRecord::run).collect()
    }
}
