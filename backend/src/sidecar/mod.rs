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
mod wire;

use crate::BackendFuture;
use anyhow::{Context, Result, bail};
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use zooquake_workloads::protocol::{Message, Outcome, Request};

pub use firewall::PeerRule;
pub use quorum::{Links, Relief};
pub use reader::Lateness;
pub use wire::{DisconnectEffect, ExpiryEffect, LossKind, ReconnectEffect, RuleEffect};

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
        let request: Request = serde_json::from_str(&line).with_context(|| format!("reading the request {line}"))?;
        let (replies, host) = (replies.clone(), Arc::clone(&host));
        tokio::spawn(async move {
            let (outcome, value, error) = match answer(&host, &request).await {
                Ok(value) => (Outcome::Ok, value, None),
                Err(error) => (Outcome::Fail, Value::Null, Some(format!("{error:#}"))),
            };
            let message = Message::Reply {
                id: request.id,
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

async fn answer(host: &Tools, request: &Request) -> Result<Value> {
    match request.f.as_str() {
        "ping" => Ok(json!({})),
        "cut" => firewall::cut(&field::<Vec<PeerRule>>(&request.value, "rules")?)
            .await
            .map(|()| json!({})),
        "dropped" => Ok(json!({ "packets": firewall::dropped().await? })),
        "heal" => firewall::heal().await.map(|_| json!({})),
        "probe" => {
            let address: SocketAddr = field(&request.value, "address")?;
            let limit = Duration::from_millis(field(&request.value, "timeout_ms")?);
            let outcome = tokio::time::timeout(limit, tokio::net::TcpStream::connect(address)).await;
            Ok(json!({ "connected": matches!(outcome, Ok(Ok(_))) }))
        }
        "kill" => Ok(json!({ "pids": processes::kill_all().await? })),
        "ran" => {
            let limit = Duration::from_millis(field(&request.value, "within_ms")?);
            Ok(json!({ "threads": processes::ran_within(limit).await? }))
        }
        "stopped" => Ok(json!({ "threads": processes::stopped()? })),
        "processes" => Ok(json!({ "pids": processes::running()? })),
        "server-of-client" => Ok(json!({ "address": processes::connected_server()? })),
        "srvr" => serde_json::to_value(four_letter::srvr().await?).context("writing the server's state"),
        "setup" => admin::setup(&field::<Vec<String>>(&request.value, "paths")?)
            .await
            .map(|()| json!({})),
        "exists" => {
            let path: String = field(&request.value, "path")?;
            Ok(json!({ "exists": admin::exists(&path).await? }))
        }
        "probe-write" => Ok(json!({ "zxid": admin::probe_write().await? })),
        "tree" => serde_json::to_value(admin::tree().await?).context("writing the tree"),
        "canary" => admin::canary(field(&request.value, "session_ms")?).await,
        other => on_the_wire(host, other, &request.value).await,
    }
}

async fn on_the_wire(host: &Tools, f: &str, value: &Value) -> Result<Value> {
    let proxy = &host.proxy;
    let limit = || Ok::<_, anyhow::Error>(Duration::from_millis(field(value, "timeout_ms")?));
    let done = match f {
        "proxy" => {
            let servers: Vec<SocketAddr> = field(value, "servers")?;
            json!({ "ports": proxy.open(&servers, field(value, "port")?).await? })
        }
        "arm" => json!({ "dropped": proxy.arm(field(value, "wire")?, limit()?).await? }),
        "disarm" => {
            proxy.disarm();
            json!({})
        }
        "disconnect" => json!(proxy.disconnect(field(value, "wire")?).await?),
        "expire" => json!({ "expired": proxy.expire(&field::<Vec<SocketAddr>>(value, "servers")?).await? }),
        "reconnect" => json!(proxy.reconnect(limit()?).await),
        other => return between_servers(host, other, value).await,
    };
    Ok(done)
}

async fn between_servers(host: &Tools, f: &str, value: &Value) -> Result<Value> {
    let ms = |name: &str| Ok::<_, anyhow::Error>(Duration::from_millis(field(value, name)?));
    let done = match f {
        "quorum-proxy" => {
            host.quorum.open(&field::<Vec<SocketAddr>>(value, "peers")?).await?;
            json!({})
        }
        "lag" => json!(host.quorum.lag(ms("delay_ms")?, ms("at_most_ms")?)?),
        "catch-up" => json!(host.quorum.catch_up()),
        "links" => json!(host.quorum.links()),
        "read-along" => host.reader.open().await.map(|()| json!({}))?,
        "late" => json!(host.reader.lateness(field(value, "zxid")?, ms("timeout_ms")?).await?),
        other => bail!("a sidecar has no request `{other}`"),
    };
    Ok(done)
}

fn field<T: DeserializeOwned>(value: &Value, name: &str) -> Result<T> {
    let found = value.get(name).with_context(|| format!("the request lacks `{name}`"))?;
    serde_json::from_value(found.clone()).with_context(|| format!("the request's `{name}` is {found}"))
}
