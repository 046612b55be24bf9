//! ZooKeeper's transaction logs, read from the bytes of their files.
//!
//! A file `log.ZXID` is a header (`ZKLG`, version 2, a database id) and one entry for each transaction: its Adler-32
//! checksum, its length, its bytes ([`entry`]), and an end mark `B`, integers in big-endian order. Servers extend the
//! file ahead of what they write, so that zeros follow the last entry (`FileTxnLog` and `FilePadding` of ZooKeeper 3.4
//! to 3.9).

mod adler;
pub mod entry;
pub(crate) mod former;
mod jute;
mod union;

use entry::LogEntry;
pub use union::{ServerEntries, TxnLogs, union};

/// What one file of a transaction log holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Its transactions up to its end, in the order of the file.
    pub entries: Vec<LogEntry>,
    /// Where and why they end.
    pub end: LogEnd,
}

/// The end of what a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEnd {
    /// The file, or what is written of it, ends after an entry.
    Clean,
    /// The last entry, which begins at this offset, has no end mark and a length that an entry may have, and nothing
    /// follows it: its server was writing it or died of it, and has not acknowledged it. ZooKeeper itself takes this
    /// for the end.
    Torn(usize),
    /// An entry, or the header, cannot be read at this offset; what follows it is unknown.
    Damaged(usize, String),
}

/// The first bytes of a file: `ZKLG`, the version.
const MAGIC: &[u8; 8] = b"ZKLG\0\0\0\x02";

/// With the database id.
const HEADER: usize = 16;

/// Checksum and length, before the bytes of an entry.
const PREFIX: usize = 12;

const END_MARK: u8 = b'B';

/// The longest entry that ZooKeeper reads by default: `jute.maxbuffer` and as much again
/// (`BinaryInputArchive.checkLength`).
const LONGEST: usize = 2 * 0xf_ffff;

/// Reads a file of a transaction log; any bytes give a result, of a size in proportion to theirs.
pub fn read(bytes: &[u8]) -> LogFile {
    let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut entries = Vec::new();
    let started = bytes.len().min(MAGIC.len());
    let end = if written == 0 || bytes.len() < HEADER && bytes[..started] == MAGIC[..started] {
        // A server that dies while it creates the file leaves this.
        LogEnd::Clean
    } else if !bytes.starts_with(MAGIC) {
        LogEnd::Damaged(0, "it does not begin like a transaction log of version 2".to_owned())
    } else {
        read_entries(bytes, written, &mut entries)
    };
    LogFile { entries, end }
}

fn read_entries(bytes: &[u8], written: usize, entries: &mut Vec<LogEntry>) -> LogEnd {
    let mut at = HEADER;
    while at < written {
        let (payload, next) = match frame(bytes, at) {
            Ok(frame) => frame,
            Err(_) if is_begun(bytes, at, written) && !resumes(bytes, at, written) => return LogEnd::Torn(at),
            Err(what) => return LogEnd::Damaged(at, what.to_owned()),
        };
        match entry::decode(payload) {
            Some(logged) => entries.push(logged),
            None => return LogEnd::Damaged(at, "a transaction of sound checksum cannot be decoded".to_owned()),
        }
        at = next;
    }
    LogEnd::Clean
}

/// The length in the prefix of an entry, from the bytes of it that are there.
fn length(entry: &[u8]) -> usize {
    let length = entry.iter().take(PREFIX).skip(8);
    length.fold(0, |length, &byte| length << 8 | usize::from(byte))
}

/// The bytes of the entry at an offset, and the offset after it.
fn frame(bytes: &[u8], at: usize) -> Result<(&[u8], usize), &'static str> {
    let rest = &bytes[at..];
    let Some((prefix, rest)) = rest.split_at_checked(PREFIX) else {
        return Err("the file ends in an entry");
    };
    let (checksum, length) = (&prefix[..8], length(prefix));
    let Some((payload, rest)) = rest.split_at_checked(length) else {
        return Err("an entry is longer than the file");
    };
    match rest.first() {
        _ if length == 0 => Err("an entry is empty"),
        _ if checksum != u64::from(adler::checksum(payload)).to_be_bytes() => {
            Err("an entry does not match its checksum")
        }
        Some(&END_MARK) => Ok((payload, at + PREFIX + length + 1)),
        _ => Err("an entry has no end mark"),
    }
}

/// Whether what is written at this offset may be the beginning of an entry, which its server has not written to its
/// end: the end mark is missing, and checksum and length, if they are there, may be those of an entry.
fn is_begun(bytes: &[u8], at: usize, written: usize) -> bool {
    let begun = &bytes[at..written];
    let unwritten = PREFIX.saturating_sub(begun.len()).min(4);
    let length = length(begun) << (8 * unwritten);
    // Of a length that was not written to its end the rest is not known.
    let plausible = length <= LONGEST && (begun.len() <= PREFIX || length >= entry::SHORTEST);
    // The checksum has 32 bits, written as 64; it is that of a payload to whose last byte nothing is missing.
    let checksum = begun.iter().take(4).all(|&byte| byte == 0);
    let whole = begun.len() == PREFIX + length;
    let sound = |payload| begun[..8] == u64::from(adler::checksum(payload)).to_be_bytes();
    let marked = bytes.get(at + PREFIX + length).is_some_and(|&mark| mark != 0);
    plausible && checksum && !marked && (!whole || sound(&begun[PREFIX..]))
}

/// Whether more than one broken entry follows: bytes beyond the end that the entry at this offset has by its length, or
/// a sound entry anywhere behind its beginning, as its length may be what is broken.
fn resumes(bytes: &[u8], at: usize, written: usize) -> bool {
    if written > at + PREFIX + 1 + length(&bytes[at..]) {
        return true;
    }
    // Bounds the time on bytes that look like many beginnings of entries.
    let mut effort = bytes.len();
    let marks = (at + PREFIX..written).filter(|&mark| bytes[mark] == END_MARK);
    for next in marks.map(|mark| mark + 1) {
        let length = length(&bytes[next..]);
        if length < entry::SHORTEST || bytes.get(next + PREFIX + length) != Some(&END_MARK) {
            continue;
        }
        if frame(bytes, next).is_ok() {
            return true;
        }
        effort = effort.saturating_sub(length);
        if effort == 0 {
            return true;
        }
    }
    false
}
