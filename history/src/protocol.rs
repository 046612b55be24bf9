//! The messages between the orchestrator and a client: one JSON object a line. `docs/protocol.md` is the specification.

use crate::operation::control::Notice;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Version of the protocol that `hello` names.
pub const VERSION: u32 = 1;

/// What a client may declare in its `hello` as impossible for it. What it then leaves out, or answers as `null`, is not
/// judged unless other evidence contains it; what it leaves out undeclared rules out the verdict `valid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientLimit {
    /// Report which znode a grant or a place in a barrier rests on: its `path`, or the `czxid` of the transaction that
    /// created it.
    Czxid,
    /// Report the session of an operation.
    Session,
    /// Report what a release removed.
    Removed,
    /// Name the item of a queue before it takes it.
    Taking,
    /// Answer control requests beside its operation; it answers them after it.
    Beside,
}

impl ClientLimit {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Czxid, Self::Session, Self::Removed, Self::Taking, Self::Beside];

    /// Its word in `hello`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Czxid => "czxid",
            Self::Session => "session",
            Self::Removed => "removed",
            Self::Taking => "taking",
            Self::Beside => "beside",
        }
    }

    /// The one with this word; `None` for any other word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cannot| cannot.name() == word)
    }
}

/// What a kit may do in place of a recipe, which is then not on trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KitPart {
    /// Opens the session.
    Connect,
    /// Gives a grant back, by deleting its znode.
    Release,
    /// Decides when a grant is lost, by the state of the session.
    Lost,
    /// Names the znodes that are the client's own.
    Znodes,
    /// Reads the `czxid` of a grant's znode.
    Created,
}

impl KitPart {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Connect, Self::Release, Self::Lost, Self::Znodes, Self::Created];

    /// Its word in `hello`, which is the name of the hook by which a recipe does it itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Release => "release",
            Self::Lost => "lost",
            Self::Znodes => "znodes",
            Self::Created => "created",
        }
    }

    /// What the kit does, as the rest of a sentence that begins with it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Connect => "opens the session",
            Self::Release => "deletes the grant's znode",
            Self::Lost => "revokes a grant by the state of the session",
            Self::Znodes => "names the znodes that it has recorded",
            Self::Created => "reads the czxid of the grant's znode",
        }
    }

    /// Those that these words of a `hello` name, in the order of [`Self::ALL`]; other words mean nothing.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let words: Vec<&str> = words.into_iter().collect();
        Self::ALL
            .into_iter()
            .filter(|part| words.contains(&part.name()))
            .collect()
    }

    /// What is shown of it, in a line.
    pub fn line(self) -> String {
        format!("{}: by the kit, which {}", self.name(), self.words())
    }
}

/// A line on the client's stdin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Number that the reply repeats.
    pub id: u64,
    /// The operation: `ping`, `confirm`, `quiesce`, or one of the recipe's.
    pub f: String,
    /// The operation's value, as `docs/history.md` defines it; `null` if absent.
    #[serde(default)]
    pub value: Value,
    /// Milliseconds in which the recipe has to answer; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl Request {
    /// What is asked, as one of a family's [operations](crate::operation).
    ///
    /// # Errors
    /// The family has no such operation, or the value is none of it.
    pub fn operation<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let value = match &self.value {
            Value::Null => json!({}),
            value => value.clone(),
        };
        serde_json::from_value(json!({ "f": self.f, "value": value }))
    }
}

/// A line on the client's stdout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Message {
    /// The first line: the process has started and takes requests.
    Hello {
        /// [`VERSION`].
        protocol: u32,
        /// Its process id, as it sees it.
        pid: u32,
        /// Its session as `0x…`, if it has one already.
        session: Option<String>,
        /// What it declares as impossible, by the words of [`ClientLimit`]; other words mean nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cannot: Vec<String>,
        /// What its kit does in place of the recipe, by the words of [`KitPart`]; other words mean nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kit: Vec<String>,
    },
    /// The answer to a request.
    Reply {
        /// Number of the request.
        id: u64,
        /// How it ended.
        outcome: Outcome,
        /// The operation's value, as `docs/history.md` defines it; `null` if absent.
        #[serde(default)]
        value: Value,
        /// Why it failed, or why its outcome is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Something that no request asked for.
    Notice {
        /// `lost`, `session`, `taking` or `view`.
        notice: String,
        /// Its value, as in `docs/history.md`.
        #[serde(default)]
        value: Value,
    },
}

/// What is read from a process on a host, in order.
#[derive(Debug)]
pub enum ProcessOutput {
    /// A whole line on its stdout, without the newline.
    Line(String),
    /// A message, of which a process in memory makes no line.
    Message(Message),
    /// Its stream has ended: it has died, and all that it had written was read before.
    Ended,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It happened.
    Ok,
    /// It certainly did not, and nothing of it is left.
    Fail,
    /// Unknown.
    Info,
}

impl From<Notice> for Message {
    fn from(notice: Notice) -> Self {
        let (notice, value) = match notice {
            Notice::Session { session, state } => ("session", json!({ "session": session, "state": state })),
            Notice::Lost { grant, why } => ("lost", json!({ "grant": grant, "why": why })),
            Notice::Taking { item } => ("taking", json!({ "item": item })),
            Notice::View(view) => ("view", json!(view)),
        };
        let notice = notice.to_owned();
        Self::Notice { notice, value }
    }
}
