//! Rows of the pictures: one for each client, however its events are marked.

use std::collections::HashMap;
use zooquake_checkers::{Event, Process, Record};

/// The most rows a picture gets; what goes beyond shares the last one.
const MAX: usize = 40;

/// The rows, by number.
#[derive(Debug, Default)]
pub struct Lanes {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl Lanes {
    /// The clients of the plan, then whoever else appears in the history.
    pub fn of(record: &Record) -> Self {
        let mut names: Vec<String> = (1..=record.plan.cluster.clients.min(MAX))
            .map(|n| format!("c{n}"))
            .collect();
        let mut seen: std::collections::HashSet<String> = names.iter().cloned().collect();
        for event in &record.history.events {
            // Beyond this the rest would be put together anyway.
            if seen.len() > 4 * MAX {
                break;
            }
            if let Some(name) = name_of(event)
                && !seen.contains(&name)
            {
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
        let name = name_of(event)?;
        self.row_of(&name).or(self.names.len().checked_sub(1))
    }

    /// The row of a client.
    pub fn row_of(&self, client: &str) -> Option<usize> {
        self.by_name.get(client).copied()
    }

    /// Names of the rows, from the top.
    pub fn names(&self) -> &[String] {
        &self.names
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
