//! Requests and replies that are lost in memory.

use super::cluster::SimCluster;
use anyhow::{Result, bail};
use futures_util::future::{Either, select};
use std::time::Duration;
use tokio::sync::oneshot;
use zooquake_backend::sidecar::{LossKind, RuleEffect};
use zooquake_history::fault::{Wire, WireOp};
use zooquake_workloads::zk::sim::{self, Fate, ScriptedRequest};
use zooquake_workloads::zk::{Host, session_hex};

/// Whether a request of the model is of such a kind.
fn fits(op: WireOp, asked: &str) -> bool {
    match op {
        WireOp::Create => asked == "create",
        WireOp::Delete => asked == "delete",
        WireOp::Removal => asked == "delete" || asked == "close",
        WireOp::SetData => asked == "set",
        WireOp::Multi => asked == "multi",
        WireOp::CloseSession => asked == "close",
        WireOp::AnyWrite => ["create", "delete", "set", "multi", "close"].contains(&asked),
    }
}

/// The loss in the words of the proxy.
fn dropped(lost: LossKind, what: sim::LostRequest) -> RuleEffect {
    RuleEffect {
        lost,
        op: match what.op {
            "set" => "setData".to_string(),
            "close" => "closeSession".to_string(),
            other => other.to_string(),
        },
        path: what.path,
        xid: i32::try_from(what.request).unwrap_or(i32::MAX),
        session: Some(session_hex(what.session)),
        zxid: what.zxid,
        outcome: match lost {
            LossKind::Reply => "applied".to_string(),
            LossKind::Request => "not-sent".to_string(),
        },
    }
}

impl SimCluster {
    /// Loses the request of a client that `wire` names, or the reply to it; `None` if none came within the limit.
    pub(super) async fn lose_one(&self, client: &str, wire: Wire, limit: Duration) -> Result<Option<RuleEffect>> {
        let (which, fate, lost) = match wire {
            Wire::DropReply(which) => (which, Fate::ReplyLost, LossKind::Reply),
            Wire::DropRequest(which) => (which, Fate::RequestLost, LossKind::Request),
            Wire::Close | Wire::Reset => bail!("nothing is lost by {wire:?}"),
        };
        self.process(client)?;
        let host = self.node(client)?;
        let (acted, acts) = oneshot::channel();
        let mut seen = 0;
        let scripted = ScriptedRequest {
            fits: Box::new(move |from, asked| {
                let fits = from == host && fits(which.op, asked);
                seen += u32::from(fits);
                fits && seen >= which.nth
            }),
            fate,
            before: None,
            // The nemesis may have given it up.
            after: Box::new(move |what| drop(acted.send(dropped(lost, what)))),
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
