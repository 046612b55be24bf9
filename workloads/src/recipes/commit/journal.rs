//! A site's durable log: its votes and the decisions it learnt, written to the disk before they are sent or answered.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Decision, Vote};

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The transaction.
    pub tx: String,
    /// What the site votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Vote>,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// A log. Clones share it, as the processes on one machine do, one after the other.
#[derive(Clone)]
pub struct Journal(Arc<Mutex<JournalState>>);

struct JournalState {
    file: Option<File>,
    entries: Vec<JournalEntry>,
}

impl Journal {
    /// The log of the client of this name: the file that `ZOOQUAKE_LOG` names, or
    /// `/var/tmp/zooquake-<client>.log`.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn of_client(client: &str) -> std::io::Result<Self> {
        let path = std::env::var_os("ZOOQUAKE_LOG").map(PathBuf::from);
        Self::open(&path.unwrap_or_else(|| format!("/var/tmp/zooquake-{client}.log").into()))
    }

    /// The log in a file, which is made if it is missing. A last line that was cut off while it was written counts as
    /// never written, and is taken away.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64)?;
        file.sync_all()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // So that the file itself survives.
            File::open(folder)?.sync_all()?;
        }
        let lines = bytes[..whole]
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty());
        let entries = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Mutex::new(JournalState {
            file: Some(file),
            entries,
        }))))
    }

    /// A log without a file, for simulated machines.
    pub fn in_memory() -> Self {
        Self(Arc::new(Mutex::new(JournalState {
            file: None,
            entries: Vec::new(),
        })))
    }

    /// All entries, in the order in which they were written.
    pub fn entries(&self) -> Vec<JournalEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.clone()
    }

    /// The vote on this transaction.
    pub fn voted(&self, tx: &str) -> Option<Vote> {
        self.find(tx, |entry| entry.vote)
    }

    /// The decision about this transaction.
    pub fn decided(&self, tx: &str) -> Option<Decision> {
        self.find(tx, |entry| entry.decision)
    }

    /// Writes a vote, unless there is one. Answers the vote that the log has then.
    ///
    /// # Errors
    /// If it may not be on the disk.
    pub fn vote(&self, tx: &str, vote: Vote) -> std::io::Result<Vote> {
        if let Some(voted) = self.voted(tx) {
            return Ok(voted);
        }
        self.write(JournalEntry {
            tx: tx.to_string(),
            vote: Some(vote),
            decision: None,
        })?;
        Ok(vote)
    }

    /// Writes a decision, unless there is one. Answers the decision that the log has then.
    ///
    /// # Errors
    /// If it may not be on the disk.
    pub fn decide(&self, tx: &str, decision: Decision) -> std::io::Result<Decision> {
        if let Some(decided) = self.decided(tx) {
            return Ok(decided);
        }
        self.write(JournalEntry {
            tx: tx.to_string(),
            vote: None,
            decision: Some(decision),
        })?;
        Ok(decision)
    }

    fn find<T>(&self, tx: &str, what: impl Fn(&JournalEntry) -> Option<T>) -> Option<T> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.entries.iter().filter(|entry| entry.tx == tx).find_map(what)
    }

    fn write(&self, entry: JournalEntry) -> std::io::Result<()> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut inner.file {
            let mut line = serde_json::to_vec(&entry)?;
            line.push(b'\n');
            let before = file.metadata()?.len();
            if let Err(error) = file.write_all(&line).and_then(|()| file.sync_data()) {
                // Half a line would spoil the next one.
                drop(file.set_len(before));
                return Err(error);
            }
        }
        inner.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_there_again() {
        let path = std::env::temp_dir().join(format!("zooquake-journal-{}", std::process::id()));
        drop(std::fs::remove_file(&path));
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.vote("t1", Vote::Yes).unwrap(), Vote::Yes);
        assert_eq!(journal.vote("t1", Vote::No).unwrap(), Vote::Yes, "a vote is final");
        assert_eq!(journal.decide("t1", Decision::Commit).unwrap(), Decision::Commit);
        drop(journal);
        // The machine stopped while this was being written.
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"tx":"t2","vo"#).unwrap();
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.voted("t1"), Some(Vote::Yes));
        assert_eq!(journal.voted("t2"), None);
        journal.vote("t2", Vote::No).unwrap();
        let journal = Journal::open(&path).unwrap();
        assert_eq!(
            (journal.decided("t1"), journal.voted("t2")),
            (Some(Decision::Commit), Some(Vote::No))
        );
        assert_eq!(journal.entries().len(), 3);
        std::fs::remove_file(&path).unwrap();
    }
}
