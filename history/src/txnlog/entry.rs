//! The bytes of one transaction: a header, the record of its type, and from ZooKeeper 3.6 on a digest of the tree.

use super::jute::Jute;
use crate::evidence::{Txn, TxnPart, data_text};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A transaction of one server's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// It, without the names of servers.
    pub txn: Txn,
    /// Whether it ends a session without naming the ephemerals that it took, as before ZooKeeper 3.6.
    pub unlisted: bool,
    /// A hash of all the data that it writes, of which `txn` has only the beginning, as text; 0 where only those of
    /// `txn` are known.
    pub data: u64,
}

/// Adds the data of a change to the hash of those before it.
fn hashed(before: u64, data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (before, data).hash(&mut hasher);
    hasher.finish()
}

/// Bytes of a header, which every transaction has.
pub(super) const SHORTEST: usize = 32;

/// Bytes of the digest that may follow the record: its version and the sum.
const DIGEST: usize = 12;

/// What the types of transactions are called (`ZooDefs.OpCode`), and the layouts of their records.
mod opcode {
    pub const ERROR: i32 = -1;
    pub const CREATE_SESSION: i32 = -10;
    pub const CLOSE_SESSION: i32 = -11;
    pub const CREATE: i32 = 1;
    pub const DELETE: i32 = 2;
    pub const SET_DATA: i32 = 5;
    pub const SET_ACL: i32 = 7;
    pub const CHECK: i32 = 13;
    pub const MULTI: i32 = 14;
    pub const CREATE2: i32 = 15;
    pub const RECONFIG: i32 = 16;
    pub const CREATE_CONTAINER: i32 = 19;
    pub const DELETE_CONTAINER: i32 = 20;
    pub const CREATE_TTL: i32 = 21;
}

/// Decodes the bytes of an entry; `None` if they are not what ZooKeeper writes for a transaction of their type. Of a
/// type that is not known only the header is read.
pub fn decode(bytes: &[u8]) -> Option<LogEntry> {
    let mut header = Jute(bytes);
    let session = header.long()?;
    let _cxid = header.int()?;
    let zxid = header.long()?;
    let _time = header.long()?;
    let kind = header.int()?;
    let record = header;
    let mut logged = LogEntry {
        txn: Txn {
            zxid,
            session: format!("0x{session:x}"),
            op: name(kind),
            ..Txn::default()
        },
        unlisted: false,
        data: 0,
    };
    let txn = &mut logged.txn;
    match kind {
        opcode::MULTI => txn.parts = parts(record, &mut logged.data)?,
        opcode::CLOSE_SESSION => match ephemerals(record) {
            Some(paths) => txn.paths = paths,
            None if record.0.is_empty() || record.0.len() == DIGEST => logged.unlisted = true,
            None => return None,
        },
        opcode::ERROR | opcode::CREATE_SESSION => {}
        _ => {
            let part = part(kind, record, &mut logged.data)?;
            (txn.ephemeral, txn.data) = (part.ephemeral, part.data);
            txn.paths = Vec::from_iter(Some(part.path).filter(|path| !path.is_empty()));
        }
    }
    Some(logged)
}

fn name(kind: i32) -> String {
    let known = match kind {
        opcode::ERROR => "error",
        opcode::CREATE_SESSION => "createSession",
        opcode::CLOSE_SESSION => "closeSession",
        opcode::CREATE | opcode::CREATE2 | opcode::CREATE_CONTAINER | opcode::CREATE_TTL => "create",
        opcode::DELETE | opcode::DELETE_CONTAINER => "delete",
        opcode::SET_DATA => "setData",
        opcode::SET_ACL => "setACL",
        opcode::CHECK => "check",
        opcode::MULTI => "multi",
        opcode::RECONFIG => "reconfig",
        _ => return kind.to_string(),
    };
    known.to_owned()
}

/// A change of one znode, from the record of its type, and its data added to the hash; without a path if the type has
/// none or is not known.
fn part(kind: i32, mut record: Jute<'_>, hash: &mut u64) -> Option<TxnPart> {
    let mut part = TxnPart {
        op: name(kind),
        ..TxnPart::default()
    };
    let mut text = |data: &[u8]| {
        *hash = hashed(*hash, data);
        Some(data_text(data))
    };
    match kind {
        opcode::CREATE | opcode::CREATE2 => {
            part.path = record.string()?;
            part.data = text(record.buffer()?);
            record.vector(access)?;
            part.ephemeral = Some(record.boolean()?);
        }
        opcode::CREATE_CONTAINER | opcode::CREATE_TTL => {
            part.path = record.string()?;
            part.data = text(record.buffer()?);
            part.ephemeral = Some(false);
        }
        opcode::SET_DATA => {
            part.path = record.string()?;
            part.data = text(record.buffer()?);
        }
        opcode::DELETE | opcode::DELETE_CONTAINER | opcode::SET_ACL | opcode::CHECK | opcode::RECONFIG => {
            part.path = record.string()?;
        }
        _ => {}
    }
    Some(part)
}

/// An entry of an access control list: permissions, scheme and id.
fn access(record: &mut Jute<'_>) -> Option<()> {
    record.int()?;
    record.buffer()?;
    record.buffer()?;
    Some(())
}

/// The parts of a multi. ZooKeeper logs those before the one that failed as if they had been done, and does none of
/// them (`DataTree.processTxn`).
fn parts(mut record: Jute<'_>, hash: &mut u64) -> Option<Vec<TxnPart>> {
    let mut parts = record.vector(|record| {
        let kind = record.int()?;
        part(kind, Jute(record.buffer()?), hash)
    })?;
    if parts.iter().any(|part| part.op == "error") {
        *hash = 0;
        for part in &mut parts {
            *part = TxnPart {
                op: "error".to_owned(),
                ..TxnPart::default()
            };
        }
    }
    Some(parts)
}

/// The ephemerals that the end of a session took, if its record is a list of them and perhaps a digest.
fn ephemerals(mut record: Jute<'_>) -> Option<Vec<String>> {
    let paths = record.vector(|record| record.string().filter(|path| path.starts_with('/')))?;
    let left = record.0.len();
    (left == 0 || left == DIGEST).then_some(paths)
}
