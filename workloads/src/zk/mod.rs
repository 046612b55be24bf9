//! What recipes see of ZooKeeper and of the machine they run on.
//!
//! Neither trait is tied to a runtime: the real client ([`real`]) and a simulated cluster both fit.

pub mod counted;
pub mod real;
mod shared_value;
pub mod sim;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
pub use shared_value::SharedValue;

/// What the requests answer.
pub type Result<T> = std::result::Result<T, Error>;

/// A request under way. It is sent when the future is first polled, and dropping the future later does not take it
/// back.
pub type Reply<T> = BoxFuture<'static, Result<T>>;

/// A one-shot watch. Disconnections are not heard here: the watch is set again on reconnect, and what it missed arrives
/// then. The end of the session is heard, as [`WatchEvent::Session`].
pub type Watch = BoxFuture<'static, WatchEvent>;

/// One ZooKeeper session.
///
/// Requests of one session take effect in the order in which they are sent, also across a reconnect, but those under
/// way when the connection is lost have an unknown outcome. See [`Error::is_definite`].
pub trait Zk: Send + Sync {
    /// The session's id.
    fn session(&self) -> i64;

    /// The session timeout that was negotiated.
    fn timeout(&self) -> Duration;

    /// The session's state now. Quick changes may be merged.
    fn state(&self) -> SessionState;

    /// Waits until the state is another than `from`, and returns it.
    fn changed(&self, from: SessionState) -> BoxFuture<'static, SessionState>;

    /// Creates a znode (create2: the answer carries the stat).
    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Reply<CreatedZnode>;

    /// Deletes a znode, of this version only if one is given.
    fn delete(&self, path: &str, version: Option<i32>) -> Reply<()>;

    /// Reads a znode.
    fn get(&self, path: &str) -> Reply<(Vec<u8>, Stat)>;

    /// Reads a znode and watches it. No watch is left where the znode is missing.
    fn get_and_watch(&self, path: &str) -> Reply<(Vec<u8>, Stat, Watch)>;

    /// Writes a znode, of this version only if one is given.
    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat>;

    /// Asks for a znode's stat.
    fn exists(&self, path: &str) -> Reply<Option<Stat>>;

    /// Asks for a znode's stat and watches it; where it is missing, for its creation.
    fn exists_and_watch(&self, path: &str) -> Reply<(Option<Stat>, Watch)>;

    /// Lists the names of a znode's children.
    fn children(&self, path: &str) -> Reply<Vec<String>>;

    /// Lists the names of a znode's children and watches the list.
    fn children_and_watch(&self, path: &str) -> Reply<(Vec<String>, Watch)>;

    /// Does all of these or none.
    fn multi(&self, ops: Vec<MultiOp>) -> BoxFuture<'static, std::result::Result<Vec<OpResult>, MultiError>>;

    /// Waits until the server has caught up with the leader. Not a quorum operation (ZOOKEEPER-1675).
    fn sync(&self, path: &str) -> Reply<()>;

    /// Closes the session, and waits until it is closed or has expired. Works in the background if dropped.
    fn close(&self) -> BoxFuture<'static, SessionState>;
}

/// Opens sessions.
pub trait Connect: Send + Sync {
    /// Opens a new session; tries without end.
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>>;
}

/// The machine that a recipe runs on: its clock, its tasks, its dice.
pub trait Host: Send + Sync {
    /// Time since some fixed moment, monotonic.
    fn now(&self) -> Duration;

    /// What the clock on the wall shows, which others read too: time since some moment that all machines have in
    /// common. Clocks of two machines may differ.
    fn wall(&self) -> Duration;

    /// Waits that long.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Runs a task in the background.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// 128 random bits, for names that no other process chooses.
    fn random(&self) -> u128;
}

/// How a znode is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays.
    Persistent,
    /// Stays; ZooKeeper appends a sequence number to the name.
    PersistentSequential,
    /// Goes with its session.
    Ephemeral,
    /// Goes with its session; ZooKeeper appends a sequence number to the name.
    EphemeralSequential,
}

impl CreateMode {
    /// Whether the znode goes with its session.
    pub fn is_ephemeral(self) -> bool {
        matches!(self, Self::Ephemeral | Self::EphemeralSequential)
    }
}

/// A znode that was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedZnode {
    /// Its path, with the sequence number.
    pub path: String,
    /// Its stat; `None` if the server did not send it (ZOOKEEPER-4026).
    pub stat: Option<Stat>,
}

/// The fields of a znode's stat that recipes need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// The transaction that created it.
    pub czxid: i64,
    /// The transaction that last wrote it.
    pub mzxid: i64,
    /// Number of writes; restarts when the znode is created again.
    pub version: i32,
    /// Session that owns it; 0 if it is not ephemeral.
    pub ephemeral_owner: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// A znode came into being.
    Created,
    /// The znode is gone.
    Deleted,
    /// Its data were written.
    DataChanged,
    /// Its list of children changed.
    ChildrenChanged,
    /// The session is over; the watch is dead.
    Session(SessionState),
}

/// State of a session, as its client observes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Connected to a server.
    Connected,
    /// Not connected; the session may live or be over.
    Disconnected,
    /// Over: expired, or given up by the client after more than its timeout.
    Expired,
    /// Over: closed.
    Closed,
}

impl SessionState {
    /// Whether the session is over for its client.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Expired | Self::Closed)
    }

    /// Its name in `session` notices.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Expired => "expired",
            Self::Closed => "closed",
        }
    }
}

/// A part of a [`Zk::multi`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultiOp {
    /// The znode exists, with this version if one is given.
    Check(String, Option<i32>),
    Create(String, Vec<u8>, CreateMode),
    /// Write it.
    Set(String, Vec<u8>, Option<i32>),
    Delete(String, Option<i32>),
}

/// What a part of a [`Zk::multi`] answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpResult {
    /// The check passed.
    Checked,
    /// It was created.
    Created(CreatedZnode),
    /// It was written.
    Set(Stat),
    /// It was deleted.
    Deleted,
}

/// Why a request failed; errors are classified by what they prove ([`Error::is_definite`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The znode (for a create: its parent) does not exist.
    NoNode,
    /// The znode exists already.
    NodeExists,
    /// The znode has another version.
    BadVersion,
    /// The znode has children.
    NotEmpty,
    /// Not allowed.
    NoAuth,
    /// The access list makes no sense.
    InvalidAcl,
    /// The parent is ephemeral.
    NoChildrenForEphemerals,
    /// The request makes no sense, and was not sent.
    BadArguments(String),
    /// Anything else: connection loss, time-outs, expiry, errors without a name.
    Unknown(String),
}

impl Error {
    /// Whether the error proves that the request had no effect. The list names what proves it, and all else is an
    /// unknown outcome, since client libraries report a lost reply in many ways.
    pub fn is_definite(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadArguments(why) => write!(f, "bad arguments: {why}"),
            Self::Unknown(why) => write!(f, "unknown outcome: {why}"),
            definite => write!(f, "{definite:?}"),
        }
    }
}

impl std::error::Error for Error {}

/// Why a multi failed; it fails as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiError {
    /// The part that ZooKeeper refused; `None` if the whole request failed.
    pub index: Option<usize>,
    /// The error of that part, or of the whole request.
    pub error: Error,
}

impl fmt::Display for MultiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "part {index}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for MultiError {}

/// A session id as every message and report writes it.
pub fn session_hex(session: i64) -> String {
    format!("0x{:x}", session as u64)
}
