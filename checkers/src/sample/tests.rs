//! Samples of made-up runs whose measures can be counted by hand.

use super::*;
use serde_json::{Value, json};
use zooquake_history::{
    Event, EventType, History, Process,
    plan::{ClusterPlan, Plan, Timing, Window, Workload},
};

const MS: u64 = 1_000_000;

/// Writes a history.
#[derive(Default)]
struct Script {
    events: Vec<Event>,
}

impl Script {
    fn event(&mut self, ms: u64, process: Process, kind: EventType, (f, value): (&str, Value), node: Option<&str>) {
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
        let node = format!("c{number}");
        self.event(ms, Process::Number(number as u64), kind, (f, value), Some(&node));
    }

    fn control(&mut self, ms: u64, number: usize, kind: EventType, f: &str, value: Value) {
        let node = format!("c{number}");
        self.event(ms, Process::Name(node.clone().into()), kind, (f, value), Some(&node));
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

use EventType::{Info, Invoke, Ok};

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
