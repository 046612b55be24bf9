//! `semaphore/*`: who gets a lease, and when.

use serde_json::json;
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
