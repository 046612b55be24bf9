//! `lock/protected` and `lock/fenced`: the protected queue, without and with a token.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::PARENT;
use crate::recipes::grant::{BeforeGrant, Candidate, Protected, Queue};
use crate::recipes::{Env, Grant};

const QUEUE: Queue = Queue::single(PARENT, "-lock-");

/// A client that begins to open its session; `fenced` if its grants carry tokens.
pub fn protected(env: &Env, fenced: bool) -> Protected {
    Protected::new(env, QUEUE, Arc::new(Token(fenced)))
}

/// The first in the queue holds, and its znode's age is its token, if it has one.
pub struct Token(pub bool);

impl BeforeGrant for Token {
    fn perform<'a>(&'a self, _: Candidate<'a>, grant: Grant) -> BoxFuture<'a, Option<Grant>> {
        let token = grant.czxid.filter(|_| self.0);
        std::future::ready(Some(Grant { token, ..grant })).boxed()
    }
}
