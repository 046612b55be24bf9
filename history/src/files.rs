//! A record from the files of a run's folder.

use crate::event::Damage;
use crate::jsonl::{parse_jsonl, parse_lines, parse_value};
use crate::plan::{ClusterPlan, Plan};
use crate::{Provenance, Record, ServerLog};
use std::collections::HashSet;

/// The name of a server, or of a client, and its log.
pub type Log = (String, Vec<u8>);

/// The contents of a run's files; `None` for one that is not there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files<'a> {
    /// `plan.json`.
    pub plan: Option<&'a [u8]>,
    /// `history.jsonl`.
    pub history: Option<&'a [u8]>,
    /// `tree.json`.
    pub tree: Option<&'a [u8]>,
    /// `txnlog.jsonl`.
    pub txnlog: Option<&'a [u8]>,
    /// `txnlogs.json`.
    pub txnlogs: Option<&'a [u8]>,
    /// `servers.jsonl`.
    pub servers: Option<&'a [u8]>,
    /// The servers' logs in `logs/`, each with the name of its server.
    pub logs: Option<&'a [Log]>,
    /// The clients' logs in `logs/`, each with the name of its client.
    pub clients: &'a [Log],
    /// Of a run of scenes, the servers' logs in `logs/<scene>/`, each with the name of its scene.
    pub scenes: &'a [(String, Vec<Log>)],
    /// `messages.jsonl`.
    pub messages: Option<&'a [u8]>,
    /// `provenance.json`.
    pub provenance: Option<&'a [u8]>,
}

impl Record {
    /// Reads a record from its files, each up to its first damage, which is named in [`Record::damage`].
    ///
    /// A missing plan or history is damage. Missing evidence (the tree, the transaction logs, the servers' samples) is
    /// not: the verdict itself names what could not be judged without it. Nor is a server's log that is cut off, as no
    /// property of a recipe rests on it; [`ServerLog::cuts`] records it.
    pub fn read(files: Files<'_>) -> Self {
        let mut record = Self::default();
        let mut damage = Vec::new();
        let mut note = |file: &str, found: Damage| damage.push(format!("{file}, {found}"));
        match files.plan.map(parse_value) {
            Some(Ok(plan)) => {
                record.plan = plan;
                bounded(&mut record.plan, &mut record.damage);
            }
            Some(Err(found)) => note("plan.json", found),
            None => {}
        }
        if let Some((history, found)) = files.history.map(parse_jsonl) {
            record.history = history;
            found.into_iter().for_each(|found| note("history.jsonl", found));
        }
        match files.tree.map(parse_value) {
            Some(Ok(tree)) => record.tree = Some(tree),
            Some(Err(found)) => note("tree.json", found),
            None => {}
        }
        if let Some((txnlog, found)) = files.txnlog.map(parse_lines) {
            record.txnlog = Some(txnlog);
            found.into_iter().for_each(|found| note("txnlog.jsonl", found));
        }
        match files.txnlogs.map(parse_value) {
            Some(Ok(txnlogs)) => record.server_txnlogs = Some(txnlogs),
            Some(Err(found)) => note("txnlogs.json", found),
            None => {}
        }
        if let Some((servers, found)) = files.servers.map(parse_lines) {
            record.servers = Some(servers);
            found.into_iter().for_each(|found| note("servers.jsonl", found));
        }
        if let Some((messages, found)) = files.messages.map(parse_lines) {
            record.messages = Some(messages);
            found.into_iter().for_each(|found| note("messages.jsonl", found));
        }
        let read = |logs: &[Log]| logs.iter().map(|(server, log)| ServerLog::read(server, log)).collect();
        record.logs = files.logs.map(read);
        let scenes = files.scenes.iter().map(|(scene, logs)| (scene.clone(), read(logs)));
        record.scenes = scenes.collect();
        let clients = files.clients.iter();
        let clients = clients.map(|(client, log)| (client.clone(), last_lines(log)));
        record.client_logs = clients.collect();
        if let Some(bytes) = files.provenance {
            match provenance(bytes) {
                Ok(provenance) => record.provenance = Some(provenance),
                Err(found) => damage.push(format!("provenance.json, {found}")),
            }
        }
        for (file, bytes) in [("plan.json", files.plan), ("history.jsonl", files.history)] {
            if bytes.is_none() {
                damage.push(format!("{file} is missing"));
            }
        }
        damage.append(&mut record.damage);
        Self { damage, ..record }
    }
}

/// What recorded a run, from its file.
fn provenance(bytes: &[u8]) -> Result<Provenance, String> {
    let most = Provenance::MOST_BYTES;
    match bytes.len() <= most {
        true => parse_value(bytes).map_err(|found| found.to_string()),
        false => Err(format!("more than {most} bytes, is not read")),
    }
}

/// How many of the last lines of a client's log are kept.
pub const LAST_LINES: usize = 20;

/// How many characters of each of them.
const LINE: usize = 400;

/// The last lines of a log that are not empty; what is not UTF-8 is replaced.
fn last_lines(log: &[u8]) -> Vec<String> {
    let lines = log.rsplit(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let last = lines.filter(|line| !line.is_empty()).take(LAST_LINES);
    let mut last: Vec<String> = last
        .map(|line| String::from_utf8_lossy(line).chars().take(LINE).collect())
        .collect();
    last.reverse();
    last
}

/// The most clients, servers and observers of a plan that are judged, of each.
const NODES: usize = 10_000;

/// The most entries of a plan that each anomaly, znode or fault is held against.
const ENTRIES: usize = 100;

/// Truncates the parts of a plan that would take more time and memory than the plan is long; `damage` gets a sentence
/// for each.
fn bounded(plan: &mut Plan, damage: &mut Vec<String>) {
    let mut cut = |what: &str, count: usize, most: usize| {
        damage.push(format!("plan.json has {count} {what}, and {most} at most are judged"));
    };
    let ClusterPlan {
        clients,
        servers,
        observers,
        ..
    } = &mut plan.cluster;
    for (what, count) in [("clients", clients), ("servers", servers), ("observers", observers)] {
        if *count > NODES {
            cut(what, *count, NODES);
            *count = NODES;
        }
    }
    let workload = &mut plan.workload;
    let faults = workload
        .accepted
        .iter_mut()
        .map(|accepted| ("faults of an accepted anomaly", &mut accepted.faults));
    let lists = faults.chain([("faults", &mut plan.faults), ("contenders", &mut workload.contenders)]);
    for (what, list) in lists {
        if list.len() > ENTRIES {
            cut(what, list.len(), ENTRIES);
            list.truncate(ENTRIES);
        }
    }
    let accepted = &mut workload.accepted;
    if accepted.len() > ENTRIES {
        cut("accepted anomalies", accepted.len(), ENTRIES);
        accepted.truncate(ENTRIES);
    }
    // The events of a window name it by its number.
    let mut known = HashSet::new();
    let planned = plan.windows.len();
    plan.windows.retain(|window| known.insert(window.id));
    if plan.windows.len() < planned {
        damage.push("plan.json has several windows of one number, and the first of each is judged".to_owned());
    }
}
