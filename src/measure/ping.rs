//! Requests to clients that do nothing, and the answers to them.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use zooquake_history::operation::control::f::PING;
use zooquake_workloads::protocol::{Message, ProcessOutput, Request};

/// The request of this number.
pub fn ping(id: u64) -> Request {
    Request {
        id,
        f: PING.into(),
        value: Value::Null,
        timeout_ms: None,
    }
}

/// The next answer of a client: the client by its place from 0, and the number of the request.
///
/// # Errors
/// If a client ends, or writes what is no message.
pub async fn next_reply(outputs: &mut UnboundedReceiver<(usize, ProcessOutput)>) -> Result<(usize, u64)> {
    loop {
        let (client, output) = outputs.recv().await.context("a client is there as long as its host")?;
        let ProcessOutput::Line(line) = output else {
            bail!("the client c{} ended", client + 1)
        };
        if let Message::Reply { id, .. } = serde_json::from_str(&line).with_context(|| format!("reading {line}"))? {
            return Ok((client, id));
        }
    }
}
