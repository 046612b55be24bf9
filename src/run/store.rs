//! Where a run's record goes: the files of a folder, or memory.

use super::folder::Folder;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use zooquake_history::{
    Event, MessageRecord, Provenance, Record,
    evidence::{ServerSample, TreeReadings},
    plan::Plan,
    txnlog::TxnLogs,
};

/// Keeps what a run records. Clones of one in memory share it.
#[derive(Clone)]
pub enum Store {
    /// In the run's folder, each event as it happens.
    Folder(Folder),
    /// In memory, for runs of which most are not looked at again.
    Memory(Arc<Mutex<Record>>),
}

impl Store {
    /// Memory for the record of a plan's run; the same record as its folder would give.
    pub fn memory(plan: &Plan) -> Self {
        Self::Memory(Arc::new(Mutex::new(Record {
            plan: plan.clone().of_new_run(),
            logs: Some(Vec::new()),
            ..Record::default()
        })))
    }

    /// The record that was kept in memory; `None` of a folder.
    pub fn into_record(self) -> Option<Record> {
        match self {
            Self::Folder(_) => None,
            Self::Memory(record) => {
                let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
                let mut record = std::mem::take(&mut *record);
                record.missing = record.files_without_content();
                Some(record)
            }
        }
    }

    /// Where it is, for the user.
    pub fn shown(&self) -> String {
        match self {
            Self::Folder(folder) => folder.path.display().to_string(),
            Self::Memory(_) => "memory".to_string(),
        }
    }

    /// Where the processes of the run write their logs; those of a run in memory write none.
    pub fn logs(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.file("logs"),
            Self::Memory(_) => PathBuf::new(),
        }
    }

    /// Begins the history.
    ///
    /// # Errors
    /// If its file cannot be made.
    pub fn history(&self) -> Result<Events> {
        match self {
            Self::Folder(folder) => Events::create(folder.file("history.jsonl")),
            Self::Memory(record) => Ok(Events::Memory(Arc::clone(record))),
        }
    }

    /// Keeps the znodes at the end.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn tree(&self, tree: &TreeReadings) -> Result<()> {
        self.keep(
            |folder| folder.write_json("tree.json", tree),
            |record| record.tree = Some(tree.clone()),
        )
    }

    /// Keeps the transactions of the servers' logs, and what was read of each server's.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn transactions(&self, logs: TxnLogs) -> Result<()> {
        let TxnLogs { transactions, servers } = logs;
        match self {
            Self::Folder(folder) => {
                folder.write_jsonl("txnlog.jsonl", &transactions)?;
                folder.write_json("txnlogs.json", &servers)
            }
            Self::Memory(record) => {
                let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
                (record.txnlog, record.server_txnlogs) = (Some(transactions), Some(servers));
                Ok(())
            }
        }
    }

    /// Keeps the states that the servers reported, in place of those that were kept before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn samples(&self, samples: &[ServerSample]) -> Result<()> {
        self.keep(
            |folder| folder.write_jsonl("servers.jsonl", samples),
            |record| record.servers = Some(samples.to_vec()),
        )
    }

    /// Keeps the messages of a network.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn messages(&self, messages: &[MessageRecord]) -> Result<()> {
        self.keep(
            |folder| folder.write_jsonl("messages.jsonl", messages),
            |record| record.messages = Some(messages.to_vec()),
        )
    }

    /// Keeps what records the run, in place of what was kept before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn provenance(&self, provenance: &Provenance) -> Result<()> {
        self.keep(
            |folder| folder.write_json("provenance.json", provenance),
            |record| record.provenance = Some(provenance.clone()),
        )
    }

    fn keep(&self, in_folder: impl FnOnce(&Folder) -> Result<()>, in_memory: impl FnOnce(&mut Record)) -> Result<()> {
        match self {
            Self::Folder(folder) => in_folder(folder),
            Self::Memory(record) => {
                in_memory(&mut record.lock().unwrap_or_else(PoisonError::into_inner));
                Ok(())
            }
        }
    }
}

/// Where the events of a history go.
pub enum Events {
    /// A file, a line of JSON each.
    File {
        /// The open file.
        file: File,
        path: PathBuf,
    },
    /// The history of a record.
    Memory(Arc<Mutex<Record>>),
}

impl Events {
    /// Those of a new file.
    ///
    /// # Errors
    /// If the file is there, or cannot be made.
    pub fn create(path: PathBuf) -> Result<Self> {
        let file = File::create_new(&path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Self::File { file, path })
    }

    /// Appends an event. A line is handed to the kernel at once, so that it survives our own death.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, event: Event) -> Result<()> {
        match self {
            Self::File { file, path } => {
                let mut line = serde_json::to_vec(&event).context("writing an event as JSON")?;
                line.push(b'\n');
                file.write_all(&line)
                    .with_context(|| format!("writing to {}", path.display()))
            }
            Self::Memory(record) => {
                let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
                record.history.events.push(event);
                Ok(())
            }
        }
    }

    /// Waits until all events are on disk, if they go there.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn sync(&self) -> Result<()> {
        match self {
            Self::File { file, path } => file.sync_data().with_context(|| format!("syncing {}", path.display())),
            Self::Memory(_) => Ok(()),
        }
    }
}
