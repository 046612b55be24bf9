//! `lock/protected` and `lock/fenced`: the protected queue, without and with a token.

use async_trait::async_trait;

use super::PARENT;
use crate::recipes::grant::{BeforeGrant, ContenderQueue, FirstContender, ProtectedQueue};
use crate::recipes::{Env, Grant};

const QUEUE: ContenderQueue = ContenderQueue::single(PARENT, "-lock-");

/// A client that begins to open its session; `fenced` if its grants carry tokens.
pub fn protected(env: &Env, fenced: bool) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Token(fenced))
}

/// The first in the queue holds, and its znode's age is its token, if it has one.
pub struct Token(pub bool);

#[async_trait]
impl BeforeGrant for Token {
    async fn perform(&self, _: FirstContender<'_>, grant: Grant) -> Option<Grant> {
        let token = grant.czxid.filter(|_| self.0);
        Some(Grant { token, ..grant })
    }
}
