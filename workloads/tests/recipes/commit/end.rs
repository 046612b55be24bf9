//! What comes of a run: its history and its verdict.

use std::collections::BTreeSet;

use zooquake_checkers::evidence::{Reading, Znode};
use zooquake_checkers::plan::Workload;
use zooquake_checkers::{Event, EventType, History, Record, Results, Tree, check};
use zooquake_workloads::recipes::commit::{decision_path, path};

use super::bed::Bed;

impl Bed {
    /// The verdict's input: what was recorded, and the tree.
    pub(super) fn end(&self, transactions: usize) -> End {
        let history = History { events: self.events() };
        let znode = |path: String| {
            let (data, stat) = self.net.server().get(&path).ok()?;
            Some(Znode {
                path,
                czxid: stat.czxid,
                mzxid: stat.mzxid,
                data: String::from_utf8(data).unwrap(),
                ..Znode::default()
            })
        };
        let names = (1..=transactions).map(|number| format!("t{number}"));
        let znodes = names
            .flat_map(|tx| [znode(path(&tx)), znode(decision_path(&tx))])
            .flatten()
            .collect();
        let reading = Reading {
            index: history.events.len(),
            end_index: history.events.len(),
            znodes,
        };
        let mut record = Record {
            history,
            tree: Some(Tree {
                readings: vec![reading.clone(), reading],
            }),
            ..Record::default()
        };
        record.plan.workload = Workload {
            family: "commit".to_string(),
            ..Workload::default()
        };
        let results = check(&record);
        End { record, results }
    }
}

/// What came of it all.
#[derive(Debug)]
pub struct End {
    pub record: Record,
    pub results: Results,
}

impl End {
    /// The anomalies.
    pub fn kinds(&self) -> Vec<&str> {
        self.results
            .anomalies
            .iter()
            .map(|anomaly| anomaly.kind.as_str())
            .collect()
    }

    fn told(&self, f: &str) -> Vec<String> {
        let told = self
            .record
            .history
            .events
            .iter()
            .filter(|event| event.f == f && event.kind == EventType::Ok);
        let told: BTreeSet<String> = told
            .map(|event| format!("{} {}", event.tx().unwrap(), event.decision().unwrap()))
            .collect();
        told.into_iter().collect()
    }

    /// What sites reported, each once.
    pub fn decided(&self) -> Vec<String> {
        self.told("decided")
    }

    /// What the coordinator answered, each once.
    pub fn answered(&self) -> Vec<String> {
        self.told("decide")
    }

    /// Where an operation of a client was first answered with ok.
    pub fn first(&self, f: &str, node: &str) -> Option<usize> {
        let ok = |event: &&Event| event.f == f && event.kind == EventType::Ok && event.node.as_deref() == Some(node);
        self.record.history.events.iter().find(ok).map(|event| event.index)
    }
}
