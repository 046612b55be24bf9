//! A server's transaction logs out of an archive of their folder, whatever the archive holds.

use std::io::{self, Read};
use std::path::{Component, Path};
use tar::{Archive, EntryType};
use tokio::sync::mpsc;
use zooquake_history::txnlog::entry::LogEntry;
use zooquake_history::txnlog::{LogEnd, read};
use zooquake_history::{Txn, TxnPart};

/// The most bytes of an archive that are taken.
const ARCHIVE: u64 = 1 << 30;

/// The most bytes of a log file that are taken, without the zeros at its end.
const FILE: usize = 64 << 20;

/// The most bytes of memory that the transactions of one archive take: about a million and a half of short ones. While
/// a file is read it takes about as much again.
const MEMORY: usize = 512 << 20;

/// What an archive holds of transaction logs.
#[derive(Debug, Default)]
pub struct FolderLogs {
    /// The transactions of all log files.
    pub entries: Vec<LogEntry>,
    /// What could not be read, and why.
    pub problems: Vec<String>,
}

/// Reads the files `log.ZXID` at the top of an archive, or in the one folder at its top. Others, such as snapshots, are
/// passed over.
pub fn read_archive(archive: impl Read) -> FolderLogs {
    let mut logs = FolderLogs::default();
    let mut metered = BoundedArchive {
        archive,
        left: ARCHIVE,
        ended: false,
    };
    let read = logs.take(&mut Archive::new(&mut metered));
    if let Err(error) = read {
        logs.problems.push(error.to_string());
    } else if metered.ended {
        logs.problems.push("the archive ends without its end mark".to_owned());
    }
    logs
}

impl FolderLogs {
    fn take(&mut self, archive: &mut Archive<impl Read>) -> io::Result<()> {
        let mut taken = 0;
        for entry in archive.entries()? {
            let mut entry = entry?;
            let Some(name) = log_name(&entry.path()?) else { continue };
            if entry.header().entry_type() != EntryType::Regular {
                self.problems.push(format!("{name} is not a regular file"));
                continue;
            }
            let Some(bytes) = content(&mut entry)? else {
                self.problems.push(format!("{name} has more than {} MiB", FILE >> 20));
                continue;
            };
            let file = read(&bytes);
            match file.end {
                LogEnd::Clean | LogEnd::Torn(_) => {}
                LogEnd::Damaged(at, what) => self.problems.push(format!("{name}: {what}, at byte {at}")),
            }
            taken += file.entries.iter().map(size).sum::<usize>();
            if taken > MEMORY {
                let (most, read) = (MEMORY >> 20, self.entries.len());
                let why = format!("the transactions take more than {most} MiB: read were {read}, up to {name}");
                return Err(io::Error::other(why));
            }
            self.entries.extend(file.entries);
        }
        Ok(())
    }
}

/// The memory of a transaction, in bytes: itself, twice, for the list that it is in grows by copying, and its texts.
fn size(logged: &LogEntry) -> usize {
    /// What an allocation takes beside its bytes.
    const BESIDE: usize = 16;
    let text = |text: &String| size_of::<String>() + text.len() + BESIDE;
    let Txn {
        session,
        op,
        paths,
        parts,
        data,
        ..
    } = &logged.txn;
    let names = [session, op].into_iter().chain(paths).chain(data).map(text);
    let parts = parts.iter().map(|part| {
        let texts = [&part.op, &part.path].into_iter().chain(&part.data).map(text);
        size_of::<TxnPart>() + texts.sum::<usize>()
    });
    2 * size_of::<LogEntry>() + names.sum::<usize>() + parts.sum::<usize>()
}

/// The name of a log file, if it is one.
fn log_name(path: &Path) -> Option<String> {
    let parts: Vec<Component<'_>> = path.components().filter(|part| *part != Component::CurDir).collect();
    let ([Component::Normal(name)] | [Component::Normal(_), Component::Normal(name)]) = parts.as_slice() else {
        return None;
    };
    let name = name.to_str()?;
    let zxid = name.strip_prefix("log.")?;
    (!zxid.is_empty() && zxid.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_owned())
}

/// All of a file but the zeros at its end; `None` if that is too much.
fn content(file: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let (mut bytes, mut zeros) = (Vec::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = &buffer[..count];
        let written = chunk.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        if written > 0 {
            if bytes.len() + zeros + written > FILE {
                return Ok(None);
            }
            bytes.resize(bytes.len() + zeros, 0);
            bytes.extend_from_slice(&chunk[..written]);
            zeros = 0;
        }
        zeros += count - written;
    }
}

/// An archive of bounded length.
struct BoundedArchive<R> {
    archive: R,
    /// Bytes that may still be read.
    left: u64,
    /// Whether it ended by itself. A whole archive has zeros behind its last file, at which reading stops.
    ended: bool,
}

impl<R: Read> Read for BoundedArchive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.archive.read(buffer)?;
        self.ended |= count == 0 && !buffer.is_empty();
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => {
                return Err(io::Error::other(format!(
                    "the archive has more than {} MiB",
                    ARCHIVE >> 20
                )));
            }
        }
        Ok(count)
    }
}

/// Reads, in a thread that may wait, what a task receives in chunks.
#[derive(Debug)]
pub struct Chunks<C> {
    receiver: mpsc::Receiver<io::Result<C>>,
    chunk: Option<C>,
    /// How much of the chunk was read.
    at: usize,
}

impl<C> From<mpsc::Receiver<io::Result<C>>> for Chunks<C> {
    fn from(receiver: mpsc::Receiver<io::Result<C>>) -> Self {
        Self {
            receiver,
            chunk: None,
            at: 0,
        }
    }
}

impl<C: AsRef<[u8]>> Read for Chunks<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(chunk) = &self.chunk {
                let rest = &chunk.as_ref()[self.at..];
                if !rest.is_empty() {
                    let count = rest.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&rest[..count]);
                    self.at += count;
                    return Ok(count);
                }
            }
            match self.receiver.blocking_recv() {
                None => return Ok(0),
                Some(chunk) => (self.chunk, self.at) = (Some(chunk?), 0),
            }
        }
    }
}

#[cfg(test)]
mod tests;
