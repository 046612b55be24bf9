//! Evidence that is read from the ensemble itself: its znodes, its transaction logs, its servers' own states.

use serde::{Deserialize, Serialize};

/// Readings of the znode tree, each by a session that had written first, so that it saw all that was acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeReadings {
    /// In order: the last but one before the last `quiesce`, the last after it. Of the family `membership` there is
    /// another one before these, after which clients were asked for their views; and two before all, around the views
    /// of the calm before the last operations, which runs of older versions have not.
    pub readings: Vec<Reading>,
}

impl TreeReadings {
    /// The readings before and after the last `quiesce`; `None` if the run was cut off before both were made.
    pub fn audit(&self) -> Option<(&Reading, &Reading)> {
        match self.readings.as_slice() {
            [.., before, after] => Some((before, after)),
            _ => None,
        }
    }
}

/// All znodes at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Events recorded in the history when the reading began.
    pub index: usize,
    /// Events recorded in the history when the reading was complete.
    pub end_index: usize,
    /// The znodes, by path.
    pub znodes: Vec<Znode>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Znode {
    /// Absolute path.
    pub path: String,
    /// zxid of the transaction that created it.
    pub czxid: i64,
    /// zxid of the last change of its data.
    pub mzxid: i64,
    /// Number of changes of its data.
    pub version: i32,
    /// Session that it lives with, as `0x…`; `None` for a persistent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its data, by [`data_text`].
    pub data: String,
}

/// Most characters of a znode's data in a record.
const DATA_CHARACTERS: usize = 256;

/// Data of a znode as text: what is not UTF-8 replaced, at most 256 characters.
pub fn data_text(data: &[u8]) -> String {
    // UTF-8 has at most four bytes for a character, and a replacement stands for at most three.
    let head = &data[..data.len().min(4 * DATA_CHARACTERS)];
    String::from_utf8_lossy(head).chars().take(DATA_CHARACTERS).collect()
}

/// One transaction of the ensemble, a line of `txnlog.jsonl`: the union of the servers' logs, in the order of zxids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Txn {
    /// Its place in the total order.
    pub zxid: i64,
    /// Session that asked for it, as `0x…`.
    pub session: String,
    /// `create` (of every kind), `delete` (of a container, too), `setData`, `setACL`, `createSession`, `closeSession`,
    /// `multi`, `check`, `reconfig`, `error`, or the number of a type that is not known.
    pub op: String,
    /// Znodes it touched: of a closeSession the ephemerals it took; of a multi none, its `parts` name them.
    pub paths: Vec<String>,
    /// Of a multi, its parts in order. If one is an `error`, all are: the multi changed nothing. Empty in records of
    /// older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TxnPart>,
    /// Of a create, whether its znode is ephemeral; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
    /// Of a create or a setData, the data, by [`data_text`]; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Servers whose logs contain it, in the order of their names; empty in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// In records of older versions, the line of ZooKeeper's own tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
}

impl Txn {
    /// What it did to znodes, in order: of a multi its parts, of others one change for each of `paths`, of the
    /// transaction's own `op` (those of a closeSession are `closeSession`). A part without a path, such as an error, is
    /// no change.
    pub fn changes(&self) -> impl Iterator<Item = ZnodeChange<'_>> {
        let own = self.paths.iter().map(|path| ZnodeChange {
            op: &self.op,
            path,
            ephemeral: self.ephemeral,
            data: self.data.as_deref(),
        });
        let parts = self.parts.iter().filter(|part| !part.path.is_empty());
        own.chain(parts.map(|part| ZnodeChange {
            op: &part.op,
            path: &part.path,
            ephemeral: part.ephemeral,
            data: part.data.as_deref(),
        }))
    }

    /// Whether it is a multi of which the record does not name the parts, so that it may have changed any znode.
    pub fn hides_parts(&self) -> bool {
        // Records with parts have servers too; a multi of no parts is lawful.
        self.op == "multi" && self.parts.is_empty() && self.servers.is_empty()
    }
}

/// A part of a multi.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TxnPart {
    /// As [`Txn::op`].
    pub op: String,
    /// The znode; empty of an `error`.
    pub path: String,
    /// Of a create, whether its znode is ephemeral.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
    /// As [`Txn::data`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// What a transaction, or a part of a multi, did to one znode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZnodeChange<'a> {
    /// As [`Txn::op`].
    pub op: &'a str,
    /// The znode.
    pub path: &'a str,
    /// Of a create, whether the znode is ephemeral; `None` where it is not recorded.
    pub ephemeral: Option<bool>,
    /// Of a create or a setData, the data; `None` where they are not recorded.
    pub data: Option<&'a str>,
}

/// What was read of one server's transaction logs, an entry of `txnlogs.json`.
///
/// Where servers logged different transactions under one zxid (another type, session, path or other data), that counts,
/// and stands in `txnlog.jsonl`, which a majority of the voters logged alike. Where there is no such one the zxid is
/// unknown, and `txnlog.jsonl` has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTxnLog {
    /// `n1`, ….
    pub server: String,
    /// Whether it votes; an observer does not.
    pub voter: bool,
    /// Whether all of its log files were read to their ends.
    pub whole: bool,
    /// What was not read of them, and why, if they are not whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The lowest zxid that was read; 0 if none was.
    pub first: i64,
    /// The highest zxid that was read; 0 if none was.
    pub last: i64,
    /// How many transactions were read.
    pub transactions: usize,
    /// Those of its transactions that do not count, since another server logged another one under their zxid; in the
    /// order of zxids, each without servers. Of one that a record of an older version does not have there is its zxid
    /// alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<Txn>,
}

/// The state that one server reported over its own loopback, a line of `servers.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSample {
    /// Nanoseconds since the run began when the answer was read.
    pub time: u64,
    /// `n1`, ….
    pub server: String,
    /// `leader`, `follower`, `observer`, `standalone`, or `silent` when it did not answer as a serving server.
    pub mode: String,
    /// Epoch of its zxid; 0 when silent.
    pub epoch: i64,
    /// Its last zxid; 0 when silent.
    pub zxid: i64,
    /// Version of ZooKeeper that it runs, such as `3.8.0`; empty when silent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::{Txn, TxnPart, ZnodeChange};

    fn txn(op: &str, paths: &[&str], parts: &[(&str, &str)]) -> Txn {
        let part = |(op, path): &(&str, &str)| TxnPart {
            op: (*op).to_owned(),
            path: (*path).to_owned(),
            ephemeral: (*op == "create").then_some(true),
            data: (*op == "create").then(|| "7".to_owned()),
        };
        Txn {
            op: op.to_owned(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            parts: parts.iter().map(part).collect(),
            servers: vec!["n1".to_owned()],
            ..Txn::default()
        }
    }

    #[test]
    fn a_multi_changes_what_its_parts_change() {
        let changes = |txn: &Txn| -> Vec<(String, String)> {
            let named = |change: ZnodeChange<'_>| (change.op.to_owned(), change.path.to_owned());
            txn.changes().map(named).collect()
        };
        let pair = |op: &str, path: &str| (op.to_owned(), path.to_owned());
        let multi = txn("multi", &[], &[("create", "/a"), ("delete", "/b")]);
        assert_eq!(changes(&multi), [pair("create", "/a"), pair("delete", "/b")]);
        let first = multi.changes().next().expect("a change");
        assert_eq!((first.ephemeral, first.data), (Some(true), Some("7")));
        let close = txn("closeSession", &["/a", "/b"], &[]);
        assert_eq!(
            changes(&close),
            [pair("closeSession", "/a"), pair("closeSession", "/b")]
        );
        assert_eq!(changes(&txn("multi", &[], &[("error", ""), ("error", "")])), []);
    }

    #[test]
    fn only_a_multi_of_an_older_record_hides_its_parts() {
        let empty = txn("multi", &[], &[]);
        assert!(!empty.hides_parts());
        let older = Txn {
            servers: Vec::new(),
            ..empty
        };
        assert!(older.hides_parts());
        assert!(!txn("error", &[], &[]).hides_parts());
    }
}
