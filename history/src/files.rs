//! A record from the files of a run's folder.

use crate::event::Damage;
use crate::jsonl::{parse_jsonl, parse_lines, parse_value};
use crate::{Record, ServerLog};

/// A server's name and its log.
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
    /// `servers.jsonl`.
    pub servers: Option<&'a [u8]>,
    /// The servers' logs in `logs/`, each with the name of its server.
    pub logs: Option<&'a [Log]>,
    /// Of a run of scenes, the servers' logs in `logs/<scene>/`, each with the name of its scene.
    pub scenes: &'a [(String, Vec<Log>)],
}

impl Record {
    /// Reads a record from its files, each up to its first damage, which is named in [`Record::damage`].
    ///
    /// A missing plan or history is damage. Missing evidence (the tree, the transaction logs, what the servers said of
    /// themselves) is not: the verdict itself says what it then could not judge. Nor is a server's log that is cut off, as
    /// no property of a recipe rests on it; it says so itself ([`ServerLog::cuts`]).
    pub fn read(files: Files<'_>) -> Self {
        let mut record = Self::default();
        let mut damage = Vec::new();
        let mut note = |file: &str, found: Damage| damage.push(format!("{file}, {found}"));
        match files.plan.map(parse_value) {
            Some(Ok(plan)) => record.plan = plan,
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
        if let Some((servers, found)) = files.servers.map(parse_lines) {
            record.servers = Some(servers);
            found.into_iter().for_each(|found| note("servers.jsonl", found));
        }
        let read = |logs: &[Log]| logs.iter().map(|(server, log)| ServerLog::read(server, log)).collect();
        record.logs = files.logs.map(read);
        let scenes = files.scenes.iter().map(|(scene, logs)| (scene.clone(), read(logs)));
        record.scenes = scenes.collect();
        for (file, bytes) in [("plan.json", files.plan), ("history.jsonl", files.history)] {
            if bytes.is_none() {
                damage.push(format!("{file} is missing"));
            }
        }
        Self { damage, ..record }
    }
}
