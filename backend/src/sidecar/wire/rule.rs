//! The rule that waits for its request: which one it is, and what becomes of it.

use super::frame::{self, ClientFrame, ReplyFrame};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use zooquake_history::fault::NthRequest;

/// What the proxy does to a request, or to the reply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleAction {
    /// It takes this away, and the connection with it.
    Lost(LossKind),
    /// It keeps this back, and all that follows on the connection.
    Held(HeldKind),
}

/// What the proxy takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// The reply to a request that was applied.
    Reply,
    /// The request, before any server saw it.
    Request,
}

/// What the proxy keeps back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldKind {
    /// The reply to a request that was applied.
    Reply,
}

/// What a rule did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleEffect {
    /// What was taken away or kept back, as `"lost":"reply"`.
    #[serde(flatten)]
    pub action: RuleAction,
    /// Type of the request: `create`, `delete`, `setData`, `multi`, `closeSession`.
    pub op: String,
    /// The znode that the request named.
    pub path: Option<String>,
    /// The request's number in its session.
    pub xid: i32,
    /// The session's id as `0x…`; `None` if the connection had none yet.
    pub session: Option<String>,
    /// The zxid of the write; `None` if it was never sent.
    pub zxid: Option<i64>,
    /// `applied` or `not-sent`.
    pub outcome: String,
}

/// What to do with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameVerdict {
    /// Pass it on.
    Forward,
    /// Throw it away and close the connection.
    Drop,
    /// Keep it back, with what follows it.
    Hold,
}

/// One armed rule. It acts once.
#[derive(Debug)]
pub struct WireRule {
    action: RuleAction,
    which: NthRequest,
    seen: u32,
    /// The request whose reply is awaited, and the connection that it went over.
    awaited: Option<(u64, ClientFrame)>,
    done: Option<oneshot::Sender<RuleEffect>>,
}

impl WireRule {
    /// A rule, and the channel on which it reports what it did.
    pub fn new(action: RuleAction, which: NthRequest) -> (Self, oneshot::Receiver<RuleEffect>) {
        let (done, acted) = oneshot::channel();
        let rule = Self {
            action,
            which,
            seen: 0,
            awaited: None,
            done: Some(done),
        };
        (rule, acted)
    }

    /// Judges a request.
    pub fn asked(&mut self, connection: u64, session: Option<i64>, asked: &ClientFrame) -> FrameVerdict {
        if self.awaited.is_some() || self.done.is_none() || !frame::is(asked.code, self.which.op) {
            return FrameVerdict::Forward;
        }
        self.seen += 1;
        if self.seen < self.which.nth {
            return FrameVerdict::Forward;
        }
        match self.action {
            RuleAction::Lost(LossKind::Request) => self.act(asked, session, None),
            RuleAction::Lost(LossKind::Reply) | RuleAction::Held(HeldKind::Reply) => {
                self.awaited = Some((connection, asked.clone()));
                FrameVerdict::Forward
            }
        }
    }

    /// Judges a reply. A reply whose request was not applied is passed on, and the rule waits for the next.
    pub fn replied(&mut self, connection: u64, session: Option<i64>, reply: &ReplyFrame, frame: &[u8]) -> FrameVerdict {
        let awaited = self
            .awaited
            .take_if(|(at, asked)| *at == connection && asked.xid == reply.xid);
        match awaited {
            Some((_, asked)) if reply.applied(asked.code, frame) => self.act(&asked, session, Some(reply.zxid)),
            _ => FrameVerdict::Forward,
        }
    }

    /// A connection has gone; a reply that was awaited on it will not come.
    pub fn gone(&mut self, connection: u64) {
        self.awaited.take_if(|(at, _)| *at == connection);
    }

    fn act(&mut self, asked: &ClientFrame, session: Option<i64>, zxid: Option<i64>) -> FrameVerdict {
        let Some(done) = self.done.take() else {
            return FrameVerdict::Forward;
        };
        let outcome = if zxid.is_some() { "applied" } else { "not-sent" };
        let effect = RuleEffect {
            action: self.action,
            op: frame::name(asked.code).to_string(),
            path: asked.path.clone(),
            xid: asked.xid,
            session: session.map(|id| format!("{id:#x}")),
            zxid,
            outcome: outcome.to_string(),
        };
        // If the receiver has given up meanwhile, nothing may be done.
        match (done.send(effect), self.action) {
            (Ok(()), RuleAction::Lost(_)) => FrameVerdict::Drop,
            (Ok(()), RuleAction::Held(_)) => FrameVerdict::Hold,
            (Err(_), _) => FrameVerdict::Forward,
        }
    }
}
