//! The program in a sidecar: it shares the network and the processes of one host, cuts the one and kills the other, and
//! carries a client's connections where the plan has something happen to them.
//!
//! It reads requests on stdin and answers on stdout, as a client does. When its stdin ends, the orchestrator has gone:
//! it heals the network and exits, so that nothing stays cut off.

mod admin;
mod firewall;
mod four_letter;
mod processes;
mod wire;

use crate::Doing;
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

pub use firewall::Rule;
pub use wire::{Disconnected, Dropped, Expired, Lost, Reconnected};

/// Serves requests until stdin ends, then heals.
///
/// # Errors
/// If stdin cannot be read, or the network cannot be healed at the end.
pub fn serve() -> Doing<'static, ()> {
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
    let proxy = Arc::new(wire::Proxy::default());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.context("reading requests")? {
        let request: Request = serde_json::from_str(&line).with_context(|| format!("reading the request {line}"))?;
        let (replies, proxy) = (replies.clone(), Arc::clone(&proxy));
        tokio::spawn(async move {
            let (outcome, value, error) = match answer(&proxy, &request).await {
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
    firewall::close().await?;
    writer.abort();
    Ok(())
}

/// Heals this host once, for the watcher: removes network rules of ours and continues stopped processes. Tells whether
/// there was anything to heal.
///
/// # Errors
/// If rules of ours remain, or /proc cannot be read.
pub fn heal() -> Doing<'static, bool> {
    Box::pin(async {
        let stopped = processes::go_on()?;
        Ok(firewall::heal().await? || stopped > 0)
    })
}

async fn answer(proxy: &Arc<wire::Proxy>, request: &Request) -> Result<Value> {
    match request.f.as_str() {
        "ping" => Ok(json!({})),
        "cut" => firewall::cut(&field::<Vec<Rule>>(&request.value, "rules")?)
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
        "probe-write" => admin::probe_write().await.map(|()| json!({})),
        "tree" => serde_json::to_value(admin::tree().await?).context("writing the tree"),
        "canary" => admin::canary(field(&request.value, "session_ms")?).await,
        other => on_the_wire(proxy, other, &request.value).await,
    }
}

async fn on_the_wire(proxy: &Arc<wire::Proxy>, f: &str, value: &Value) -> Result<Value> {
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
        other => bail!("a sidecar knows no request `{other}`"),
    };
    Ok(done)
}

fn field<T: DeserializeOwned>(value: &Value, name: &str) -> Result<T> {
    let found = value.get(name).with_context(|| format!("the request lacks `{name}`"))?;
    serde_json::from_value(found.clone()).with_context(|| format!("the request's `{name}` is {found}"))
}
