//! `zooquake measure channel`: how fast the control channel to a client is.

use super::args::ChannelOptions;
use super::bench::{HOST, on_ensemble};
use crate::backend::docker::DockerCluster;
use crate::backend::{Cluster, Output};
use crate::cli::exit::Code;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::sync::mpsc;
use zooquake_workloads::protocol::{Message, Request};

/// Sends requests that do nothing to one client in its container, one after the other.
///
/// # Errors
/// If the cluster does not come up, or the client does not answer.
pub async fn channel(options: &ChannelOptions) -> Result<Code> {
    let (rate, worst_ms) = on_ensemble(1, async |cluster| round_trips(cluster, options.requests).await).await?;
    if options.json {
        println!("{}", json!({ "round_trips_per_second": rate, "worst_ms": worst_ms }));
    } else {
        println!(
            "{} round trips: {rate:.0} a second, the longest took {worst_ms:.1} ms",
            options.requests
        );
    }
    Ok(Code::Valid)
}

/// Round trips a second, and the longest in milliseconds.
async fn round_trips(cluster: &DockerCluster, requests: u64) -> Result<(f64, f64)> {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let on_output = move |output| {
        // Nobody listens once all is measured.
        let _ = sender.send(output);
    };
    let stdin = cluster.start_client(HOST, 1, Box::new(on_output)).await?;
    let (mut worst, mut begun) = (0.0_f64, None);
    for id in 0..=requests {
        let sent = Instant::now();
        // The first round trip waits for the process to start, and is not counted.
        let from = if id == 1 { *begun.insert(sent) } else { sent };
        let request = Request {
            id,
            f: "ping".into(),
            value: Value::Null,
            timeout_ms: None,
        };
        stdin.send(serde_json::to_string(&request).context("writing a request")?);
        loop {
            let Some(Output::Line(line)) = lines.recv().await else {
                bail!("the client ended")
            };
            match serde_json::from_str(&line).with_context(|| format!("reading {line}"))? {
                Message::Reply { id: answered, .. } if answered == id => break,
                _ => {}
            }
        }
        if id > 0 {
            worst = worst.max(from.elapsed().as_secs_f64() * 1e3);
        }
    }
    let whole = begun.context("nothing was measured")?.elapsed().as_secs_f64();
    Ok((requests as f64 / whole, worst))
}
