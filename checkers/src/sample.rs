//! What one run contributes to a comparison: how much was done, how fast, by whom, at what cost, and how soon after
//! each fault it went on.

use crate::analysis::Analysis;
use crate::families;
pub use crate::family_checks::{FamilyMeasures, UnitSource};
use crate::results::WindowResult;
use crate::statistics::{Failover, failovers, milliseconds, request_counts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use zooquake_history::plan::Workload;
use zooquake_history::{Record, Txn, Value};

/// Znodes below it are written by the harness, not by a recipe.
const HARNESS: &str = "/zooquake";

/// The measures of one run. What a unit is, and what is waited for: [`measures`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    pub window: usize,
    /// Its kind.
    pub fault: String,
    /// Milliseconds; `None` if nothing was done after it.
    pub ms: Option<f64>,
    /// The time until the next unit in session timeouts.
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
    let clients = record.plan.cluster.client_nodes();
    let mut by_client: BTreeMap<String, u64> = clients.iter().map(|client| (client.to_string(), 0)).collect();
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
mod tests {
    use super::*;
    use EventType::{Info, Invoke, Ok};
    use serde_json::{Value, json};
    use zooquake_history::plan::{ClusterPlan, Plan, Timing, Window, Workload};
    use zooquake_history::{Event, EventType, History, Node, Process};

    const MS: u64 = 1_000_000;

    /// Writes a history.
    #[derive(Default)]
    struct Script {
        events: Vec<Event>,
    }

    impl Script {
        fn event(
            &mut self,
            ms: u64,
            process: Process,
            kind: EventType,
            (f, value): (&str, Value),
            node: Option<&Node>,
        ) {
            self.events.push(Event {
                index: self.events.len(),
                time: ms * MS,
                process,
                kind,
                f: f.into(),
                value: value.into(),
                error: None,
                node: node.map(Into::into),
            });
        }

        fn run(&mut self, ms: u64, phase: &str) {
            let run = Process::Name("run".into());
            self.event(ms, run, EventType::Info, ("phase", json!(phase)), None);
        }

        fn nemesis(&mut self, ms: u64, phase: &str, target: &str) {
            self.event(
                ms,
                Process::Name("nemesis".into()),
                EventType::Info,
                ("kill", json!({ "window": 1, "phase": phase, "target": target })),
                None,
            );
        }

        fn client(&mut self, ms: u64, number: usize, kind: EventType, f: &str, value: Value) {
            let client = Node::client(number);
            self.event(ms, Process::Number(number as u64), kind, (f, value), Some(&client));
        }

        fn control(&mut self, ms: u64, number: usize, kind: EventType, f: &str, value: Value) {
            let client = Node::client(number);
            self.event(ms, (&client).into(), kind, (f, value), Some(&client));
        }

        fn record(self, family: &str, variant: &str) -> Record {
            let window = Window {
                id: 1,
                fault: "kill".into(),
                ..serde_json::from_value(json!({
                    "id": 1, "fault": "kill", "target": "client", "trigger": { "at": { "at_ms": 1 } }, "duration_ms": 1
                }))
                .expect("a window")
            };
            Record {
                plan: Plan {
                    workload: Workload {
                        family: family.into(),
                        variant: variant.into(),
                        ..Workload::default()
                    },
                    cluster: ClusterPlan {
                        clients: 2,
                        timing: Timing::default(),
                        ..ClusterPlan::default()
                    },
                    windows: vec![window],
                    ..Plan::default()
                },
                history: History { events: self.events },
                ..Record::default()
            }
        }
    }

    /// Two clients pass a lock on, one is killed while it holds.
    fn lock() -> Record {
        let mut s = Script::default();
        s.control(0, 1, Info, "session", json!({ "session": "0x1", "state": "connected" }));
        s.run(0, "ops");
        s.client(100, 1, Invoke, "acquire", json!({ "grant": "g1" }));
        s.client(110, 1, Ok, "acquire", json!({ "grant": "g1" }));
        s.client(120, 2, Invoke, "acquire", json!({ "grant": "g2" }));
        s.client(500, 1, Invoke, "release", json!({ "grant": "g1" }));
        s.client(507, 2, Ok, "acquire", json!({ "grant": "g2" }));
        s.client(510, 1, Ok, "release", json!({ "grant": "g1" }));
        s.client(520, 1, Invoke, "acquire", json!({ "grant": "g3" }));
        s.nemesis(1000, "begin", "c2");
        s.control(1001, 2, Info, "exit", json!({ "incarnation": 1 }));
        s.nemesis(1002, "on", "c2");
        s.client(3002, 1, Ok, "acquire", json!({ "grant": "g3" }));
        s.nemesis(3500, "off", "c2");
        s.run(4000, "heal");
        s.control(5000, 1, Invoke, "quiesce", json!({}));
        s.control(
            5001,
            1,
            Ok,
            "quiesce",
            json!({ "counts": { "create": 3, "delete": 1, "events": 2 } }),
        );
        s.record("lock", "fenced")
    }

    #[test]
    fn a_lock_is_measured_by_its_grants() {
        let measured = sample(&lock());
        assert_eq!((measured.units, measured.units_in_all, measured.seconds), (3, 3, 4.0));
        assert_eq!(measured.by_client, BTreeMap::from([("c1".into(), 2), ("c2".into(), 1)]));
        assert_eq!(measured.waits_ms, [7.0], "the kill was no release");
        let gap = &measured.gaps[0];
        assert_eq!((gap.window, gap.fault.as_str(), gap.struck), (1, "kill", true));
        assert_eq!((gap.ms, gap.session_timeouts), (Some(2000.0), Some(1.0)));
    }

    #[test]
    fn counts_that_do_not_see_every_write_are_not_shown() {
        let txn = |op: &str, path: &str| Txn {
            session: "0x1".into(),
            op: op.into(),
            paths: vec![path.into()],
            ..Txn::default()
        };
        let mut record = lock();
        record.plan.cluster.clients = 1;
        record
            .history
            .events
            .retain(|event| event.node.as_deref() != Some("c2"));
        record.txnlog = Some(vec![txn("create", "/lock/a"), txn("setData", "/zooquake/scratch/c1")]);
        let measured = sample(&record);
        assert_eq!((measured.requests, measured.watch_events), (Some(4), Some(2)));
        assert_eq!(measured.transactions, Some(1), "what the harness writes is left out");
        record.txnlog = Some(vec![txn("create", "/lock/a"); 5]);
        let measured = sample(&record);
        assert_eq!((measured.requests, measured.transactions), (None, Some(5)));
    }

    #[test]
    fn items_rounds_and_transactions_are_counted_once() {
        let mut s = Script::default();
        s.run(0, "ops");
        s.client(10, 1, Invoke, "enqueue", json!({ "item": 1 }));
        s.client(20, 1, Ok, "enqueue", json!({ "item": 1 }));
        s.client(21, 2, Invoke, "dequeue", json!({}));
        s.client(30, 2, Ok, "dequeue", json!({ "item": 1 }));
        s.client(31, 2, Invoke, "dequeue", json!({}));
        s.client(40, 2, Ok, "dequeue", json!({ "item": 1 }));
        s.client(41, 2, Invoke, "dequeue", json!({}));
        s.client(50, 2, Ok, "dequeue", json!({ "item": null }));
        let measured = sample(&s.record("queue", "fifo"));
        assert_eq!((measured.units, measured.waits_ms), (1, vec![10.0]));

        let mut s = Script::default();
        s.client(10, 1, Invoke, "enter", json!({ "round": 1 }));
        s.client(15, 2, Invoke, "enter", json!({ "round": 1 }));
        s.client(18, 1, Ok, "enter", json!({ "round": 1 }));
        s.client(19, 2, Ok, "enter", json!({ "round": 1 }));
        let measured = sample(&s.record("barrier", "double"));
        assert_eq!((measured.units, measured.waits_ms), (1, vec![3.0, 4.0]));

        let mut s = Script::default();
        s.client(5, 1, Invoke, "begin", json!({ "tx": "t1" }));
        s.client(10, 2, Invoke, "decided", json!({ "tx": "t1" }));
        s.client(18, 2, Ok, "decided", json!({ "tx": "t1", "decision": "commit" }));
        let measured = sample(&s.record("commit", "atomic"));
        assert_eq!((measured.units, measured.waits_ms), (1, vec![13.0]));

        let mut s = Script::default();
        s.client(5, 1, Invoke, "read", json!({}));
        s.client(7, 1, Ok, "read", json!({ "value": 3 }));
        let measured = sample(&s.record("register", "read"));
        assert_eq!((measured.units, measured.waits_ms), (1, vec![2.0]));
    }
}
