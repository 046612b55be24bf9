//! A short run of each family in which several clients hold at a time.

use super::Run;
use super::build::{Builder, MS};
use super::families::{invalid, op};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use zooquake_checkers::EventType::{self, Invoke, Ok};
use zooquake_checkers::plan::Capabilities;

/// A semaphore of two leases that three clients hold.
pub fn semaphore() -> Run {
    let mut b = Builder::default();
    for client in 1..4 {
        let (grant, from) = (format!("g{client}"), 100 * client as u64);
        let told = json!({"grant": grant, "path": format!("/semaphore/lease-{client}"), "czxid": 4_294_967_300_i64});
        op(
            &mut b,
            client,
            (from, from + 10),
            "acquire",
            json!({"grant": grant}),
            (Ok, told),
        );
        b.tag("granted");
    }
    for client in 1..4 {
        let (grant, from) = (format!("g{client}"), 400 + 100 * client as u64);
        let asked = json!({"grant": grant, "work_ms": 40});
        let told = match client {
            3 => (EventType::Fail, Value::Null),
            _ => (Ok, json!({"grant": grant})),
        };
        op(&mut b, client, (from, from + 50), "work", asked, told);
        b.tag("worked");
    }
    b.error("not-held");
    let mut run = invalid("semaphore", "counted", "over-capacity", b);
    run.record.plan.workload.capabilities = Some(Capabilities {
        capacity: NonZeroUsize::new(2).expect("it is not 0"),
        ..Capabilities::NONE
    });
    run
}

/// A reader that is granted beside a writer; both confirm.
pub fn rwlock() -> Run {
    let mut b = Builder::default();
    let granted =
        |grant: &str, path: &str| json!({"grant": grant, "path": path, "czxid": 7, "session": "0x1", "token": 7});
    let grant = |name: &str| json!({ "grant": name });
    op(
        &mut b,
        1,
        (10, 20),
        "acquire",
        grant("g1"),
        (Ok, granted("g1", "/rwlock/a-write-0")),
    );
    b.tag("writer");
    let asks = json!({"grant": "g2", "mode": "shared"});
    op(
        &mut b,
        2,
        (30, 120),
        "acquire",
        asks,
        (Ok, granted("g2", "/rwlock/b-read-1")),
    );
    b.tag("reader");
    for (client, name, tag) in [(1, "g1", "writer-holds"), (2, "g2", "reader-holds")] {
        b.lane(130 * MS, client, Invoke, "confirm", json!({}));
        let holds = json!({"holds": true, "grant": name, "zxid": 9});
        b.lane(140 * MS, client, Ok, "confirm", holds).tag(tag);
    }
    let work = |grant: &str| json!({"grant": grant, "work_ms": 300});
    let wrote = json!({"grant": "g1", "value": 31, "token": 7, "accepted": true});
    let asks = json!({"grant": "g1", "value": 31, "work_ms": 300});
    op(&mut b, 1, (150, 450), "write", asks, (Ok, wrote));
    b.tag("wrote");
    op(
        &mut b,
        2,
        (160, 465),
        "read",
        work("g2"),
        (Ok, json!({"grant": "g2", "value": 31})),
    );
    b.tag("read");
    op(&mut b, 2, (470, 480), "release", grant("g2"), (Ok, grant("g2")));
    op(&mut b, 1, (490, 500), "release", grant("g1"), (Ok, grant("g1")));
    invalid("rwlock", "neighbour", "double-grant", b)
}
