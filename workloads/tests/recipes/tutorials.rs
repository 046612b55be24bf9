//! The tutorials' locks: they work without faults, and keep their faults with them.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::OpError;
use zooquake_workloads::recipes::grant::Plain;

use crate::clients::GrantClient;
use zooquake_workloads::recipes::lock::{self, Predecessor};
use zooquake_workloads::zk::SessionState;

use crate::world::World;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::{Net, OUTAGE};

const MOMENT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3);

fn bed() -> (World, Net) {
    let world = World::default();
    let net = Net::new(&world);
    (world, net)
}

fn predecessor(world: &World, net: &Net) -> Predecessor {
    Predecessor::new(&world.env(Arc::new(net.clone())))
}

fn children(world: &World, net: &Net) -> Plain {
    let client = lock::children(&world.env(Arc::new(net.clone())));
    world.pass(MOMENT);
    client
}

pub fn hand_over(world: &World, first: &dyn GrantClient, second: &dyn GrantClient) {
    let grant = world.run(first.acquire("g1", None)).unwrap();
    let waiting = world.start(second.acquire("g2", None));
    world.pass(MOMENT);
    assert!(waiting.with(Option::is_none));
    let released = world.run(first.release("g1", None)).unwrap();
    assert_eq!(released.removed, Some((grant.path, grant.czxid)));
    world.pass(MOMENT);
    assert!(waiting.update(Option::take).unwrap().unwrap().czxid > grant.czxid);
    assert_eq!(second.holder().held().unwrap().grant.name, "g2");
}

#[test]
fn without_faults_they_hand_over() {
    let (world, net) = bed();
    hand_over(&world, &children(&world, &net), &children(&world, &net));
    let (world, net) = bed();
    hand_over(&world, &predecessor(&world, &net), &predecessor(&world, &net));
}

#[test]
fn a_lost_reply_leaves_an_orphan() {
    let (world, net) = bed();
    let clients: [Box<dyn GrantClient>; 2] = [Box::new(children(&world, &net)), Box::new(predecessor(&world, &net))];
    for (orphans, client) in clients.into_iter().enumerate() {
        net.next("create", Fate::ReplyLost);
        let ended = world.run(client.acquire("g1", None)).unwrap_err();
        assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
        assert_eq!(client.holder().znodes(), [], "it has lost track of it");
        assert_eq!(net.locks().len(), orphans + 1);
        world.pass(OUTAGE);
    }
}

#[test]
fn predecessor_lists_again_when_the_read_fails_and_the_znode_is_gone() {
    let (world, net) = bed();
    let (holder, client) = (predecessor(&world, &net), predecessor(&world, &net));
    let grant = world.run(holder.acquire("g1", None)).unwrap();
    net.before("get", Fate::Answered, move |server| {
        server.delete(&grant.path, None).unwrap()
    });
    assert!(world.run(client.acquire("g2", None)).is_ok());
}

#[test]
fn predecessor_gives_up_when_the_read_fails_and_the_znode_is_there() {
    let (world, net) = bed();
    let (holder, client) = (predecessor(&world, &net), predecessor(&world, &net));
    world.run(holder.acquire("g1", None)).unwrap();
    net.next("get", Fate::ReplyLost);
    let ended = world.run(client.acquire("g2", None)).unwrap_err();
    assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
    assert_eq!(net.locks().len(), 2, "its session stays open, and its znode with it");
}

#[test]
fn predecessor_never_ends_once_a_callback_fails() {
    let (world, net) = bed();
    let (holder, client) = (predecessor(&world, &net), predecessor(&world, &net));
    world.run(holder.acquire("g1", None)).unwrap();
    let waiting = world.start(client.acquire("g2", None));
    world.pass(MOMENT);
    net.next("children", Fate::ReplyLost);
    world.run(holder.release("g1", None)).unwrap();
    world.pass(LONG);
    assert!(waiting.with(Option::is_none));
    assert_eq!(net.locks().len(), 1, "nobody holds, and nobody ever will");
}

#[test]
fn predecessor_hears_nothing_of_its_sessions_end() {
    let (world, net) = bed();
    let client = predecessor(&world, &net);
    world.run(client.acquire("g1", None)).unwrap();
    net.expire(net.last_session(), LONG);
    world.pass(LONG + MOMENT);
    assert!(client.holder().work("g1").is_some(), "it believes");
    assert!(world.lost().is_empty());
    let session = client.session();
    assert_eq!(
        world.run(session).zk.state(),
        SessionState::Expired,
        "and confirms in the session of its attempt"
    );
    let released = world.run(client.release("g1", None)).unwrap();
    assert_eq!(released.removed, None);
    assert!(
        world.run(client.acquire("g2", None)).is_ok(),
        "each attempt has a session of its own"
    );
}

#[test]
fn children_ends_its_wait_with_its_session_and_opens_another_one() {
    let (world, net) = bed();
    let (holder, client) = (children(&world, &net), children(&world, &net));
    world.run(holder.acquire("g1", None)).unwrap();
    let waiting = world.start(client.acquire("g2", None));
    world.pass(MOMENT);
    net.expire(net.last_session(), LONG);
    world.pass(LONG + MOMENT);
    assert!(matches!(waiting.update(Option::take), Some(Err(OpError::Info(_)))));
    world.run(holder.release("g1", None)).unwrap();
    assert!(world.run(client.acquire("g3", None)).is_ok());
}

#[test]
fn they_know_no_deadlines() {
    let (world, net) = bed();
    let (holder, client) = (children(&world, &net), children(&world, &net));
    world.run(holder.acquire("g1", None)).unwrap();
    let ended = world.run(client.acquire("g2", Some(LONG))).unwrap_err();
    assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
    assert_eq!(net.locks().len(), 2);
}
