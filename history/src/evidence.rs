//! What the ensemble itself tells after a run: its znodes and its transaction logs.

use serde::{Deserialize, Serialize};

/// Readings of the znode tree, each by a session that had written first, so that it saw all that was acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// In order: the first before the last `quiesce`, the second after it.
    pub readings: Vec<Reading>,
}

impl Tree {
    /// The readings before and after the last `quiesce`; `None` if the run was cut off before both were made.
    pub fn audit(&self) -> Option<(&Reading, &Reading)> {
        match self.readings.as_slice() {
            [before, .., after] => Some((before, after)),
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

/// One znode.
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
    /// Its data as text (what is not UTF-8 replaced), at most 256 characters.
    pub data: String,
}

/// One transaction of the ensemble, from the servers' logs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Txn {
    /// Its place in the total order.
    pub zxid: i64,
    /// Session that asked for it, as `0x…`.
    pub session: String,
    /// `create` (of every kind), `delete`, `setData`, `createSession`, `closeSession`, `multi`, `error`, or ZooKeeper's own word.
    pub op: String,
    /// Znodes it touched: of a closeSession the ephemerals it took; of a multi none, ZooKeeper's tool hides them.
    pub paths: Vec<String>,
    /// The line of ZooKeeper's own tool.
    pub raw: String,
}

/// What one server said of itself over its own loopback, a line of `servers.jsonl`.
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
