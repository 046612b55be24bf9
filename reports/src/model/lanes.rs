//! Rows of the pictures: one for each client, however its events are marked.

use std::collections::{BTreeMap, HashMap};
use zooquake_history::plan::On;
use zooquake_history::{Event, Node, Process, Record, ServerSample};

/// The most rows a picture gets; what goes beyond shares the last one.
const MAX: usize = 40;

/// The rows, by number.
#[derive(Debug, Default)]
pub struct Lanes {
    /// Names of the rows, from the top.
    pub names: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl Lanes {
    /// The rows of the plan's clients and of the other clients in the history, by name; at most [`MAX`], the last one
    /// for all others.
    pub fn new(record: &Record) -> Self {
        // The clients of a network are nodes with names of their own.
        let clients = match record.plan.on {
            On::Network => 0,
            On::Docker | On::Sim => record.plan.cluster.clients.min(MAX),
        };
        let mut names: Vec<String> = (1..=clients).map(|n| Node::client(n).to_string()).collect();
        let mut seen: std::collections::HashSet<String> = names.iter().cloned().collect();
        for name in record.history.events.iter().filter_map(name_of) {
            // Beyond this the rest would be put together anyway.
            if seen.len() > 4 * MAX {
                break;
            }
            if !seen.contains(&name) {
                seen.insert(name.clone());
                names.push(name);
            }
        }
        names.sort_by_key(|n| natural(n));
        if names.len() > MAX {
            names.truncate(MAX - 1);
            names.push("others".into());
        }
        let by_name = names.iter().cloned().enumerate().map(|(i, n)| (n, i)).collect();
        Self { names, by_name }
    }

    /// The row of an event; `None` for those that belong to no client.
    pub fn row(&self, event: &Event) -> Option<usize> {
        self.row_of(&name_of(event)?).or(self.names.len().checked_sub(1))
    }

    /// The row of a client.
    pub fn row_of(&self, client: &str) -> Option<usize> {
        self.by_name.get(client).copied()
    }
}

/// The client of an event, or its process where no client is named.
fn name_of(event: &Event) -> Option<String> {
    match (&event.node, &event.process) {
        (_, Process::Name(lane)) if matches!(lane.as_str(), "nemesis" | "run" | "admin") => None,
        (Some(node), _) => Some(node.to_string()),
        (None, Process::Number(n)) => Some(format!("process {n}")),
        (None, Process::Name(lane)) => Some(lane.to_string()),
    }
}

/// Sorts `c2` before `c10`.
fn natural(name: &str) -> (String, u64, String) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (
        prefix.to_owned(),
        name[prefix.len()..].parse().unwrap_or(u64::MAX),
        name.to_owned(),
    )
}

/// One server over time.
#[derive(Debug)]
pub struct ServerLane {
    /// `n1`, ….
    pub name: String,
    /// Spans in which it reported the same mode and epoch.
    pub spans: Vec<ServerSpan>,
}

/// A span in which a server reported the same mode and epoch.
#[derive(Debug)]
pub struct ServerSpan {
    /// `leader`, `follower`, `silent`, …
    pub mode: String,
    /// The epoch it was in.
    pub epoch: i64,
    /// Its first such answer.
    pub from: u64,
    /// Its first other answer, or its last.
    pub until: u64,
}

/// One lane for each server, at most 32.
pub fn servers(samples: &[ServerSample]) -> Vec<ServerLane> {
    let mut by_server: BTreeMap<&str, Vec<&ServerSample>> = BTreeMap::new();
    for sample in samples {
        by_server.entry(&sample.server).or_default().push(sample);
    }
    let lane = |(name, mut samples): (&str, Vec<&ServerSample>)| {
        samples.sort_by_key(|s| s.time);
        ServerLane {
            name: crate::text::clip(name, 16),
            spans: spans(&samples),
        }
    };
    by_server.into_iter().take(32).map(lane).collect()
}

fn spans(samples: &[&ServerSample]) -> Vec<ServerSpan> {
    let mut spans: Vec<ServerSpan> = Vec::new();
    for sample in samples {
        if let Some(last) = spans.last_mut() {
            last.until = sample.time;
            if last.mode == sample.mode && last.epoch == sample.epoch {
                continue;
            }
        }
        spans.push(ServerSpan {
            mode: crate::text::clip(&sample.mode, 16),
            epoch: sample.epoch,
            from: sample.time,
            until: sample.time,
        });
    }
    spans
}
