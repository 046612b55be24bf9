//! A short run of each family, with the events as clients of a real ensemble sent them, and an anomaly made up of some.

use super::Run;
use super::build::{Builder, MS};
use serde_json::{Value, json};
use zooquake_checkers::EventType::{self, Info, Invoke, Ok};
use zooquake_checkers::{Anomaly, Record, Results, Span, Verdict};
use zooquake_reports::Extras;

/// An operation of a client from one moment to another, in milliseconds.
pub fn op(
    b: &mut Builder,
    client: usize,
    (from, until): (u64, u64),
    f: &str,
    value: Value,
    answer: (EventType, Value),
) {
    let process = client as u64 - 1;
    b.op(from * MS, client, process, Invoke, f, value);
    b.op(until * MS, client, process, answer.0, f, answer.1);
}

/// A run whose anomaly is proved by the tagged events.
pub fn invalid(family: &str, variant: &str, kind: &str, b: Builder) -> Run {
    let (history, tags) = b.finish();
    let mut record = Record::default();
    record.plan.workload.family = family.into();
    record.plan.workload.variant = variant.into();
    record.plan.cluster.clients = 3;
    record.plan.cluster.timing.session_ms = 2000;
    record.history = history;
    let anomaly = Anomaly {
        kind: kind.into(),
        property: "what it promises".into(),
        advisory: false,
        accepted: false,
        witness: tags.into_iter().map(|(_, index)| index).collect(),
        span: None,
        why: "because".into(),
    };
    let results = Results {
        verdict: Verdict::Invalid,
        anomalies: vec![anomaly],
        ..Results::default()
    };
    let mut run = Run {
        record,
        results,
        extras: Extras::default(),
    };
    run.spans();
    run
}

/// The reply to an enqueue is lost; the item is given to one consumer, who is told to be wrong, and to another.
pub fn claimed() -> Run {
    let mut b = Builder::default();
    b.phase(10 * MS, "ops");
    op(
        &mut b,
        1,
        (100, 150),
        "enqueue",
        json!({"item": 51}),
        (Ok, json!({"item": 51})),
    );
    op(&mut b, 3, (190, 210), "dequeue", json!({}), (Ok, json!({"item": 51})));
    b.fault(1, "drop-reply", "c1", 200 * MS, 260 * MS);
    b.fault_value("on")["evidence"] = json!({"lost": "reply", "op": "create", "path": "/queue/item-", "xid": 53,
        "session": "0x300000d935c0001", "zxid": 4_294_967_460_u64, "outcome": "applied"})
    .into();
    op(
        &mut b,
        1,
        (180, 201),
        "enqueue",
        json!({"item": 52}),
        (Info, Value::Null),
    );
    b.error("unknown outcome: connection to server has lost").tag("enqueue");
    let taking = json!({"item": 52});
    b.lane(310 * MS, 2, Info, "taking", taking).tag("taking");
    let claim = json!({"item": 52, "path": "/taken/26f8-item-0000000051", "czxid": 4_294_967_470_u64});
    op(&mut b, 2, (300, 330), "dequeue", json!({}), (Ok, claim.clone()));
    b.tag("first");
    op(&mut b, 3, (300, 325), "dequeue", json!({}), (Ok, json!({"item": null})));
    op(&mut b, 3, (400, 430), "dequeue", json!({}), (Ok, claim));
    b.tag("second");
    op(
        &mut b,
        2,
        (900, 920),
        "acknowledge",
        json!({"item": 52}),
        (Ok, json!({"item": 52})),
    );
    b.tag("acknowledged");
    b.phase(2000 * MS, "drained").tag("drained");
    invalid("queue", "claimed", "duplicate-delivery", b)
}

/// Two members wait for a third that is paused; one of them is let in all the same.
pub fn double_barrier() -> Run {
    let mut b = Builder::default();
    b.fault(1, "pause", "c3", 90 * MS, 900 * MS);
    let round = json!({"round": 9, "members": 3});
    let inside = json!({"round": 9, "path": "/barrier/9/c1", "czxid": 4_294_967_300_u64, "session": "0x1"});
    op(&mut b, 1, (100, 500), "enter", round.clone(), (Ok, inside.clone()));
    b.tag("let in");
    op(&mut b, 2, (110, 950), "enter", round.clone(), (Ok, inside.clone()));
    op(&mut b, 3, (920, 950), "enter", round, (Ok, inside));
    let left = json!({"round": 9, "removed": {"path": "/barrier/9/c1", "czxid": 4_294_967_300_u64}});
    op(&mut b, 1, (700, 1200), "leave", json!({"round": 9}), (Ok, left));
    b.tag("left");
    invalid("barrier", "double", "early-release", b)
}

/// The coordinator dies between the votes and the decision; a transaction before it is aborted.
pub fn commit() -> Run {
    let mut b = Builder::default();
    let tx = |name: &str| json!({"tx": name, "sites": ["c2", "c3"], "payload": "x"});
    let vote = |name: &str, vote: &str| json!({"tx": name, "vote": vote, "work_ms": 100});
    let decision = |name: &str, to: &str| json!({"tx": name, "decision": to});
    op(&mut b, 1, (100, 120), "begin", tx("t1"), (Ok, json!({"tx": "t1"})));
    op(
        &mut b,
        2,
        (101, 250),
        "vote",
        vote("t1", "yes"),
        (Ok, json!({"tx": "t1", "voted": "yes"})),
    );
    op(
        &mut b,
        3,
        (101, 240),
        "vote",
        vote("t1", "no"),
        (Ok, json!({"tx": "t1", "voted": "no"})),
    );
    op(&mut b, 1, (260, 280), "decide", tx("t1"), (Ok, decision("t1", "abort")));
    op(
        &mut b,
        2,
        (260, 290),
        "decided",
        json!({"tx": "t1"}),
        (Ok, decision("t1", "abort")),
    );
    op(
        &mut b,
        3,
        (260, 295),
        "decided",
        json!({"tx": "t1"}),
        (Ok, decision("t1", "commit")),
    );
    op(&mut b, 1, (300, 320), "begin", tx("t2"), (Ok, json!({"tx": "t2"})));
    op(
        &mut b,
        2,
        (301, 450),
        "vote",
        vote("t2", "yes"),
        (Ok, json!({"tx": "t2", "voted": "yes"})),
    );
    b.tag("voted");
    b.fault(1, "kill", "c1", 480 * MS, 900 * MS);
    op(&mut b, 1, (460, 481), "decide", tx("t2"), (Info, Value::Null));
    b.error("stream-ended").tag("no decision");
    b.lane(1000 * MS, 2, Info, "exit", json!({"incarnation": 1}));
    b.phase(5000 * MS, "recovered").tag("recovered");
    b.op(5010 * MS, 2, 1, Invoke, "decided", json!({"tx": "t2"}))
        .tag("blocked");
    b.phase(16_000 * MS, "audit");
    let mut run = invalid("commit", "coordinated", "blocked-transaction", b);
    // From the beginning of its transaction to recovery.
    run.results.anomalies[0].span = Some(Span::Between(300 * MS, 5000 * MS));
    // As the checker does: what stays pending after the recovery, and nothing of before.
    run.results.anomalies[0]
        .witness
        .retain(|i| run.record.history.events[*i].time >= 5000 * MS);
    run
}

/// A server that lags answers a read with what was overwritten before.
pub fn register() -> Run {
    let mut b = Builder::default();
    let at = |server: &str, mzxid: u64, mut value: Value| {
        value["mzxid"] = json!(mzxid);
        value["server"] = json!(server);
        value["session"] = json!("0x1");
        value
    };
    b.fault(1, "partition", "n2", 150 * MS, 800 * MS);
    let first = at("n1", 4_294_967_296, json!({"value": null}));
    op(&mut b, 2, (50, 60), "read", json!({}), (Ok, first));
    b.tag("nothing yet");
    let written = at("n1", 4_294_967_300, json!({"value": 17}));
    op(&mut b, 1, (100, 110), "write", json!({"value": 17}), (Ok, written));
    b.tag("written");
    let set = at("n1", 4_294_967_301, json!({"from": 17, "to": 18}));
    op(&mut b, 1, (200, 215), "cas", json!({"from": 17, "to": 18}), (Ok, set));
    b.tag("set");
    op(
        &mut b,
        3,
        (210, 230),
        "cas",
        json!({"from": 3, "to": 19}),
        (EventType::Fail, Value::Null),
    );
    b.error("mismatch").tag("not set");
    let stale = at("n2", 4_294_967_300, json!({"value": 17}));
    op(&mut b, 2, (300, 303), "read", json!({}), (Ok, stale));
    b.tag("stale");
    op(
        &mut b,
        3,
        (400, 410),
        "write",
        json!({"value": 20}),
        (Info, Value::Null),
    );
    b.error("unknown outcome: connection loss").tag("unknown");
    invalid("register", "read", "not-linearizable", b)
}

/// A counter that gives an id twice.
pub fn counter() -> Run {
    let mut b = Builder::default();
    op(
        &mut b,
        1,
        (100, 110),
        "increment",
        json!({}),
        (Ok, json!({"id": 1, "mzxid": 4_294_967_300_i64})),
    );
    b.tag("first");
    op(&mut b, 2, (200, 215), "increment", json!({}), (Ok, json!({"id": 1})));
    b.tag("again");
    op(&mut b, 3, (300, 303), "get", json!({}), (Ok, json!({"value": 1})));
    b.tag("read");
    op(&mut b, 3, (400, 410), "increment", json!({}), (Info, Value::Null));
    b.error("timed out").tag("unknown");
    invalid("counter", "unconditional", "duplicate-id", b)
}
