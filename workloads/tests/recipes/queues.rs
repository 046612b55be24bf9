//! `queue/fifo` and `queue/claimed`: what becomes of items when replies, connections, sessions and clients are lost.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::queue::{ClaimedQueue, Fifo, Queue, ZnodeName};
use zooquake_workloads::recipes::{Env, HolderState, NOT_HELD, OpError};
use zooquake_workloads::zk::sim::{Fate, Net, OUTAGE};
use zooquake_workloads::zk::{Host, SharedValue};

use crate::bed::{LONG, MOMENT};
use crate::world::RecipeWorld;

/// A client of a queue, whose operations the machine runs.
struct QueueClient {
    world: RecipeWorld,
    queue: Arc<dyn Queue>,
}

type TakenItem = Result<Option<i64>, OpError>;

fn bed() -> (RecipeWorld, Net) {
    let world = RecipeWorld::default();
    let net = Net::new(&world);
    (world, net)
}

fn client<T: Queue + 'static>(world: &RecipeWorld, net: &Net, build: fn(&Env) -> T) -> QueueClient {
    let queue = Arc::new(build(&world.env(Arc::new(net.clone()))));
    world.pass(MOMENT);
    let world = world.clone();
    QueueClient { world, queue }
}

impl QueueClient {
    fn enqueue(&self, item: i64) -> Result<ZnodeName, OpError> {
        let queue = self.queue.clone();
        self.world.run(async move { queue.enqueue(item, None).await })
    }

    fn fill(&self, items: std::ops::Range<i64>) {
        items.for_each(|item| drop(self.enqueue(item).unwrap()));
    }

    fn begin_dequeue(&self, deadline: Option<Duration>) -> SharedValue<Option<TakenItem>> {
        let queue = self.queue.clone();
        let dequeue = async move { Ok(queue.dequeue(deadline).await?.map(|given| given.item)) };
        self.world.start(dequeue)
    }

    fn dequeue(&self, deadline: Option<Duration>) -> TakenItem {
        let taken = self.begin_dequeue(deadline);
        self.world.run(async move { taken.until(Clone::clone).await })
    }

    fn next(&self) -> Option<i64> {
        self.dequeue(None).unwrap()
    }

    fn finish(&self, item: i64) -> Result<(), OpError> {
        let queue = self.queue.clone();
        self.world.run(async move { queue.acknowledge(item, None).await })
    }

    fn holder(&self) -> &HolderState {
        self.queue.holder()
    }
}

fn left(net: &Net, parent: &str) -> usize {
    net.server().children(parent).unwrap().len()
}

#[test]
fn items_come_in_order_to_whoever_asks() {
    let (world, net) = bed();
    for queues in [
        [client(&world, &net, Fifo::new), client(&world, &net, Fifo::new)],
        [
            client(&world, &net, ClaimedQueue::new),
            client(&world, &net, ClaimedQueue::new),
        ],
    ] {
        queues[0].fill(1..5);
        let given: Vec<_> = (0..4).map(|at| queues[at % 2].next()).collect();
        assert_eq!(given, [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(queues[0].next(), None);
    }
    assert_eq!(world.taking(), [1, 2, 3, 4, 1, 2, 3, 4]);
}

#[test]
fn fifo_does_not_guess_what_became_of_a_delete() {
    let (world, net) = bed();
    let queue = client(&world, &net, Fifo::new);
    queue.fill(1..3);
    net.next("delete", Fate::ReplyLost);
    assert!(matches!(queue.dequeue(None), Err(OpError::Info(_))));
    assert_eq!(world.taking(), [1], "it is named, so nobody calls it lost");
    world.pass(OUTAGE);
    assert_eq!(queue.next(), Some(2));
    net.next("create", Fate::ReplyLost);
    assert!(matches!(queue.enqueue(3), Err(OpError::Info(_))));
    assert_eq!(left(&net, "/queue"), 1, "it is not enqueued again");
}

#[test]
fn fifo_goes_on_when_another_one_was_faster() {
    let (world, net) = bed();
    let queue = client(&world, &net, Fifo::new);
    queue.fill(1..3);
    net.before("delete", Fate::Answered, |server| {
        let first = server.children("/queue").unwrap().into_iter().min().unwrap();
        server.delete(&format!("/queue/{first}"), None).unwrap();
    });
    assert_eq!(queue.next(), Some(2));
}

#[test]
fn a_claim_whose_reply_or_request_is_lost_is_known_all_the_same() {
    for (fate, late) in [
        (Fate::ReplyLost, false),
        (Fate::RequestLost, false),
        (Fate::ReplyLost, true),
    ] {
        let (world, net) = bed();
        let queue = client(&world, &net, ClaimedQueue::new);
        queue.fill(1..3);
        net.server().late = Some(late);
        net.next("multi", fate);
        assert_eq!(queue.next(), Some(1), "{fate:?}");
        net.next("delete", fate);
        assert_eq!(queue.finish(1), Ok(()), "{fate:?}");
        assert_eq!((left(&net, "/queue"), left(&net, "/taken")), (1, 0));
        assert_eq!(queue.holder().znodes(), []);
    }
}

#[test]
fn an_enqueue_whose_reply_is_lost_is_found_again_and_one_that_never_came_is_not_repeated() {
    let (world, net) = bed();
    let queue = client(&world, &net, ClaimedQueue::new);
    net.next("create", Fate::ReplyLost);
    assert!(queue.enqueue(1).is_ok());
    net.next("create", Fate::RequestLost);
    assert!(matches!(queue.enqueue(2), Err(OpError::Info(_))));
    assert_eq!(left(&net, "/queue"), 1);
}

#[test]
fn what_a_dead_owner_left_is_taken_back_first_and_only_then() {
    let (world, net) = bed();
    let producer = client(&world, &net, ClaimedQueue::new);
    let dead = client(&world, &net, ClaimedQueue::new);
    let session = net.last_session();
    let other = client(&world, &net, ClaimedQueue::new);
    producer.fill(1..4);
    assert_eq!(dead.next(), Some(1));
    assert_eq!(other.next(), Some(2), "its owner lives");
    net.expire(session, LONG);
    world.pass(LONG + MOMENT);
    assert_eq!(other.next(), Some(1));
    assert_eq!(other.finish(2), Ok(()));
    // The one who had it first comes back, and is too late.
    assert_eq!(dead.finish(1), Err(OpError::Fail(NOT_HELD.to_string())));
    assert_eq!(other.finish(1), Ok(()));
    assert_eq!(dead.next(), Some(3), "in a session of its own again");
    assert_eq!(left(&net, "/taken"), 1);
}

#[test]
fn an_owner_that_was_given_up_by_the_ensemble_alone_acknowledges_nothing() {
    let (world, net) = bed();
    let (first, session) = (client(&world, &net, ClaimedQueue::new), net.last_session());
    let second = client(&world, &net, ClaimedQueue::new);
    first.fill(1..2);
    assert_eq!(first.next(), Some(1));
    // Its client has not learned yet that the session has expired.
    let owner = format!("/owners/0x{session:x}");
    net.server().delete(&owner, None).unwrap();
    assert_eq!(second.next(), Some(1));
    assert_eq!(first.finish(1), Err(OpError::Fail(NOT_HELD.to_string())));
    assert_eq!(second.finish(1), Ok(()));
    assert_eq!((left(&net, "/queue"), left(&net, "/taken")), (0, 0));
}

#[test]
fn a_claim_made_too_late_is_delivered_by_the_next_dequeue() {
    let (world, net) = bed();
    let queue = client(&world, &net, ClaimedQueue::new);
    queue.fill(1..3);
    net.next("multi", Fate::ReplyLost);
    let ended = queue.dequeue(Some(world.now() + Duration::from_millis(15)));
    assert!(matches!(ended, Err(OpError::Info(_))), "{ended:?}");
    let holder = queue.holder().clone();
    world.run(async move { holder.idle().await });
    assert_eq!(queue.holder().znodes().len(), 1, "it names the claim that it has");
    assert_eq!(queue.finish(1), Err(OpError::Fail(NOT_HELD.to_string())));
    assert_eq!(queue.next(), Some(1));
    assert_eq!(queue.finish(1), Ok(()));
    assert_eq!(world.taking(), [1, 1], "nothing is named when nobody waits");
}

#[test]
fn a_session_that_ends_during_a_claim_leaves_it_unknown_and_the_item_comes_back() {
    let (world, net) = bed();
    let queue = client(&world, &net, ClaimedQueue::new);
    queue.fill(1..3);
    let session = net.last_session();
    net.next("multi", Fate::ReplyLost);
    let dequeue = queue.begin_dequeue(None);
    world.pass(Duration::from_millis(11));
    net.expire(session, MOMENT);
    world.pass(LONG);
    let ended = dequeue.with(Clone::clone).unwrap();
    assert!(matches!(ended, Err(OpError::Info(_)) | Ok(Some(_))), "{ended:?}");
    if ended.is_err() {
        assert_eq!(queue.next(), Some(1));
    }
}
