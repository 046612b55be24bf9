//! The part of a record that its history covers: what lies beyond the history's end is no evidence, for any checker.
//!
//! A history that was cut off, torn, or damaged in a line ends before the run did, while the evidence around it was
//! read later. A reading of the znode tree, a transaction or a server's sample of that later time shows the work of
//! requests that the history lacks, and would make them look like nobody's. So of a history that does not end with the
//! phase `done` three things are left out here: readings of the tree that were complete only after more events than the
//! history has, samples that are later than its last event, and transactions later than all that its answers and the
//! evidence left over name.

use super::transaction_log::named_zxids;
use crate::text::{count, seconds};
use std::collections::BTreeMap;
use zooquake_history::{
    Event, History, Record, ServerLog, ServerTxnLog, Txn,
    evidence::{Reading, ServerSample},
    plan::Plan,
};

/// A record without what lies behind the end of its history.
#[derive(Debug, Clone)]
pub struct RecordView<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// What was recorded, in order.
    pub history: &'a History,
    /// The readings of the znode tree that were complete by the end of the history; `None` if the tree was not read.
    pub readings: Option<&'a [Reading]>,
    /// The transactions up to the last one that the history and the evidence left over name; `None` if no log was read.
    pub txnlog: Option<&'a [Txn]>,
    /// What was read of each server's transaction logs; `None` in records of older versions.
    pub server_txnlogs: Option<&'a [ServerTxnLog]>,
    /// The samples of the servers' states by the last event; `None` if they were not asked.
    pub servers: Option<&'a [ServerSample]>,
    /// The servers' own logs; `None` of a history alone, without a run around it.
    pub logs: Option<&'a [ServerLog]>,
    /// The last lines of each client's log.
    pub client_logs: &'a BTreeMap<String, Vec<String>>,
    /// What is damaged or missing in the record, and what of it lies behind the end of the history, in words.
    pub damage: Vec<String>,
    /// Files that the plan names and that are not there.
    pub missing: &'a [String],
    /// Whether the history reaches the end of the run, its phase `done`.
    pub whole: bool,
    /// How many readings of the znode tree were made, with those behind the end of the history.
    all_readings: usize,
}

impl<'a> RecordView<'a> {
    /// Leaves out what lies behind the end of the history, each with a reason among the damage.
    pub fn new(record: &'a Record) -> Self {
        let events = record.history.events.as_slice();
        let mut view = Self {
            plan: &record.plan,
            history: &record.history,
            readings: record.tree.as_ref().map(|tree| tree.readings.as_slice()),
            txnlog: record.txnlog.as_deref(),
            server_txnlogs: record.server_txnlogs.as_deref(),
            servers: record.servers.as_deref(),
            logs: record.logs.as_deref(),
            client_logs: &record.client_logs,
            damage: record.damage.clone(),
            missing: &record.missing,
            whole: events.iter().any(|event| event.entered() == Some("done")),
            all_readings: record.tree.as_ref().map_or(0, |tree| tree.readings.len()),
        };
        view.readings = view.readings.map(|readings| view.reached(readings));
        if !view.whole {
            view.servers = view.servers.map(|samples| view.sampled(samples));
            view.txnlog = view.txnlog.map(|txns| view.named(txns));
        }
        view
    }

    /// Whether an ensemble of the recorder's own ran, so that the transaction logs were to be read: the record is a
    /// run's folder, and its history has the `confinement` of the containers, which each run records before its
    /// operations. No history of others has it.
    pub fn own(&self) -> bool {
        let confinement = |event: &Event| event.f == "confinement" && event.is_of("run");
        self.logs.is_some() && self.history.events.iter().any(confinement)
    }

    /// Whether a run that reached its end has not left a file that its plan names, which is a reason by itself.
    pub fn lacks(&self, file: &str) -> bool {
        self.whole && self.missing.iter().any(|missing| missing == file)
    }

    /// The readings before and after the last `quiesce`; `None` if not both are there.
    pub fn audit(&self) -> Option<(&'a Reading, &'a Reading)> {
        match self.readings? {
            all @ [.., before, after] if all.len() == self.all_readings => Some((before, after)),
            _ => None,
        }
    }

    /// The readings around the answers to `view` at the end; `None` if not both are there.
    pub fn around_views(&self) -> Option<(&'a Reading, &'a Reading)> {
        match (self.all_readings, self.readings?) {
            (3, [before, after, ..]) | (5, [_, _, before, after, ..]) => Some((before, after)),
            _ => None,
        }
    }

    /// The readings around those of the calm before the last operations; `None` if not both are there.
    pub fn around_calm(&self) -> Option<(&'a Reading, &'a Reading)> {
        match (self.all_readings, self.readings?) {
            (4 | 5, [before, after, ..]) => Some((before, after)),
            _ => None,
        }
    }

    /// The readings that were complete by the end of the history.
    fn reached(&mut self, all: &'a [Reading]) -> &'a [Reading] {
        let events = self.history.events.len();
        let within = |reading: &&Reading| reading.index <= reading.end_index && reading.end_index <= events;
        let kept = all.iter().take_while(within).count();
        if let Some(behind) = all.get(kept) {
            self.damage.push(format!(
                "the history ends after {}, before {} of the znode tree: a reading that was complete after {} is no evidence",
                count(events, "event"),
                count(all.len() - kept, "reading"),
                count(behind.end_index, "event"),
            ));
        }
        &all[..kept]
    }

    /// The samples that are not later than the last event.
    fn sampled(&mut self, all: &'a [ServerSample]) -> &'a [ServerSample] {
        let last = self.history.events.last().map_or(0, |event| event.time);
        let kept = all.iter().take_while(|sample| sample.time <= last).count();
        if kept < all.len() {
            self.damage.push(format!(
                "the history ends at {}: {} of the servers' states are later, and no evidence",
                seconds(last),
                count(all.len() - kept, "sample"),
            ));
        }
        &all[..kept]
    }

    /// The transactions up to the last one that is named.
    fn named(&mut self, all: &'a [Txn]) -> &'a [Txn] {
        let events = self.history.events.iter();
        let answers = events.flat_map(named_zxids);
        let znodes = self.readings.into_iter().flatten().flat_map(|reading| &reading.znodes);
        let standing = znodes.flat_map(|znode| [znode.czxid, znode.mzxid]);
        let samples = self.servers.into_iter().flatten().map(|sample| sample.zxid);
        let last = answers.chain(standing).chain(samples).max().unwrap_or(0);
        let kept = all.iter().take_while(|txn| txn.zxid <= last).count();
        if kept < all.len() {
            self.damage.push(format!(
                "the history ends before the phase `done`, and nothing up to its end names a transaction later than 0x{last:x}: {} of \
                 the logs may be later than its end, and are no evidence",
                count(all.len() - kept, "transaction"),
            ));
        }
        &all[..kept]
    }
}
