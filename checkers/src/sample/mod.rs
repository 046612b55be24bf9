//! What one run contributes to a comparison: how much was done, how fast, by whom, at what cost, and how soon after
//! each fault it went on.

pub(crate) mod family_measures;

use crate::analysis::Analysis;
use crate::families;
use crate::results::WindowResult;
use crate::statistics::{Failover, failovers, milliseconds, request_counts};
pub use family_measures::FamilyMeasures;
use family_measures::UnitSource;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use zooquake_history::{Record, Txn, Value, plan::Workload};

/// Znodes below it are written by the harness, not by a recipe.
const HARNESS: &str = "/zooquake";

/// The measures of one run. What a unit is, and what is waited for: [`measures`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds of the phase `ops`.
    pub seconds: f64,
    /// Units done in it.
    pub units: u64,
    /// Units done in the whole run, which the costs below are for.
    pub units_in_all: u64,
    /// Units of each client in the phase `ops`; of all clients of the plan.
    pub by_client: BTreeMap<String, u64>,
    /// Every wait, in milliseconds, in the order of their ends.
    pub waits_ms: Vec<f64>,
    /// Every fault window that took effect.
    pub gaps: Vec<Gap>,
    /// Requests that the clients counted; `None` if a process took its count with it, or does not count them all.
    pub requests: Option<u64>,
    /// Watch events that they counted; `None` likewise.
    pub watch_events: Option<u64>,
    /// Transactions that their sessions asked for (sessions opened and closed among them), but for those of the
    /// harness; `None` if the servers' logs were not read.
    pub transactions: Option<u64>,
}

/// How long after a fault the next unit was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    pub window: usize,
    /// Its kind.
    pub fault: String,
    /// Milliseconds; `None` if nothing was done after it.
    pub ms: Option<f64>,
    /// The same in session timeouts.
    pub session_timeouts: Option<f64>,
    /// Whether it struck the holder or leader, and ended its term.
    pub struck: bool,
}

/// What a workload does, in words and by its operations; `None` where clients do nothing, or nothing judges its family.
pub fn measures(workload: &Workload) -> Option<&'static FamilyMeasures> {
    families::family(&workload.family)?.measures.as_ref()
}

/// Measures a run. One of a workload without [`measures`] has neither units nor waits.
pub fn sample(record: &Record) -> Sample {
    let run = Analysis::new(record);
    let measures = measures(&record.plan.workload);
    let units = measures.map_or_else(Vec::new, |measures| units(&run, measures));
    let (from, to) = run.ops_phase().unwrap_or_default();
    let within: Vec<&MeasuredUnit<'_>> = units.iter().filter(|unit| (from..=to).contains(&unit.at)).collect();
    let mut by_client: BTreeMap<String, u64> = (1..=record.plan.cluster.clients)
        .map(|n| (format!("c{n}"), 0))
        .collect();
    for unit in &within {
        *by_client.entry(unit.node.to_owned()).or_default() += 1;
    }
    let seconds = |at: usize| run.events.get(at).map_or(0.0, |event| event.time as f64 / 1e9);
    let asked = asked(&run);
    let writes = asked
        .as_ref()
        .map(|log| log.iter().filter(|txn| is_write(txn)).count() as u64);
    // A client that counts fewer requests than it wrote does not see them all.
    let counted = request_counts(&run).filter(|(requests, _)| writes.is_none_or(|writes| *requests >= writes));
    let waits = measures.map_or_else(Vec::new, |measures| run.latencies(measures.latency));
    Sample {
        seconds: seconds(to) - seconds(from),
        units: within.len() as u64,
        units_in_all: units.len() as u64,
        by_client,
        waits_ms: waits.into_iter().map(|wait| milliseconds(wait.ns)).collect(),
        gaps: gaps(&run, &units),
        requests: counted.map(|(requests, _)| requests),
        watch_events: counted.map(|(_, events)| events),
        transactions: asked.map(|log| log.len() as u64),
    }
}

/// Something that was done.
#[derive(Debug)]
struct MeasuredUnit<'a> {
    /// The event at which it was known to be.
    at: usize,
    /// The client that did it.
    node: &'a str,
}

/// All that was done, in order.
fn units<'a>(run: &Analysis<'a>, measures: &FamilyMeasures) -> Vec<MeasuredUnit<'a>> {
    let mut units: Vec<MeasuredUnit<'a>> = match measures.source {
        UnitSource::Grants => {
            let unit = |at, node| MeasuredUnit { at, node };
            let all = run.grants.all.iter();
            all.filter_map(|grant| Some(unit(grant.read?, grant.node))).collect()
        }
        UnitSource::Answered(names, field) => run
            .answered(names)
            .filter(|(_, at)| field.is_none_or(|field| run.value(*at, field).is_some()))
            .map(|(op, at)| MeasuredUnit { at, node: op.node })
            .collect(),
    };
    units.sort_by_key(|unit| unit.at);
    if let UnitSource::Answered(_, Some(field)) = measures.source {
        let mut seen: HashSet<&Value> = HashSet::new();
        units.retain(|unit| run.value(unit.at, field).is_some_and(|value| seen.insert(value)));
    }
    units
}

/// The transactions that the clients' sessions asked for, but for those of the harness.
fn asked<'a>(run: &Analysis<'a>) -> Option<Vec<&'a Txn>> {
    let log = run.record.txnlog?;
    let states = run.events.iter().filter(|event| event.f == "session");
    let sessions: HashSet<&str> = states.filter_map(|event| event.session()).collect();
    let harness = |txn: &Txn| txn.changes().any(|change| change.path.starts_with(HARNESS));
    let asked = |txn: &&Txn| sessions.contains(txn.session.as_str()) && !harness(txn);
    Some(log.iter().filter(asked).collect())
}

/// Whether a client asked for it by a request that counts.
fn is_write(txn: &Txn) -> bool {
    matches!(txn.op.as_str(), "create" | "delete" | "setData" | "multi")
}

/// One for each window that took effect. If it struck a holder whose term ended, the time is that of its [`Failover`];
/// otherwise it runs from the moment at which the fault took effect to the next unit, of whichever client.
fn gaps(run: &Analysis<'_>, units: &[MeasuredUnit<'_>]) -> Vec<Gap> {
    let ends: HashMap<usize, Failover<'_>> = failovers(run).into_iter().rev().map(|end| (end.window, end)).collect();
    let session_ms = run.record.plan.cluster.timing.session_ms as f64;
    let gap = |window: &WindowResult| {
        let from = window.from?;
        let end = ends.get(&window.id);
        let next = || {
            let next = units.partition_point(|unit| run.time(unit.at) < from);
            units.get(next).map(|unit| milliseconds(run.time(unit.at) - from))
        };
        let ms = end.map_or_else(next, |end| end.ms);
        Some(Gap {
            window: window.id,
            fault: window.fault.clone(),
            ms,
            session_timeouts: ms.filter(|_| session_ms > 0.0).map(|ms| ms / session_ms),
            struck: end.is_some(),
        })
    };
    run.windows.iter().filter_map(gap).collect()
}

#[cfg(test)]
mod tests;
