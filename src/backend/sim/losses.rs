//! Requests and replies that are lost in memory.

use super::cluster::SimCluster;
use crate::sidecar::{Dropped, Lost};
use anyhow::{Result, bail};
use futures_util::future::{Either, select};
use std::time::Duration;
use tokio::sync::oneshot;
use zooquake_history::fault::{Wire, WireOp};
use zooquake_workloads::zk::Host;
use zooquake_workloads::zk::sim::{Fate, Scripted};

/// Whether a request of the model is of such a kind.
fn fits(op: WireOp, asked: &str) -> bool {
    match op {
        WireOp::Create => asked == "create",
        WireOp::Delete | WireOp::Removal => asked == "delete",
        WireOp::SetData => asked == "set",
        WireOp::Multi => asked == "multi",
        WireOp::CloseSession => false,
        WireOp::AnyWrite => ["create", "delete", "set", "multi"].contains(&asked),
    }
}

impl SimCluster {
    /// Loses the request of a client that `wire` names, or the reply to it; `None` if none came within the limit.
    pub(super) async fn lose_one(&self, client: &str, wire: Wire, limit: Duration) -> Result<Option<Dropped>> {
        let (which, fate, lost) = match wire {
            Wire::DropReply(which) => (which, Fate::ReplyLost, Lost::Reply),
            Wire::DropRequest(which) => (which, Fate::RequestLost, Lost::Request),
            Wire::Close | Wire::Reset => bail!("nothing is lost by {wire:?}"),
        };
        let process = self.process(client)?;
        let (acted, acts) = oneshot::channel();
        let (mut seen, mut dropped) = (0, None);
        let scripted = Scripted {
            fits: Box::new(move |session, asked| {
                // Nobody waits for it any more.
                if !process.owns(session) || !fits(which.op, asked) || dropped.is_some() {
                    return false;
                }
                seen += 1;
                if seen == which.nth {
                    dropped = Some(());
                }
                seen == which.nth
            }),
            fate,
            before: Box::new(|_| {}),
            after: Box::new(move |server| {
                let applied = lost == Lost::Reply;
                let dropped = Dropped {
                    lost,
                    op: format!("{:?}", which.op).to_lowercase(),
                    path: None,
                    xid: 0,
                    session: None,
                    zxid: applied.then(|| server.zxid()),
                    outcome: if applied { "applied" } else { "not-sent" }.to_string(),
                };
                // The nemesis may have given it up.
                let _ = acted.send(dropped);
            }),
        };
        self.net.server().script.push(scripted);
        match select(acts, self.world.sleep(limit)).await {
            Either::Left((dropped, _)) => Ok(dropped.ok()),
            Either::Right(_) => {
                self.net.server().script.clear();
                Ok(None)
            }
        }
    }
}
