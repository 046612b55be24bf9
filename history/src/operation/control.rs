//! Control requests, which every client answers beside the operations of its recipe, and what it reports unasked.

use super::membership::{GroupView, RegisteredMember};
use super::{AnyType, Counts, Field, ZnodeName, fields};
use serde::Serialize;

/// Names of the control requests.
pub mod f {
    /// To answer at once.
    pub const PING: &str = "ping";
    /// To write to a quorum in the present session, and then to answer whether the client holds.
    pub const CONFIRM: &str = "confirm";
    /// To finish background work, and to name the client's sessions and znodes.
    pub const QUIESCE: &str = "quiesce";
    /// To write to a quorum in the present session, to work off the events that came before its reply, and then to
    /// answer which members of the group the recipe shows. Only of the family `membership`.
    pub const VIEW: &str = "view";
    /// Those that every client answers.
    pub const ALL: [&str; 3] = [PING, CONFIRM, QUIESCE];
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ControlAnswer {
    /// To `confirm`, after a quorum write: it holds.
    Holds {
        /// True.
        holds: bool,
        grant: String,
        /// The transaction of that write.
        zxid: i64,
    },
    /// To `confirm`, after a quorum write: it holds nothing.
    HoldsNothing {
        /// False.
        holds: bool,
        /// The transaction of that write.
        zxid: i64,
    },
    /// To `view`, after a quorum write.
    Group {
        /// The transaction of that write.
        zxid: i64,
        /// What the recipe shows.
        view: GroupView,
        /// The entry by which it believes to be a member; `None` if it believes to be none.
        registered: Option<RegisteredMember>,
    },
    /// To `quiesce`: its background work is finished.
    Quiet {
        /// The sessions it has.
        sessions: Vec<String>,
        /// The znodes it knows to be its own.
        znodes: Vec<ZnodeName>,
        /// What it has asked and heard; left out if it does not count all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<Counts>,
    },
}

/// What is recorded when a client's process has said hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hello {
    /// Its process id, as it sees it.
    pub pid: u32,
    /// How often the client's process was started.
    pub incarnation: u64,
    /// Its session as `0x…`, if it has one already.
    pub session: Option<String>,
    /// What it cannot do or give.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cannot: Vec<String>,
}

/// What is recorded when a client's process has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exit {
    /// How often the client's process was started.
    pub incarnation: u64,
    /// Whether it ended by itself, and was not killed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_itself: bool,
}

/// What is recorded of a client that is seen running, in place of an answer that it cannot give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningNotice {
    /// What was seen, in words.
    pub detail: String,
}

/// What a client reports unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A session has changed its state.
    Session {
        /// The session, as `0x…`.
        session: String,
        /// `connected`, `disconnected`, `expired` or `closed`.
        state: String,
    },
    /// It holds a grant no more.
    Lost { grant: String, why: String },
    /// It is about to take an item.
    Taking { item: i64 },
    /// The recipe shows its application another view of the group.
    View(GroupView),
}

/// Why a grant was lost.
pub const WHY: Field<str> = Field::new("why");

fields! {
    /// Whether the client holds.
    HOLDS, holds: bool = "holds";
    /// zxid of the quorum write of a `confirm`.
    ZXID, zxid: i64 = "zxid";
    /// What a client declared that it cannot do or give.
    CANNOT, cannot: [AnyType] = "cannot";
    /// Whether a process ended by itself.
    BY_ITSELF, by_itself: bool = "by_itself";
    /// The new state of a session.
    STATE, state: str = "state";
    /// The sessions that a client has.
    SESSIONS, sessions: [AnyType] = "sessions";
    /// The znodes that a client knows to be its own.
    ZNODES, znodes: [AnyType] = "znodes";
    /// What a client has asked and heard.
    COUNTS, counts: Counts = "counts";
}
