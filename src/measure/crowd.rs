//! Driving many clients in one process, and seeing what they cost.

use super::ensemble::HOST;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use zooquake_backend::Stdin;
use zooquake_backend::docker::DockerCluster;
use zooquake_history::Node;
use zooquake_history::operation::control::f;
use zooquake_workloads::protocol::{Message, Outcome, ProcessOutput, Request};
use zooquake_workloads::zk::counted::Counts;

/// Nothing that is measured takes as long as this.
const LIMIT: Duration = Duration::from_secs(60);

/// The clients of one process.
pub struct Crowd {
    clients: Vec<Node>,
    stdin: Stdin,
    output: mpsc::UnboundedReceiver<(Instant, ProcessOutput)>,
    last_id: u64,
    /// Replies that are not waited for yet.
    arrived: HashMap<u64, CrowdReply>,
}

#[derive(Debug)]
pub struct CrowdReply {
    /// When it was read.
    pub at: Instant,
    pub value: Value,
}

impl Crowd {
    /// Starts clients of a variant, named `c1` and so on, and waits until all of them answer.
    ///
    /// # Errors
    /// If the process does not start, or does not answer.
    pub async fn start(cluster: &DockerCluster, variant: &str, size: usize) -> Result<Self> {
        let clients: Vec<Node> = (1..=size).map(Node::client).collect();
        let (sender, output) = mpsc::unbounded_channel();
        let on_output = move |output| {
            // The receiver is gone once all is measured.
            let _ = sender.send((Instant::now(), output));
        };
        let stdin = cluster
            .start_crowd(&HOST, &clients, variant, Box::new(on_output))
            .await?;
        let mut crowd = Self {
            clients,
            stdin,
            output,
            last_id: 0,
            arrived: HashMap::new(),
        };
        crowd.all(f::PING).await?;
        Ok(crowd)
    }

    pub fn clients(&self) -> &[Node] {
        &self.clients
    }

    /// Asks a client for something; its reply will have this number.
    ///
    /// # Errors
    /// If the request cannot be written.
    pub fn ask(&mut self, client: &Node, f: &str, value: Value) -> Result<u64> {
        self.last_id += 1;
        let request = Request {
            id: self.last_id,
            f: f.to_string(),
            value,
            timeout_ms: None,
        };
        let line = serde_json::to_string(&request).context("writing a request")?;
        self.stdin.send(format!("{client} {line}"));
        Ok(self.last_id)
    }

    /// Waits for this reply.
    ///
    /// # Errors
    /// If it is not `ok`, or does not come.
    pub async fn reply(&mut self, id: u64) -> Result<CrowdReply> {
        Ok(self.first(&[id]).await?.1)
    }

    /// Waits for the first of these replies; with its number.
    ///
    /// # Errors
    /// If it is not `ok`, or does not come.
    pub async fn first(&mut self, ids: &[u64]) -> Result<(u64, CrowdReply)> {
        let wait = async {
            loop {
                if let Some((id, reply)) = ids.iter().find_map(|id| self.arrived.remove_entry(id)) {
                    return Ok((id, reply));
                }
                self.read().await?;
            }
        };
        tokio::time::timeout(LIMIT, wait)
            .await
            .with_context(|| format!("a client did not answer in {} s", LIMIT.as_secs()))?
    }

    /// Reads one line.
    async fn read(&mut self) -> Result<()> {
        let Some((at, ProcessOutput::Line(line))) = self.output.recv().await else {
            bail!("the process of the clients ended")
        };
        let (client, message) = line.split_once(' ').with_context(|| format!("reading {line}"))?;
        let message = serde_json::from_str(message).with_context(|| format!("reading {line}"))?;
        let Message::Reply {
            id,
            outcome,
            value,
            error,
        } = message
        else {
            return Ok(());
        };
        ensure!(
            outcome == Outcome::Ok,
            "{client} did not do what it was asked: {}",
            error.unwrap_or_default()
        );
        self.arrived.insert(id, CrowdReply { at, value });
        Ok(())
    }

    /// Asks all clients the same, and waits for all replies.
    async fn all(&mut self, f: &str) -> Result<Vec<Value>> {
        let mut ids = Vec::new();
        for client in self.clients.clone() {
            ids.push(self.ask(&client, f, json!({}))?);
        }
        let mut values = Vec::new();
        for id in ids {
            values.push(self.reply(id).await?.value);
        }
        Ok(values)
    }

    /// Waits until nothing goes on any more; returns what was counted until then.
    ///
    /// A `confirm` writes in each client's session. What that session is to hear of earlier transactions comes to it
    /// before the answer, so when nothing is asked or heard from one round of confirms to the end of the next, and no
    /// request is under way, all is done that the transactions before were to bring about.
    ///
    /// # Errors
    /// If a client does not answer, or does not count.
    pub async fn settle(&mut self) -> Result<Counts> {
        let mut before = None;
        loop {
            self.all(f::CONFIRM).await?;
            let mut counts = Counts::default();
            for value in self.all(f::QUIESCE).await? {
                let told = serde_json::from_value(value["counts"].clone());
                counts = counts + told.context("this variant does not count its requests")?;
            }
            if counts.pending == 0 && before == Some(counts) {
                return Ok(counts);
            }
            before = Some(counts);
        }
    }
}
