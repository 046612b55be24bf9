//! `semaphore/*`: who gets a lease, and when.

use serde_json::json;
use std::time::Duration;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::recipes::semaphore::{counted, leases};
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::Fate;

use crate::bed::{GrantTestBed, LONG};
use crate::driven;

/// The third and the fourth wait; whichever of the holders leaves, the third gets its lease, and the fourth waits on.
#[test]
fn whoever_leaves_the_next_in_the_queue_gets_the_lease() {
    for leaves in 0..2 {
        let bed = GrantTestBed::new(leases);
        let clients = bed.clients::<4>();
        clients[0].hold("g0");
        clients[1].hold("g1");
        let (third, fourth) = (clients[2].ask("g2"), clients[3].ask("g3"));
        bed.world.pass(LONG);
        assert!(third.waits() && fourth.waits());
        clients[leaves].hand_over(["g0", "g1"][leaves]);
        assert!(!third.waits() && fourth.waits(), "{leaves}");
        clients[1 - leaves].hand_over(["g1", "g0"][leaves]);
        assert!(!fourth.waits(), "{leaves}");
    }
}

#[test]
fn two_that_count_at_once_both_take_the_last_lease() {
    let bed = GrantTestBed::new(counted);
    let [first, second, third] = bed.clients();
    first.hold("g1");
    // One takes it between the other's count and its create.
    bed.net.before("create", Fate::Answered, |server| {
        let lease = "/semaphore/lease-";
        server
            .create(0x999, lease, b"", CreateMode::EphemeralSequential)
            .unwrap();
    });
    second.hold("g2");
    assert_eq!(bed.net.locks().len(), 3);
    let waiting = third.ask("g3");
    first.hand_over("g1");
    bed.world.pass(LONG);
    assert!(waiting.waits(), "two are taken");
    second.hand_over("g2");
    waiting.granted();
}

#[test]
fn a_holder_works_and_confirms_and_says_when_it_holds_no_more() {
    for variant in ["leases", "counted"] {
        let bed = driven::ClientTestBed::new();
        let mut client = bed.drive("c1", "semaphore", variant);
        let granted = client.ok("acquire", json!({ "grant": "g1" }));
        assert!(granted["czxid"].is_i64() && granted.get("token").is_none(), "{granted}");
        let work = client.send("work", json!({ "grant": "g1", "work_ms": 500 }));
        let confirmed = client.ok("confirm", json!({}));
        assert_eq!((&confirmed["holds"], &confirmed["grant"]), (&json!(true), &json!("g1")));
        assert!(client.reply(work).is_none(), "it works");
        bed.world.pass(LONG);
        let (outcome, value, _) = client.reply(work).expect("it has worked");
        assert_eq!((outcome, value), (Outcome::Ok, json!({ "grant": "g1" })));
        assert_eq!(
            client.ok("release", json!({ "grant": "g1" }))["removed"]["path"],
            granted["path"]
        );
        let error = client.failed("work", json!({ "grant": "g1", "work_ms": 0 }));
        assert_eq!(error, "not-held", "{variant}");
        let error = client.failed("write", json!({ "grant": "g1", "value": 1 }));
        assert!(error.starts_with("no operation `write`"));
    }
}

/// A lease is over when the clock says so, whoever holds it; its holder begins nothing that does not fit.
#[test]
fn a_lease_that_lasts_for_a_time_ends_by_the_clock() {
    let bed = driven::ClientTestBed::new();
    let [mut first, mut second, mut third] = ["c1", "c2", "c3"].map(|name| bed.drive(name, "semaphore", "timed"));
    let grant = |name: &str| json!({ "grant": name });
    let work = |work_ms: u64| json!({ "grant": "g1", "work_ms": work_ms });
    assert_eq!(
        first.ok("acquire", grant("g1")),
        grant("g1"),
        "it rests on no znode and no session"
    );
    second.ok("acquire", grant("g2"));
    assert_eq!(third.failed("acquire", grant("g3")), "no lease is over");
    assert_eq!(first.failed("work", work(1_500)), "too-long");
    assert_eq!(first.ok("confirm", json!({}))["holds"], true, "it holds on");
    first.ok("work", work(0));
    bed.world.pass(Duration::from_millis(1_500));
    assert_eq!(first.failed("work", work(0)), "not-held");
    assert_eq!(first.ok("confirm", json!({}))["holds"], false);
    third.ok("acquire", grant("g4"));
    first.ok("acquire", grant("g5"));
    assert_eq!(second.failed("release", grant("g2")), "not-held");
    assert_eq!(
        second.failed("acquire", grant("g6")),
        "no lease is over",
        "both are taken again"
    );
    third.ok("release", grant("g4"));
    second.ok("acquire", grant("g7"));
}
