//! A record from the files of a run's folder.

use crate::event::Damage;
use crate::jsonl::{parse_jsonl, parse_lines, parse_value};
use crate::plan::{ClusterPlan, Plan, record_files};
use crate::txnlog::former;
use crate::{Provenance, Record, ServerLog, ServerTxnLog};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::fmt::Display;

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
        let mut read = FileReader::default();
        let mut cut = Vec::new();
        let plan: Option<Plan> = read.value("plan.json", files.plan);
        cut.extend(plan.as_ref().and_then(format_damage));
        let mut plan = plan.unwrap_or_else(|| of_format(files.plan));
        bounded(&mut plan, &mut cut);
        let history = read
            .lines("history.jsonl", files.history, parse_jsonl)
            .unwrap_or_default();
        let tree = read.value("tree.json", files.tree);
        let mut txnlog = read.lines("txnlog.jsonl", files.txnlog, parse_lines);
        let mut server_txnlogs: Option<Vec<ServerTxnLog>> = read.value("txnlogs.json", files.txnlogs);
        if let (Some(txns), Some(logs)) = (&mut txnlog, &mut server_txnlogs) {
            former::restate(txns, logs);
        }
        let servers = read.lines("servers.jsonl", files.servers, parse_lines);
        let messages = read.lines("messages.jsonl", files.messages, parse_lines);
        let provenance = files.provenance.map(provenance);
        let provenance = provenance.and_then(|found| read.sound("provenance.json", found));
        let FileReader { mut damage, damaged } = read;
        for (file, bytes) in [("plan.json", files.plan), ("history.jsonl", files.history)] {
            if bytes.is_none() {
                damage.push(format!("{file} is missing"));
            }
        }
        damage.append(&mut cut);
        let logs = |logs: &[Log]| logs.iter().map(|(server, log)| ServerLog::read(server, log)).collect();
        let scenes = files.scenes.iter().map(|(scene, of)| (scene.clone(), logs(of)));
        let clients = files.clients.iter();
        let mut record = Self {
            plan,
            history,
            tree,
            txnlog,
            server_txnlogs,
            servers,
            logs: files.logs.map(logs),
            client_logs: clients.map(|(client, log)| (client.clone(), last_lines(log))).collect(),
            scenes: scenes.collect(),
            messages,
            provenance,
            damage,
            missing: Vec::new(),
        };
        let mut missing = record.files_without_content();
        // What is damaged is there.
        missing.retain(|file| !damaged.contains(&file.as_str()));
        record.missing = missing;
        record
    }
}

/// Reads files, and notes where each is damaged.
#[derive(Default)]
struct FileReader {
    /// What is damaged, in words.
    damage: Vec<String>,
    /// The names of the files that are.
    damaged: Vec<&'static str>,
}

impl FileReader {
    /// The value of a file that is one; `None` if the file is not there, or damaged.
    fn value<T: DeserializeOwned>(&mut self, file: &'static str, bytes: Option<&[u8]>) -> Option<T> {
        self.sound(file, parse_value(bytes?))
    }

    /// What stands in a file of lines before its first damage; `None` if the file is not there.
    fn lines<T>(
        &mut self,
        file: &'static str,
        bytes: Option<&[u8]>,
        parse: fn(&[u8]) -> (T, Option<Damage>),
    ) -> Option<T> {
        let (found, damage) = parse(bytes?);
        self.sound(file, damage.map_or(Ok(()), Err));
        Some(found)
    }

    /// What was read of a file, unless that is damaged.
    fn sound<T>(&mut self, file: &'static str, found: Result<T, impl Display>) -> Option<T> {
        let damage = |why| {
            self.damage.push(format!("{file}, {why}"));
            self.damaged.push(file);
        };
        found.map_err(damage).ok()
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

/// A plan of which nothing but its format could be read: one of a later format may have other entries.
fn of_format(plan: Option<&[u8]>) -> Plan {
    #[derive(Default, Deserialize)]
    struct PlanFormat {
        format: u32,
    }
    let found: Option<PlanFormat> = plan.and_then(|bytes| parse_value(bytes).ok());
    let stated = Plan {
        format: found.unwrap_or_default().format,
        ..Plan::default()
    };
    match stated.unknown_format() {
        Some(_) => stated,
        None => Plan::default(),
    }
}

/// What a plan lacks that its format has.
fn format_damage(plan: &Plan) -> Option<String> {
    match (plan.format, plan.record.as_slice()) {
        (0, _) => return Some("plan.json is of format 0, which no plan has".to_owned()),
        (1, _) => return None,
        (format, []) => {
            return Some(format!(
                "plan.json of format {format} does not name the files of its record"
            ));
        }
        _ => {}
    }
    let strangers = plan.record.iter().filter(|file| !record_files::is_name(file));
    let strangers: Vec<String> = strangers.map(|file| file.chars().take(NAME).collect()).collect();
    let words = |first: &String| match strangers.len() {
        1 => format!("plan.json names the file {first:?}, which no record has"),
        all => format!("plan.json names {all} files that no record has, such as {first:?}"),
    };
    strangers.first().map(words)
}

/// How many characters of the name of a file that no record has are kept.
const NAME: usize = 100;

/// The most files that a plan names.
const NAMED_FILES: usize = 1_000;

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
    if plan.record.len() > NAMED_FILES {
        cut("names of files", plan.record.len(), NAMED_FILES);
        plan.record.truncate(NAMED_FILES);
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
