//! The program in a sidecar: it shares the network and the processes of one host, cuts the one and kills the other, and
//! carries a client's connections, and those of a server to its leader, where the plan has something happen to them.
//!
//! It reads requests on stdin and answers on stdout, as a client does. When its stdin ends, the orchestrator has gone:
//! it heals the network and exits, so that nothing stays cut off.

mod admin;
mod firewall;
mod four_letter;
mod processes;
mod quorum;
mod reader;
mod request;
mod wire;

use crate::BackendFuture;
use anyhow::{Context, Result};
use futures_util::FutureExt;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use zooquake_workloads::protocol::{Message, Outcome};

pub use firewall::PeerRule;
pub use quorum::{Links, Relief};
pub use reader::Lateness;
pub use request::{SidecarLine, SidecarRequest};
pub use wire::{
    DisconnectEffect, ExpiryEffect, HeldKind, HoldEffect, LatencyEffect, LossKind, PassageEffect, ReconnectEffect,
    RouteEffect, RuleAction, RuleEffect, StallEffect,
};

/// What a sidecar keeps for its host from one request to the next.
#[derive(Debug, Default)]
struct Tools {
    /// Of a client: its connections with the ensemble.
    proxy: Arc<wire::Proxy>,
    /// Of a server: its connections with its leader.
    quorum: Arc<quorum::QuorumProxy>,
    /// Of a server: a session on it.
    reader: reader::LatenessReader,
}

/// Serves requests until stdin ends, then heals.
///
/// # Errors
/// If stdin cannot be read, or the network cannot be healed at the end.
pub fn serve() -> BackendFuture<'static, ()> {
    serve_requests().boxed()
}

async fn serve_requests() -> Result<()> {
    let (replies, mut queue) = mpsc::unbounded_channel::<String>();
    let writer = tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(line) = queue.recv().await {
            if stdout.write_all(line.as_bytes()).await.is_err() || stdout.flush().await.is_err() {
                return;
            }
        }
    });
    let host = Arc::new(Tools::default());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.context("reading requests")? {
        let SidecarLine { id, request } =
            serde_json::from_str(&line).with_context(|| format!("reading the request {line}"))?;
        let (replies, host) = (replies.clone(), Arc::clone(&host));
        tokio::spawn(async move {
            let (outcome, value, error) = match answer(&host, request).await {
                Ok(value) => (Outcome::Ok, value, None),
                Err(error) => (Outcome::Fail, Value::Null, Some(format!("{error:#}"))),
            };
            let message = Message::Reply {
                id,
                outcome,
                value,
                error,
            };
            let line = serde_json::to_string(&message).expect("a reply is plain data");
            // The receiver lives until the program ends.
            let _ = replies.send(line + "\n");
        });
    }
    let (closed, removed) = tokio::join!(firewall::close(), quorum::remove());
    writer.abort();
    closed.and(removed.map(|_| ()))
}

/// Heals this host once, for the watcher: removes network rules of ours, ends a delay of the quorum proxy and continues
/// stopped processes. Returns whether there was anything to heal.
///
/// # Errors
/// If rules of ours remain, the quorum proxy does not answer, or /proc cannot be read.
pub fn heal() -> BackendFuture<'static, bool> {
    Box::pin(async {
        let stopped = processes::go_on()?;
        // Each is tried, whatever becomes of the others.
        let (cut, lagged, redirected) = (firewall::heal().await, quorum::end().await, quorum::remove().await);
        Ok(cut? | lagged? | redirected? || stopped > 0)
    })
}

async fn answer(host: &Tools, request: SidecarRequest) -> Result<Value> {
    let Tools { proxy, quorum, reader } = host;
    match request {
        SidecarRequest::Ping => written(()),
        SidecarRequest::Cut { rules } => written(firewall::cut(&rules).await?),
        SidecarRequest::Dropped => written(firewall::dropped().await?),
        SidecarRequest::Heal => firewall::heal().await.and_then(|_| written(())),
        SidecarRequest::Probe { address, within } => {
            let connected = tokio::time::timeout(within, tokio::net::TcpStream::connect(address)).await;
            written(matches!(connected, Ok(Ok(_))))
        }
        SidecarRequest::Kill => written(processes::kill_all().await?),
        SidecarRequest::Ran { within } => written(processes::ran_within(within).await?),
        SidecarRequest::Stopped => written(processes::stopped()?),
        SidecarRequest::Processes => written(processes::running()?),
        SidecarRequest::ServerOfClient => written(processes::connected_server()?),
        SidecarRequest::Srvr => written(four_letter::srvr().await?),
        SidecarRequest::Setup { paths } => written(admin::setup(&paths).await?),
        SidecarRequest::Exists { path } => written(admin::exists(&path).await?),
        SidecarRequest::ProbeWrite => written(admin::probe_write().await?),
        SidecarRequest::Tree => written(admin::tree().await?),
        SidecarRequest::Canary { session_ms } => written(admin::canary(session_ms).await?),
        SidecarRequest::Proxy { servers, port } => written(proxy.open(&servers, port).await?),
        SidecarRequest::Arm { wire, within } => written(proxy.arm(wire, within).await?),
        SidecarRequest::Disarm => {
            proxy.disarm();
            written(())
        }
        SidecarRequest::Disconnect { wire } => written(proxy.disconnect(wire).await?),
        SidecarRequest::Expire { servers } => written(proxy.expire(&servers).await?),
        SidecarRequest::Delay { latency } => written(proxy.delay(latency).await?),
        SidecarRequest::Stall => written(proxy.stall().await?),
        SidecarRequest::PassOn { within } => written(proxy.pass_on(within).await?),
        SidecarRequest::Reconnect { within } => written(proxy.reconnect(within).await),
        SidecarRequest::Route { server, within } => written(proxy.route(server, within).await?),
        SidecarRequest::Unroute => written(proxy.unroute().await),
        SidecarRequest::QuorumProxy { peers } => written(quorum.open(&peers).await?),
        SidecarRequest::Lag { delay, at_most } => written(quorum.lag(delay, at_most)?),
        SidecarRequest::CatchUp => written(quorum.catch_up()),
        SidecarRequest::Links => written(quorum.links()),
        SidecarRequest::ReadAlong => written(reader.open().await?),
        SidecarRequest::Late { zxid, within } => written(reader.lateness(zxid, within).await?),
    }
}

fn written(answer: impl Serialize) -> Result<Value> {
    serde_json::to_value(answer).context("writing the answer")
}
