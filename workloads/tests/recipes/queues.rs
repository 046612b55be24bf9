//! `queue/fifo` and `queue/claimed`: what becomes of items when replies, connections, sessions and clients are lost.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::queue::{Claimed, Fifo};

use crate::clients::QueueClient;
use zooquake_workloads::recipes::{NOT_HELD, OpError};
use zooquake_workloads::zk::Host;

use crate::bed::{LONG, MOMENT};
use crate::world::World;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::{Net, OUTAGE};

fn bed() -> (World, Net) {
    let world = World::default();
    let net = Net::new(&world);
    (world, net)
}

fn fifo(world: &World, net: &Net) -> Arc<Fifo> {
    let queue = Arc::new(Fifo::new(&world.env(Arc::new(net.clone()))));
    world.pass(MOMENT);
    queue
}

fn claimed(world: &World, net: &Net) -> Arc<Claimed> {
    let queue = Arc::new(Claimed::new(&world.env(Arc::new(net.clone()))));
    world.pass(MOMENT);
    queue
}

fn fill(world: &World, queue: &dyn QueueClient, items: std::ops::Range<i64>) {
    for item in items {
        world.run(queue.enqueue(item, None)).unwrap();
    }
}

fn next(world: &World, queue: &dyn QueueClient) -> Option<i64> {
    world.run(queue.dequeue(None)).unwrap().map(|given| given.item)
}

fn finish(world: &World, queue: &dyn QueueClient, item: i64) -> Result<(), OpError> {
    world.run(queue.acknowledge(item, None))
}

fn left(net: &Net, parent: &str) -> usize {
    net.server().children(parent).unwrap().len()
}

#[test]
fn items_come_in_order_to_whoever_asks() {
    let (world, net) = bed();
    for queues in [
        [fifo(&world, &net) as Arc<dyn QueueClient>, fifo(&world, &net)],
        [claimed(&world, &net) as Arc<dyn QueueClient>, claimed(&world, &net)],
    ] {
        fill(&world, queues[0].as_ref(), 1..5);
        let given: Vec<_> = (0..4).map(|at| next(&world, queues[at % 2].as_ref())).collect();
        assert_eq!(given, [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(next(&world, queues[0].as_ref()), None);
    }
    assert_eq!(world.taking(), [1, 2, 3, 4, 1, 2, 3, 4]);
}

#[test]
fn fifo_does_not_guess_what_became_of_a_delete() {
    let (world, net) = bed();
    let queue = fifo(&world, &net);
    fill(&world, queue.as_ref(), 1..3);
    net.next("delete", Fate::ReplyLost);
    assert!(matches!(world.run(queue.dequeue(None)), Err(OpError::Info(_))));
    assert_eq!(world.taking(), [1], "it is named, so nobody calls it lost");
    world.pass(OUTAGE);
    assert_eq!(next(&world, queue.as_ref()), Some(2));
    net.next("create", Fate::ReplyLost);
    assert!(matches!(world.run(queue.enqueue(3, None)), Err(OpError::Info(_))));
    assert_eq!(left(&net, "/queue"), 1, "it is not enqueued again");
}

#[test]
fn fifo_goes_on_when_another_one_was_faster() {
    let (world, net) = bed();
    let queue = fifo(&world, &net);
    fill(&world, queue.as_ref(), 1..3);
    net.before("delete", Fate::Answered, |server| {
        let first = server.children("/queue").unwrap().into_iter().min().unwrap();
        server.delete(&format!("/queue/{first}"), None).unwrap();
    });
    assert_eq!(next(&world, queue.as_ref()), Some(2));
}

#[test]
fn a_claim_whose_reply_or_request_is_lost_is_known_all_the_same() {
    for (fate, late) in [
        (Fate::ReplyLost, false),
        (Fate::RequestLost, false),
        (Fate::ReplyLost, true),
    ] {
        let (world, net) = bed();
        let queue = claimed(&world, &net);
        fill(&world, queue.as_ref(), 1..3);
        net.server().late = Some(late);
        net.next("multi", fate);
        assert_eq!(next(&world, queue.as_ref()), Some(1), "{fate:?}");
        net.next("delete", fate);
        assert_eq!(finish(&world, queue.as_ref(), 1), Ok(()), "{fate:?}");
        assert_eq!((left(&net, "/queue"), left(&net, "/taken")), (1, 0));
        assert_eq!(queue.holder().znodes(), []);
    }
}

#[test]
fn an_enqueue_whose_reply_is_lost_is_found_again_and_one_that_never_came_is_not_repeated() {
    let (world, net) = bed();
    let queue = claimed(&world, &net);
    net.next("create", Fate::ReplyLost);
    assert!(world.run(queue.enqueue(1, None)).is_ok());
    net.next("create", Fate::RequestLost);
    assert!(matches!(world.run(queue.enqueue(2, None)), Err(OpError::Info(_))));
    assert_eq!(left(&net, "/queue"), 1);
}

#[test]
fn what_a_dead_owner_left_is_taken_back_first_and_only_then() {
    let (world, net) = bed();
    let producer = claimed(&world, &net);
    let dead = claimed(&world, &net);
    let session = net.last_session();
    let other = claimed(&world, &net);
    fill(&world, producer.as_ref(), 1..4);
    assert_eq!(next(&world, dead.as_ref()), Some(1));
    assert_eq!(next(&world, other.as_ref()), Some(2), "its owner lives");
    net.expire(session, LONG);
    world.pass(LONG + MOMENT);
    assert_eq!(next(&world, other.as_ref()), Some(1));
    assert_eq!(finish(&world, other.as_ref(), 2), Ok(()));
    // The one who had it first comes back, and is too late.
    assert_eq!(
        finish(&world, dead.as_ref(), 1),
        Err(OpError::Fail(NOT_HELD.to_string()))
    );
    assert_eq!(finish(&world, other.as_ref(), 1), Ok(()));
    assert_eq!(next(&world, dead.as_ref()), Some(3), "in a session of its own again");
    assert_eq!(left(&net, "/taken"), 1);
}

#[test]
fn an_owner_that_was_given_up_by_the_ensemble_alone_acknowledges_nothing() {
    let (world, net) = bed();
    let (first, session) = (claimed(&world, &net), net.last_session());
    let second = claimed(&world, &net);
    fill(&world, first.as_ref(), 1..2);
    assert_eq!(next(&world, first.as_ref()), Some(1));
    // Its client does not know yet that the session has expired.
    let owner = format!("/owners/0x{session:x}");
    net.server().delete(&owner, None).unwrap();
    assert_eq!(next(&world, second.as_ref()), Some(1));
    assert_eq!(
        finish(&world, first.as_ref(), 1),
        Err(OpError::Fail(NOT_HELD.to_string()))
    );
    assert_eq!(finish(&world, second.as_ref(), 1), Ok(()));
    assert_eq!((left(&net, "/queue"), left(&net, "/taken")), (0, 0));
}

#[test]
fn a_claim_made_too_late_is_delivered_by_the_next_dequeue() {
    let (world, net) = bed();
    let queue = claimed(&world, &net);
    fill(&world, queue.as_ref(), 1..3);
    net.next("multi", Fate::ReplyLost);
    let soon = Some(world.now() + Duration::from_millis(15));
    let ended = world.run(queue.dequeue(soon));
    assert!(matches!(ended, Err(OpError::Info(_))), "{ended:?}");
    let holder = queue.holder().clone();
    world.run(async move { holder.idle().await });
    assert_eq!(queue.holder().znodes().len(), 1, "it names the claim that it has");
    assert_eq!(
        finish(&world, queue.as_ref(), 1),
        Err(OpError::Fail(NOT_HELD.to_string()))
    );
    assert_eq!(next(&world, queue.as_ref()), Some(1));
    assert_eq!(finish(&world, queue.as_ref(), 1), Ok(()));
    assert_eq!(world.taking(), [1, 1], "nothing is named when nobody waits");
}

#[test]
fn a_session_that_ends_during_a_claim_leaves_it_unknown_and_the_item_comes_back() {
    let (world, net) = bed();
    let queue = claimed(&world, &net);
    fill(&world, queue.as_ref(), 1..3);
    let session = net.last_session();
    net.next("multi", Fate::ReplyLost);
    let dequeue = world.start(queue.dequeue(None));
    world.pass(Duration::from_millis(11));
    net.expire(session, MOMENT);
    world.pass(LONG);
    let ended = dequeue.update(Option::take).unwrap();
    assert!(matches!(ended, Err(OpError::Info(_)) | Ok(Some(_))), "{ended:?}");
    if ended.is_err() {
        assert_eq!(next(&world, queue.as_ref()), Some(1));
    }
}
