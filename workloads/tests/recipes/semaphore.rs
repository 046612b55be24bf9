//! `semaphore/*`: who gets a lease, and when; and what is left of one when replies are lost.

use std::sync::Arc;

use serde_json::json;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::recipes::OpError;
use zooquake_workloads::recipes::grant::Plain;

use crate::clients::GrantClient;
use zooquake_workloads::recipes::semaphore::{counted, leases};
use zooquake_workloads::zk::sim::{Fate, Net, OUTAGE};
use zooquake_workloads::zk::{CreateMode, Host};

use crate::bed::{Bed, LONG, MOMENT};
use crate::driven;
use crate::world::World;

/// The third and the fourth wait; whichever of the holders leaves, the third gets its lease, and the fourth waits on.
#[test]
fn whoever_leaves_the_next_in_the_queue_gets_the_lease() {
    for leaves in 0..2 {
        let bed = Bed::of(leases);
        let clients: Vec<_> = (0..4).map(|_| bed.client()).collect();
        for (holder, name) in clients.iter().zip(["g1", "g2"]) {
            bed.world.run(holder.acquire(name, None)).unwrap();
        }
        let third = bed.world.start(clients[2].acquire("g3", None));
        bed.world.pass(MOMENT);
        let fourth = bed.world.start(clients[3].acquire("g4", None));
        bed.world.pass(LONG);
        assert!(third.with(Option::is_none) && fourth.with(Option::is_none));
        bed.world
            .run(clients[leaves].release(["g1", "g2"][leaves], None))
            .unwrap();
        bed.world.pass(MOMENT);
        assert!(third.with(Option::is_some) && fourth.with(Option::is_none), "{leaves}");
        bed.world
            .run(clients[1 - leaves].release(["g2", "g1"][leaves], None))
            .unwrap();
        bed.world.pass(MOMENT);
        assert!(fourth.with(Option::is_some), "{leaves}");
    }
}

#[test]
fn one_that_leaves_just_before_the_list_is_read_is_not_waited_for() {
    let bed = Bed::of(leases);
    let clients = [bed.client(), bed.client(), bed.client()];
    let grant = bed.world.run(clients[0].acquire("g1", None)).unwrap();
    bed.world.run(clients[1].acquire("g2", None)).unwrap();
    bed.net.before("children", Fate::Answered, move |server| {
        server.delete(&grant.path, None).unwrap()
    });
    assert!(bed.world.run(clients[2].acquire("g3", None)).is_ok());
}

#[test]
fn a_lost_reply_of_a_create_leaks_no_lease() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = Bed::of(leases);
        let client = bed.client();
        bed.net.next("create", fate);
        bed.world.run(client.acquire("g1", None)).unwrap();
        assert_eq!(bed.net.locks().len(), 1, "{fate:?}");
        bed.net.next("delete", fate);
        bed.world.run(client.release("g1", None)).unwrap();
        bed.assert_clean(&[&client]);
    }
}

#[test]
fn a_watch_that_is_lost_with_the_connection_is_made_up_for() {
    let bed = Bed::of(leases);
    let clients = [bed.client(), bed.client(), bed.client()];
    let waiter = bed.net.last_session();
    bed.world.run(clients[0].acquire("g1", None)).unwrap();
    bed.world.run(clients[1].acquire("g2", None)).unwrap();
    let waiting = bed.world.start(clients[2].acquire("g3", None));
    bed.world.pass(MOMENT);
    bed.net.lose(waiter, MOMENT);
    bed.world.run(clients[0].release("g1", None)).unwrap();
    bed.world.pass(LONG);
    assert!(waiting.with(Option::is_some));
}

#[test]
fn a_hold_ends_with_its_session() {
    let bed = Bed::of(leases);
    let (holder, other) = (bed.client(), bed.client());
    let grant = bed.world.run(holder.acquire("g1", None)).unwrap();
    bed.world.run(other.acquire("g2", None)).unwrap();
    bed.net.expire(grant.session, LONG);
    bed.world.pass(LONG + MOMENT);
    assert!(holder.holder().held().is_none() && other.holder().held().is_some());
    assert_eq!(bed.world.lost(), ["g1"]);
}

#[test]
fn a_timed_attempt_leaves_no_lease() {
    let bed = Bed::of(leases);
    let clients = [bed.client(), bed.client(), bed.client()];
    bed.world.run(clients[0].acquire("g1", None)).unwrap();
    bed.world.run(clients[1].acquire("g2", None)).unwrap();
    let by = Some(bed.world.now() + LONG);
    let ended = bed.world.run(clients[2].acquire("g3", by)).unwrap_err();
    assert!(matches!(ended, OpError::Fail(_)), "{ended:?}");
    assert_eq!(bed.net.locks().len(), 2);
}

fn counting(world: &World, net: &Net) -> Plain {
    let client = counted(&world.env(Arc::new(net.clone())));
    world.pass(MOMENT);
    client
}

#[test]
fn two_that_count_at_once_both_take_the_last_lease() {
    let world = World::default();
    let net = Net::new(&world);
    let clients = [counting(&world, &net), counting(&world, &net), counting(&world, &net)];
    world.run(clients[0].acquire("g1", None)).unwrap();
    // One takes it between the other's count and its create.
    net.before("create", Fate::Answered, |server| {
        let lease = "/semaphore/lease-";
        server
            .create(0x999, lease, b"", CreateMode::EphemeralSequential)
            .unwrap();
    });
    world.run(clients[1].acquire("g2", None)).unwrap();
    assert_eq!(net.locks().len(), 3);
    let waiting = world.start(clients[2].acquire("g3", None));
    world.run(clients[0].release("g1", None)).unwrap();
    world.pass(LONG);
    assert!(waiting.with(Option::is_none), "two are taken");
    world.run(clients[1].release("g2", None)).unwrap();
    world.pass(MOMENT);
    assert!(waiting.with(Option::is_some));
}

#[test]
fn one_that_counts_loses_a_lease_with_a_reply() {
    let world = World::default();
    let net = Net::new(&world);
    let client = counting(&world, &net);
    net.next("create", Fate::ReplyLost);
    let ended = world.run(client.acquire("g1", None)).unwrap_err();
    assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
    world.pass(OUTAGE);
    assert_eq!((client.holder().znodes().len(), net.locks().len()), (0, 1));
    assert!(world.run(client.acquire("g2", None)).is_ok(), "one is left");
}

#[test]
fn a_holder_works_and_confirms_and_says_when_it_holds_no_more() {
    for variant in ["leases", "counted"] {
        let bed = driven::Bed::new();
        let mut client = bed.of("c1", "semaphore", variant);
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
        let (outcome, _, error) = client.ask("work", json!({ "grant": "g1", "work_ms": 0 }));
        assert_eq!(
            (outcome, error.as_deref()),
            (Outcome::Fail, Some("not-held")),
            "{variant}"
        );
        let (outcome, _, error) = client.ask("write", json!({ "grant": "g1", "value": 1 }));
        let refused = error.is_some_and(|why| why.starts_with("no operation `write`"));
        assert!(outcome == Outcome::Fail && refused);
    }
}
