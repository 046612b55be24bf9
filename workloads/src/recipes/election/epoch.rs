//! The protected queue, and a number for each term: the first candidate raises the epoch in one transaction with the
//! check that its znode still exists, and sends the epoch with each write.
//!
//! A candidate raises the epoch only while its znode exists, and the next one only once that is gone; so later terms
//! have higher epochs, and the resource refuses what a deposed leader still writes. An unknown outcome is no matter:
//! the candidate raises the epoch again, and a request that got stuck fails then by the version that it expects.

use async_trait::async_trait;

use super::QUEUE;
use crate::recipes::grant::{BeforeGrant, FirstContender, ProtectedQueue};
use crate::recipes::{Env, Grant};
use crate::zk::{CreateMode, Error, MultiOp, Stat, Zk};

/// The znode with the highest epoch so far, as a decimal number. It is never deleted.
pub const EPOCH: &str = "/election-epoch";

/// A client of `election/epoch` that begins to open its session.
pub fn epoch(env: &Env) -> ProtectedQueue {
    ProtectedQueue::new(env, QUEUE, Raise)
}

struct Raise;

/// Reads the epoch; creates its znode if it is missing.
async fn read(zk: &dyn Zk) -> Result<(Vec<u8>, Stat), Error> {
    match zk.get(EPOCH).await {
        Err(Error::NoNode) => {
            // Another may be the first to create it.
            drop(zk.create(EPOCH, b"0", CreateMode::Persistent).await);
            zk.get(EPOCH).await
        }
        read => read,
    }
}

/// Raises the epoch while the znode at `own` stands. `None` if that failed, or may have.
async fn raise(zk: &dyn Zk, own: &str) -> Option<i64> {
    let (data, stat) = read(zk).await.ok()?;
    let text = String::from_utf8_lossy(&data);
    let Ok(last) = text.parse::<i64>() else {
        crate::stderr::say(&format!("{EPOCH} is `{text}`, not a number"));
        return None;
    };
    let next = last + 1;
    let term = vec![
        MultiOp::Check(own.to_string(), None),
        MultiOp::Set(EPOCH.to_string(), next.to_string().into_bytes(), Some(stat.version)),
    ];
    zk.multi(term).await.ok().map(|_| next)
}

#[async_trait]
impl BeforeGrant for Raise {
    async fn perform(&self, candidate: FirstContender<'_>, grant: Grant) -> Option<Grant> {
        let token = raise(candidate.claim.zk.as_ref(), &grant.path).await;
        if token.is_none() {
            candidate.claim.steady().await;
        }
        token.map(|_| Grant { token, ..grant })
    }

    async fn newest(&self, zk: &dyn Zk) -> Option<i64> {
        let (data, _) = read(zk).await.ok()?;
        String::from_utf8_lossy(&data).parse().ok()
    }
}
