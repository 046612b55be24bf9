//! The record of a night: one JSON object a line, appended and brought to the disk before anything rests on it.

use super::attempt::Attempt;
use super::campaign::Campaign;
use crate::journal::{self, Journal};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file in a night's folder.
pub const NAME: &str = "night.jsonl";

/// A line of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first one: what the night is.
    Night(Box<Header>),
    /// The night was taken up again after it had ended or died.
    Resumed {
        /// When.
        at: String,
    },
    /// A run of a cell is over.
    Attempt(Box<Attempt>),
    /// Whatever could be run was: no cell is left but those there was no time for.
    Closed {
        /// When.
        at: String,
    },
}

/// What a night is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of this format; 2. In 1 a campaign always has clocks.
    pub format: u32,
    /// The version of zooquake that began it.
    pub zooquake: String,
    /// What it is to run.
    pub campaign: Campaign,
    /// Which part of the matrix.
    pub shard: Option<String>,
    /// When it began.
    pub begun: String,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// What the night is.
    pub header: Header,
    /// The runs, in the order of their ends.
    pub attempts: Vec<Attempt>,
    /// How often it was taken up again.
    pub sitting: usize,
    /// Whether its last line says that it is through.
    pub closed: bool,
}

/// Reads a record; `None` if it has no first line yet. A last line without its end was being written when the program
/// died, and is left out.
///
/// # Errors
/// If a whole line cannot be read, with its number.
pub fn read(text: &[u8]) -> Result<Option<Recorded>> {
    let mut recorded: Option<Recorded> = None;
    for (number, line) in journal::lines(text).with_context(|| "the night's record")? {
        match (line, &mut recorded) {
            (Line::Night(header), None) => {
                recorded = Some(Recorded {
                    header: *header,
                    attempts: Vec::new(),
                    sitting: 0,
                    closed: false,
                });
            }
            (Line::Resumed { .. }, Some(night)) => (night.sitting, night.closed) = (night.sitting + 1, false),
            (Line::Attempt(attempt), Some(night)) => night.attempts.push(*attempt),
            (Line::Closed { .. }, Some(night)) => night.closed = true,
            (Line::Night(_), Some(_)) => bail!("line {number} of the night's record begins it again"),
            (_, None) => bail!("the night's record does not begin with what the night is"),
        }
    }
    Ok(recorded)
}

/// The record of a night that goes on; nobody else can write it meanwhile.
#[derive(Debug)]
pub struct Ledger {
    journal: Journal,
}

impl Ledger {
    /// Opens or makes the record in the folder, locks it, and says what is in it. What a dying program left of a last
    /// line is cut off.
    ///
    /// # Errors
    /// If another program is at this night, or the record cannot be read.
    pub fn open(folder: &Path) -> Result<(Self, Option<Recorded>)> {
        let path = folder.join(NAME);
        let (journal, text) = Journal::open(&path)?
            .with_context(|| format!("another zooquake is at the night in {}", folder.display()))?;
        let recorded = read(&text).with_context(|| format!("reading {}", path.display()))?;
        Ok((Self { journal }, recorded))
    }

    /// Adds a line, and returns when it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, line: &Line) -> Result<()> {
        self.journal.append(line).context("writing the night's record")
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::attempt::tests::{attempt, cell};
    use super::super::campaign::tests::campaign;
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use zooquake_checkers::Verdict;

    /// The header of a night that began on this date.
    pub fn header(date: &str) -> Header {
        Header {
            format: 2,
            zooquake: "0.1.0".into(),
            campaign: campaign(&[1]),
            shard: None,
            begun: format!("{date}T01:00:00Z"),
        }
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("zooquake-ledger-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn what_was_appended_is_read_back_and_a_torn_line_is_cut_off() {
        let folder = folder("torn");
        let one = attempt(
            &cell("pause", 1),
            Some(Verdict::Invalid),
            &[("stale-write", false, true)],
        );
        let (mut ledger, before) = Ledger::open(&folder).unwrap();
        assert_eq!(before, None);
        ledger.append(&Line::Night(Box::new(header("2026-11-20")))).unwrap();
        ledger.append(&Line::Attempt(Box::new(one.clone()))).unwrap();
        drop(ledger);
        let path = folder.join(NAME);
        let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
        torn.write_all(b"{\"line\":\"attempt\",\"variant\":\"lo").unwrap();
        drop(torn);
        let (mut ledger, found) = Ledger::open(&folder).unwrap();
        assert_eq!(found.unwrap().attempts, std::slice::from_ref(&one));
        ledger.append(&Line::Resumed { at: "later".into() }).unwrap();
        ledger.append(&Line::Attempt(Box::new(one))).unwrap();
        ledger.append(&Line::Closed { at: "last".into() }).unwrap();
        let recorded = read(&std::fs::read(&path).unwrap()).unwrap().unwrap();
        assert_eq!(
            (recorded.attempts.len(), recorded.sitting, recorded.closed),
            (2, 1, true)
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn two_programs_are_not_at_one_night() {
        let folder = folder("two");
        let (_ledger, _) = Ledger::open(&folder).unwrap();
        let refused = Ledger::open(&folder).unwrap_err().to_string();
        assert!(refused.contains("another zooquake"), "{refused}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let header = serde_json::to_string(&Line::Night(Box::new(header("2026-11-20")))).unwrap();
        let said = |text: &str| format!("{:#}", read(text.as_bytes()).unwrap_err());
        assert!(said(&format!("{header}\n{{\"line\":\n")).contains("line 2"));
        assert!(said(&format!("{header}\n{header}\n")).contains("line 2"));
        assert!(said("{\"line\":\"closed\",\"at\":\"x\"}\n").contains("does not begin"));
        assert_eq!(read(b"{\"line\":\"nig").unwrap(), None);
    }
}
