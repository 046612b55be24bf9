//! A record that survives its writer: one JSON object a line, appended and brought to the disk before anything rests on
//! it.

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use zooquake_backend::files::RECORD;

/// A record that cannot be read, with the reason: another one is to be given.
#[derive(Debug)]
pub struct DamagedRecord(pub String);

impl fmt::Display for DamagedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DamagedRecord {}

/// A record that goes on; no other process can write it meanwhile.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens or makes the file, locks it, and returns what is in it; `None` if another program is at it. What a dying
    /// program left of a last line is cut off.
    ///
    /// # Errors
    /// [`DamagedRecord`] if it is no regular file, or too large; otherwise if it cannot be opened or read.
    pub fn open(path: &Path) -> Result<Option<(Self, Vec<u8>)>> {
        let doing = || format!("opening {}", path.display());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).with_context(doing)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error).with_context(doing),
        }
        let metadata = file.metadata().with_context(doing)?;
        if !metadata.is_file() || metadata.len() > RECORD {
            let (path, most) = (path.display(), RECORD >> 20);
            let why = format!("{path} is not a regular file, or is larger than {most} MiB");
            return Err(DamagedRecord(why).into());
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).with_context(doing)?;
        text.truncate(whole(&text).len());
        file.set_len(text.len() as u64).with_context(doing)?;
        file.seek(SeekFrom::End(0)).with_context(doing)?;
        // The name of a new file is on the disk only when its folder is.
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
            .and_then(|folder| folder.sync_all())
            .with_context(doing)?;
        Ok(Some((Self { file }, text)))
    }

    /// Adds a line, and returns when it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).context("writing it as JSON")?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()?;
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A process that is forked meanwhile has the file open until it runs its program, and would keep the lock. What
        // cannot be unlocked is unlocked when the last one closes it.
        let _ = self.file.unlock();
    }
}

/// The lines of a record, each with its number from 1. A last line without its end was being written when the program
/// died, and is left out.
///
/// # Errors
/// [`DamagedRecord`] if a whole line cannot be read, with its number.
pub fn lines<T: DeserializeOwned>(text: &[u8]) -> Result<Vec<(usize, T)>> {
    let lines = whole(text).split(|byte| *byte == b'\n').zip(1..);
    let read = |(line, number): (&[u8], usize)| {
        let line = serde_json::from_slice(line).map_err(|error| DamagedRecord(format!("line {number}: {error}")))?;
        Ok((number, line))
    };
    lines.filter(|(line, _)| !line.is_empty()).map(read).collect()
}

/// The text up to its last end of a line.
fn whole(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &text[..end]
}
