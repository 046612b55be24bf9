//! What becomes of requests yet to come, as a test or a fault wants it.

use super::ensemble::Ensemble;
use super::net::Net;
use super::tree::Path;
use super::txn::Write;
use super::wire::ClientRequest;
use crate::zk::MultiOp;

/// Whether it is this request: the number of its client's host, and its kind (`create`, `delete`, …). Asked once for
/// each request.
pub type Fits = Box<dyn FnMut(usize, &str) -> bool + Send>;

/// What is done to the ensemble just before a request is looked at.
pub type Before = Box<dyn FnOnce(&mut Ensemble) + Send>;

/// Something to be done to one request.
pub struct ScriptedRequest {
    /// To which one.
    pub fits: Fits,
    /// What becomes of it.
    pub fate: Fate,
    /// Done just before the server looks at it.
    pub before: Option<Before>,
    /// Done when its reply or it itself is lost, or its reply is kept back.
    pub after: Box<dyn FnOnce(StruckRequest) + Send>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Answered,
    /// It is applied, and the connection is lost before the answer. Of an ensemble that no test scripts only a reply
    /// without an error is lost; one with an error is passed on, and the next request that fits is taken.
    ReplyLost,
    /// The connection is lost before it arrives.
    RequestLost,
    /// It is applied, and the answer waits at the client's proxy with all that follows it on the connection, until
    /// [`Ensemble::pass_on`]. Answers with errors are as for `ReplyLost`.
    ReplyHeld,
}

/// A request that was lost, or whose reply was lost or kept back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StruckRequest {
    /// What was asked.
    pub op: &'static str,
    /// The path that was asked for; `None` of a multi and a close.
    pub path: Option<String>,
    /// Its number in its session.
    pub request: u64,
    /// Id of the session that asked.
    pub session: i64,
    /// Its transaction; `None` if it was never applied, or changes nothing.
    pub zxid: Option<i64>,
}

impl StruckRequest {
    pub(super) fn new(ask: &ClientRequest, request: u64, session: i64, zxid: Option<i64>) -> Self {
        Self {
            op: ask.name().unwrap_or("ping"),
            path: ask.path().map(str::to_string),
            request,
            session,
            zxid,
        }
    }
}

impl ClientRequest {
    /// Its name; `None` of what the client library asks of its own accord.
    pub(super) fn name(&self) -> Option<&'static str> {
        match self {
            Self::Write(Write::One(MultiOp::Create(..))) => Some("create"),
            Self::Write(Write::One(MultiOp::Delete(..))) => Some("delete"),
            Self::Write(Write::One(MultiOp::Set(..))) => Some("set"),
            Self::Write(Write::One(MultiOp::Check(..)) | Write::Multi(_)) => Some("multi"),
            Self::Write(Write::Close) => Some("close"),
            Self::Get(..) => Some("get"),
            Self::Exists(..) => Some("exists"),
            Self::Children(..) => Some("children"),
            Self::Sync => Some("sync"),
            Self::Write(Write::Open(_)) | Self::Ping | Self::Watches(..) => None,
        }
    }

    fn path(&self) -> Option<&str> {
        match self {
            Self::Write(Write::One(op)) => {
                let (MultiOp::Check(path, _)
                | MultiOp::Create(path, ..)
                | MultiOp::Set(path, ..)
                | MultiOp::Delete(path, _)) = op;
                Some(path)
            }
            Self::Get(path, _) | Self::Exists(path, _) | Self::Children(path, _) => Some(path as &Path),
            _ => None,
        }
    }

    /// Whether it is answered only when the leader has.
    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::Write(_) | Self::Sync)
    }
}

impl Net {
    /// What becomes of the next request of a kind.
    pub fn next(&self, op: &'static str, fate: Fate) {
        self.before(op, fate, |_| {});
    }

    /// What becomes of the next request of a kind, and what happens just before.
    pub fn before(&self, op: &'static str, fate: Fate, before: impl FnOnce(&mut Ensemble) + Send + 'static) {
        self.server().script.push(ScriptedRequest {
            fits: Box::new(move |_, asked| asked == op),
            fate,
            before: Some(Box::new(before)),
            after: Box::new(|_| {}),
        });
    }
}
