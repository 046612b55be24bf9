//! Servers that the plan has and of which the evidence has nothing, and those that only the evidence has: either way
//! the plan does not state whose majority decides. Of samples this is asked where the plan names their file: those of a
//! record of format 1 may be of one server alone. And clients of the history that the plan does not have: what they
//! were to do, and how many may hold at a time, is not known of them.

use super::{SAMPLED, needed_by};
use crate::analysis::{RecordView, ops};
use crate::text::few;
use std::collections::BTreeSet;
use zooquake_history::Process;
use zooquake_history::plan::record_files::{SERVERS, TXNLOGS};

/// How servers, of a run that ended, and clients of the record differ from those of the plan, as reasons.
pub fn reasons(record: &RecordView<'_>) -> Vec<String> {
    let servers = match record.whole {
        true => other_servers(record),
        false => Vec::new(),
    };
    servers.into_iter().chain(strange_clients(record)).collect()
}

/// A reason for each file of servers whose servers are not those of the plan.
fn other_servers(record: &RecordView<'_>) -> Vec<String> {
    if !record.plan.has_known_format() {
        return Vec::new();
    }
    let logs = record.server_txnlogs.map(|logs| {
        let servers = logs.iter().map(|log| log.server.as_str()).collect();
        let undecided = "what a majority of the voters logged is not known".to_owned();
        difference(record, TXNLOGS, servers, undecided)
    });
    let samples = record.servers.filter(|_| record.plan.names(SERVERS)).map(|samples| {
        let servers = samples.iter().map(|sample| sample.server.as_str()).collect();
        difference(record, SERVERS, servers, needed_by(SAMPLED, 2))
    });
    logs.into_iter().chain(samples).flatten().collect()
}

/// How the servers of a file differ from those of the plan, as reasons.
fn difference(record: &RecordView<'_>, file: &str, servers: BTreeSet<&str>, without: String) -> Vec<String> {
    let planned = record.plan.cluster.ensemble();
    let lacking: Vec<&str> = planned
        .iter()
        .map(String::as_str)
        .filter(|name| !servers.contains(name))
        .collect();
    let known: BTreeSet<&str> = planned.iter().map(String::as_str).collect();
    let strange: Vec<&str> = servers.difference(&known).copied().collect();
    let mut reasons = Vec::new();
    if !lacking.is_empty() {
        reasons.push(format!(
            "{file} has nothing of {}, which the plan has: {without}",
            few(&lacking)
        ));
    }
    if !strange.is_empty() {
        reasons.push(format!(
            "{file} names {}, which the plan does not have: {without}",
            few(&strange)
        ));
    }
    reasons
}

/// A reason that names the clients that the plan does not have; `None` if there are none, of a plan that was not read,
/// and of scenes, which have no clients.
fn strange_clients(record: &RecordView<'_>) -> Option<String> {
    if !(record.plan.has_known_format() && record.plan.scenes.is_empty()) {
        return None;
    }
    let planned: BTreeSet<String> = record.plan.cluster.client_names().into_iter().collect();
    let events = record.history.events.iter();
    let clients = events.filter_map(|event| match event.process {
        Process::Number(_) => Some(ops::node(event)),
        Process::Name(_) => ops::named_client(event),
    });
    let strange: BTreeSet<&str> = clients.filter(|client| !planned.contains(*client)).collect();
    let strange: Vec<&str> = strange.into_iter().collect();
    let words = || {
        format!(
            "the history has operations of {}, which the plan does not have",
            few(&strange)
        )
    };
    (!strange.is_empty()).then(words)
}
