//! Control requests, which every client answers beside the operations of its recipe, and what it reports unasked.

use super::membership::{GroupView, RegisteredMember};
use super::{AnyType, Counts, Field, FieldContent, FieldSource, RequiredField, ZnodeName, fields};
use crate::protocol::{ClientLimit, Outcome};
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

/// Names of the notices.
pub mod notice {
    /// A session has changed its state.
    pub const SESSION: &str = "session";
    /// A grant is held no more.
    pub const LOST: &str = "lost";
    /// An item is about to be taken.
    pub const TAKING: &str = "taking";
    /// The recipe shows another view of the group.
    pub const VIEW: &str = "view";
}

/// What is required where clients hold: what they believe, on which `check` rests.
pub(super) const fn beliefs(check: &'static str) -> [RequiredField; 3] {
    let confirm = FieldSource::Answer(&[f::CONFIRM]);
    [
        RequiredField::new(confirm, &["holds"], FieldContent::Flag, check),
        RequiredField::new(confirm, &["zxid"], FieldContent::Number, "stolen-znode"),
        RequiredField::new(FieldSource::Notice(notice::LOST), &["grant"], FieldContent::Text, check),
    ]
}

/// What is required where a `check` rests on that a `confirm` wrote.
pub(super) const fn confirmed(check: &'static str) -> [RequiredField; 1] {
    let confirm = FieldSource::Answer(&[f::CONFIRM]);
    [RequiredField::new(confirm, &["zxid"], FieldContent::Number, check)]
}

/// What is required where a `check` rests on whose a session is, and whether it lives.
pub(super) const fn session(check: &'static str) -> [RequiredField; 2] {
    let session = FieldSource::Notice(notice::SESSION);
    [
        RequiredField::new(session, &["session"], FieldContent::Session, check).unless(ClientLimit::Session, ""),
        RequiredField::new(session, &["state"], FieldContent::Text, check),
    ]
}

/// What is required where a parent of contenders is audited.
pub(super) const AUDITED: &[RequiredField] = &[
    audited(&["sessions"], FieldContent::List),
    audited(&["znodes"], FieldContent::List),
    audited(&["znodes", "path"], FieldContent::Text),
    audited(&["znodes", "czxid"], FieldContent::Number),
];

const fn audited(path: &'static [&'static str], content: FieldContent) -> RequiredField {
    RequiredField::new(FieldSource::Answer(&[f::QUIESCE]), path, content, "orphan-node")
        .asked(|workload| !workload.contenders.is_empty())
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
    /// What its kit does in place of the recipe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kit: Vec<String>,
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

/// The event of an answer to nothing that was open.
pub const UNASKED: &str = "unasked";

/// What is recorded of an answer to no request, or to one that was answered already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnaskedAnswer {
    /// The number that it names.
    pub id: u64,
    pub outcome: Outcome,
    pub value: serde_json::Value,
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
    /// What a client's kit does in place of the recipe.
    KIT, kit: [AnyType] = "kit";
    /// The number of the request that an answer names which nothing had asked for.
    ID, request_id: i64 = "id";
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
