//! The tutorials' elections work without faults and keep their faults with them; `election/acknowledged` leads only once
//! its acknowledgement exists.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::election::{ACKS, acknowledged, ephemeral, sequential, ticket};
use zooquake_workloads::recipes::grant::Plain;

use crate::clients::GrantClient;
use zooquake_workloads::recipes::{Env, OpError};
use zooquake_workloads::zk::Host;

use crate::bed::{Bed, LONG, MOMENT};
use crate::tutorials::hand_over;
use crate::world::World;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::{Net, OUTAGE};

const TUTORIALS: [fn(&Env) -> Plain; 3] = [ticket, ephemeral, sequential];

fn bed() -> (World, Net) {
    let world = World::default();
    let net = Net::new(&world);
    (world, net)
}

fn candidate(world: &World, net: &Net, build: fn(&Env) -> Plain) -> Plain {
    let client = build(&world.env(Arc::new(net.clone())));
    world.pass(MOMENT);
    client
}

#[test]
fn without_faults_they_hand_over() {
    for build in TUTORIALS {
        let (world, net) = bed();
        hand_over(&world, &candidate(&world, &net, build), &candidate(&world, &net, build));
    }
}

#[test]
fn a_lost_reply_leaves_an_orphan_that_nobody_gets_past() {
    for build in TUTORIALS {
        let (world, net) = bed();
        let (first, second) = (candidate(&world, &net, build), candidate(&world, &net, build));
        net.next("create", Fate::ReplyLost);
        let ended = world.run(first.acquire("g1", None)).unwrap_err();
        assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
        assert_eq!((first.holder().znodes().len(), net.locks().len()), (0, 1));
        world.pass(OUTAGE);
        let waiting = world.start(first.acquire("g2", None));
        let other = world.start(second.acquire("g3", None));
        world.pass(LONG);
        assert!(waiting.with(Option::is_none) && other.with(Option::is_none));
    }
}

#[test]
fn a_wait_ends_with_its_session() {
    for build in TUTORIALS {
        let (world, net) = bed();
        let (leader, client) = (candidate(&world, &net, build), candidate(&world, &net, build));
        world.run(leader.acquire("g1", None)).unwrap();
        let waiting = world.start(client.acquire("g2", None));
        world.pass(MOMENT);
        net.expire(net.last_session(), LONG);
        world.pass(LONG + MOMENT);
        assert!(matches!(waiting.update(Option::take), Some(Err(OpError::Info(_)))));
        world.run(leader.release("g1", None)).unwrap();
        assert!(world.run(client.acquire("g3", None)).is_ok());
    }
}

#[test]
fn sequential_looks_again_when_a_middle_candidate_goes() {
    let (world, net) = bed();
    let clients: Vec<Plain> = (0..3).map(|_| candidate(&world, &net, sequential)).collect();
    world.run(clients[0].acquire("g1", None)).unwrap();
    let middle = world.start(clients[1].acquire("g2", Some(LONG)));
    world.pass(MOMENT);
    let session = net.last_session() - 1;
    let last = world.start(clients[2].acquire("g3", None));
    world.pass(MOMENT);
    net.expire(session, MOMENT);
    world.pass(MOMENT + MOMENT);
    assert!(middle.with(Option::is_some) && last.with(Option::is_none));
    world.run(clients[0].release("g1", None)).unwrap();
    world.pass(MOMENT);
    assert!(last.update(Option::take).unwrap().is_ok());
}

#[test]
fn an_acknowledgement_stands_while_its_leader_does() {
    let bed = Bed::of(acknowledged);
    let (first, second) = (bed.client(), bed.client());
    let grant = bed.world.run(first.acquire("g1", None)).unwrap();
    let ack = grant.ack.clone().unwrap();
    assert!(ack.path.starts_with(ACKS) && ack.czxid > grant.czxid);
    assert_eq!(
        bed.net.server().exists(&ack.path).map(|stat| Some(stat.czxid)),
        Some(ack.czxid)
    );
    assert_eq!(first.holder().znodes().len(), 2, "it names both of its znodes");
    let waiting = bed.world.start(second.acquire("g2", None));
    bed.world.pass(MOMENT);
    assert_eq!(bed.net.server().children(ACKS).unwrap().len(), 1, "who waits has none");
    let released = bed.world.run(first.release("g1", None)).unwrap();
    assert_eq!(released.removed, Some((grant.path, grant.czxid)));
    bed.world.pass(MOMENT);
    assert!(waiting.update(Option::take).unwrap().is_ok());
    assert_eq!(bed.net.server().children(ACKS).unwrap().len(), 1);
    bed.world.run(second.release("g2", None)).unwrap();
    bed.assert_clean(&[&first, &second]);
}

#[test]
fn an_acknowledgement_whose_outcome_is_unknown_is_found_again() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = Bed::of(acknowledged);
        let client = bed.client();
        let net = bed.net.clone();
        bed.net.next("create", Fate::Answered);
        bed.net.next("create", fate);
        let grant = bed.world.run(client.acquire("g1", None)).unwrap();
        assert_eq!(net.server().children(ACKS).unwrap().len(), 1, "{fate:?}");
        assert!(grant.ack.is_some());
        drop(bed.world.run(client.release("g1", None)));
        bed.assert_clean(&[&client]);
    }
}

#[test]
fn an_acknowledgement_goes_with_a_lost_or_late_attempt() {
    for millis in 0..20 {
        let bed = Bed::of(acknowledged);
        let client = bed.client();
        let session = bed.net.last_session();
        let deadline = bed.world.now() + Duration::from_millis(millis);
        let attempt = bed.world.start(client.acquire("g1", Some(deadline)));
        bed.world.pass(Duration::from_millis(millis / 2));
        bed.net.lose(session, OUTAGE);
        bed.world.pass(LONG);
        if attempt.update(Option::take).unwrap().is_ok() {
            drop(bed.world.run(client.release("g1", None)));
        }
        bed.assert_clean(&[&client]);
    }
}
