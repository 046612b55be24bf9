//! The messages of a network, as `messages.jsonl` has them: what reports draw. No verdict rests on them.

use serde::{Deserialize, Serialize};

/// One message from one node to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Its number among all messages of the run, from 0.
    pub number: u32,
    /// The number of the message that it is a second copy of; `None` for a first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<u32>,
    /// The node that sent it.
    pub from: String,
    /// The node that it is for.
    pub to: String,
    /// When it was sent, in nanoseconds since the run began.
    pub sent: u64,
    /// When it arrived at a running process; `None` if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// When it was lost; `None` if it arrived, or was on its way when the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Its kind, as the papers name it: `1a`.
    pub kind: String,
    /// Its contents in a few characters; empty if the kind is all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The round, ballot, term or epoch that it belongs to; `None` if it belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}
