//! `lock/protected` and `lock/fenced` under single faults.

use std::sync::Arc;
use std::time::Duration;

use zooquake_workloads::recipes::lock::{Lock, Protected};
use zooquake_workloads::recipes::{Ended, NOT_HELD};
use zooquake_workloads::zk::{CreateMode, Host, SessionState};

use crate::server::Fate;
use crate::world::World;
use crate::zk::{Net, OUTAGE};

const MOMENT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3);

struct Bed {
    world: World,
    net: Net,
}

impl Bed {
    fn new() -> Self {
        let world = World::default();
        let net = Net::new(&world);
        Self { world, net }
    }

    /// A client with its session open.
    fn client(&self) -> Arc<Protected> {
        let client = Arc::new(Protected::new(&self.world.env(Arc::new(self.net.clone())), true));
        self.world.pass(MOMENT);
        client
    }

    /// No lock znode is left, and no client is doing anything.
    fn assert_clean(&self, clients: &[&Arc<Protected>]) {
        for client in clients {
            let ledger = client.ledger().clone();
            self.world.run(async move { ledger.idle().await });
            assert_eq!(client.ledger().znodes(), []);
        }
        assert_eq!(self.net.locks(), Vec::<String>::new());
    }
}

#[test]
fn a_lock_is_handed_over_in_order() {
    let bed = Bed::new();
    let clients = [bed.client(), bed.client(), bed.client()];
    let first = bed.world.run(clients[0].acquire("g1", None)).unwrap();
    let second = bed.world.start(clients[1].acquire("g2", None));
    bed.world.pass(MOMENT);
    let third = bed.world.start(clients[2].acquire("g3", None));
    bed.world.pass(MOMENT);
    assert!(second.with(Option::is_none) && third.with(Option::is_none));
    assert_eq!(
        clients[1].ledger().znodes().len(),
        1,
        "it names the znode that it waits with"
    );
    let released = bed.world.run(clients[0].release("g1", None)).unwrap();
    assert_eq!(released.removed, Some((first.path, first.czxid)));
    bed.world.pass(MOMENT);
    let second = second.update(Option::take).unwrap().unwrap();
    assert!(third.with(Option::is_none));
    assert!(second.token > first.token && second.token == second.czxid);
    bed.world.run(clients[1].release("g2", None)).unwrap();
    bed.world.pass(MOMENT);
    assert!(third.update(Option::take).unwrap().is_ok());
    bed.world.run(clients[2].release("g3", None)).unwrap();
    bed.assert_clean(&clients.each_ref());
}

#[test]
fn a_create_whose_outcome_is_unknown_is_found_again() {
    for (fate, late) in [
        (Fate::ReplyLost, false),
        (Fate::RequestLost, false),
        (Fate::ReplyLost, true),
    ] {
        let bed = Bed::new();
        let client = bed.client();
        bed.net.server().late = late;
        bed.net.next("create", fate);
        let grant = bed.world.run(client.acquire("g1", None)).unwrap();
        assert_eq!(bed.net.locks().len(), 1, "{fate:?}");
        let stat = bed.net.server().exists(&grant.path).unwrap();
        assert_eq!((Some(stat.czxid), stat.ephemeral_owner), (grant.czxid, grant.session));
        bed.world.run(client.release("g1", None)).unwrap();
        bed.assert_clean(&[&client]);
    }
}

#[test]
fn a_create_whose_session_ends_is_made_again_in_the_next_one() {
    let bed = Bed::new();
    let client = bed.client();
    let session = bed.net.last_session();
    let grant = bed.world.start(client.acquire("g1", None));
    // The create has arrived, and its answer is on the way.
    bed.world.pass(Duration::from_micros(1500));
    bed.net.expire(session, LONG);
    bed.world.pass(LONG + MOMENT);
    let grant = grant.update(Option::take).unwrap().unwrap();
    assert_ne!(grant.session, session);
    assert_eq!(bed.net.locks().len(), 1);
    assert_eq!(client.ledger().held().unwrap().grant, grant);
    bed.world.run(client.release("g1", None)).unwrap();
    bed.assert_clean(&[&client]);
}

#[test]
fn a_holder_gives_up_when_disconnected_and_cleans_up() {
    let bed = Bed::new();
    let client = bed.client();
    bed.world.run(client.acquire("g1", None)).unwrap();
    bed.net.lose(bed.net.last_session(), OUTAGE);
    bed.world.pass(Duration::from_millis(1));
    assert!(client.ledger().held().is_none());
    assert!(client.ledger().work("g1").is_none());
    assert_eq!(bed.world.lost(), ["g1"]);
    assert_eq!(bed.net.locks().len(), 1, "nothing can be deleted yet");
    let released = bed.world.run(client.release("g1", None));
    assert_eq!(released, Err(Ended::Fail(NOT_HELD.to_string())));
    bed.assert_clean(&[&client]);
    assert!(bed.world.run(client.acquire("g2", None)).is_ok());
}

#[test]
fn work_that_goes_on_keeps_the_znode_while_the_session_lives() {
    let bed = Bed::new();
    let client = bed.client();
    bed.world.run(client.acquire("g1", None)).unwrap();
    let (_, working) = client.ledger().work("g1").unwrap();
    bed.net.lose(bed.net.last_session(), OUTAGE);
    bed.world.pass(OUTAGE + LONG);
    assert_eq!((bed.world.lost().len(), bed.net.locks().len()), (1, 1));
    drop(working);
    bed.assert_clean(&[&client]);
}

#[test]
fn work_does_not_outlast_the_session() {
    let bed = Bed::new();
    let client = bed.client();
    bed.world.run(client.acquire("g1", None)).unwrap();
    let (_, _working) = client.ledger().work("g1").unwrap();
    bed.net.expire(bed.net.last_session(), LONG);
    bed.world.pass(LONG + MOMENT);
    bed.assert_clean(&[&client]);
    assert!(bed.world.run(client.acquire("g2", None)).is_ok());
}

#[test]
fn a_predecessor_that_goes_between_two_reads_is_not_waited_for() {
    let bed = Bed::new();
    let (holder, client) = (bed.client(), bed.client());
    let grant = bed.world.run(holder.acquire("g1", None)).unwrap();
    bed.net.before("exists", Fate::Answered, move |server| {
        server.delete(&grant.path, None).unwrap()
    });
    assert!(bed.world.run(client.acquire("g2", None)).is_ok());
}

#[test]
fn a_predecessor_that_goes_during_an_outage_is_noticed() {
    let bed = Bed::new();
    let (holder, client) = (bed.client(), bed.client());
    let waiter = bed.net.last_session();
    bed.world.run(holder.acquire("g1", None)).unwrap();
    let waiting = bed.world.start(client.acquire("g2", None));
    bed.world.pass(MOMENT);
    bed.net.lose(waiter, LONG);
    bed.world.run(holder.release("g1", None)).unwrap();
    bed.world.pass(MOMENT);
    assert!(waiting.with(Option::is_none), "it cannot know");
    bed.world.pass(LONG + MOMENT);
    assert!(waiting.update(Option::take).unwrap().is_ok());
    assert!(bed.world.lost().is_empty());
}

#[test]
fn a_waiter_whose_session_ends_queues_again() {
    let bed = Bed::new();
    let (holder, client) = (bed.client(), bed.client());
    let waiter = bed.net.last_session();
    bed.world.run(holder.acquire("g1", None)).unwrap();
    let waiting = bed.world.start(client.acquire("g2", None));
    bed.world.pass(MOMENT);
    bed.net.expire(waiter, LONG);
    bed.world.pass(LONG + MOMENT);
    assert_eq!(client.ledger().znodes().len(), 1);
    bed.world.run(holder.release("g1", None)).unwrap();
    bed.world.pass(MOMENT);
    let grant = waiting.update(Option::take).unwrap().unwrap();
    assert_ne!(grant.session, waiter);
}

#[test]
fn a_delete_whose_reply_is_lost_is_known_all_the_same() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = Bed::new();
        let client = bed.client();
        let grant = bed.world.run(client.acquire("g1", None)).unwrap();
        bed.net.next("delete", fate);
        let released = bed.world.run(client.release("g1", None)).unwrap();
        let removed = (fate == Fate::RequestLost).then_some((grant.path, grant.czxid));
        assert_eq!(released.removed, removed, "{fate:?}");
        assert!(bed.world.lost().is_empty(), "it had let go before");
        bed.assert_clean(&[&client]);
    }
}

#[test]
fn a_timed_attempt_leaves_nothing_or_does_not_claim_to() {
    let bed = Bed::new();
    let (holder, client) = (bed.client(), bed.client());
    let waiter = bed.net.last_session();
    bed.world.run(holder.acquire("g1", None)).unwrap();
    let at = |time| Some(bed.world.now() + time);
    let ended = bed.world.run(client.acquire("g2", at(LONG))).unwrap_err();
    assert!(matches!(ended, Ended::Fail(_)), "{ended:?}");
    assert_eq!(bed.net.locks().len(), 1);
    // Cut off when the time is up: it cannot know.
    let attempt = bed.world.start(client.acquire("g3", at(LONG)));
    bed.world.pass(MOMENT);
    bed.net.lose(waiter, LONG + LONG);
    bed.world.pass(LONG);
    assert!(matches!(attempt.update(Option::take), Some(Err(Ended::Info(_)))));
    bed.world.pass(LONG + MOMENT);
    bed.world.run(holder.release("g1", None)).unwrap();
    bed.assert_clean(&[&holder, &client]);
}

#[test]
fn a_create_that_takes_effect_after_its_attempt_lost_sight_of_it_is_still_chased() {
    let bed = Bed::new();
    let client = bed.client();
    let session = bed.net.last_session();
    let attempt = bed.world.start(client.acquire("g1", Some(bed.world.now() + MOMENT)));
    bed.world.pass(Duration::from_micros(500));
    // The connection is lost while the create is on its way, and it arrives all the same.
    bed.net.server().late = true;
    bed.net.lose(session, LONG);
    bed.world.pass(MOMENT + MOMENT);
    assert!(matches!(attempt.update(Option::take), Some(Err(Ended::Info(_)))));
    assert_eq!(bed.net.locks().len(), 1);
    bed.world.pass(LONG);
    bed.assert_clean(&[&client]);
}

#[test]
fn numbers_are_ordered_through_their_wrap() {
    let bed = Bed::new();
    bed.net.server().number("/lock", i32::MAX);
    let (first, second) = (bed.client(), bed.client());
    let grant = bed.world.run(first.acquire("g1", None)).unwrap();
    assert!(grant.path.ends_with("-lock-2147483647"), "{}", grant.path);
    let waiting = bed.world.start(second.acquire("g2", None));
    bed.world.pass(MOMENT);
    assert!(waiting.with(Option::is_none));
    bed.world.run(first.release("g1", None)).unwrap();
    bed.world.pass(MOMENT);
    let grant = waiting.update(Option::take).unwrap().unwrap();
    assert!(grant.path.ends_with("-lock--2147483648"), "{}", grant.path);
}

#[test]
fn a_znode_of_another_session_is_not_adopted() {
    let bed = Bed::new();
    let client = bed.client();
    // The GUID's second user is the host's next number.
    bed.net.before("create", Fate::RequestLost, |server| {
        let twin = format!("/lock/{:032x}-lock-", 1);
        server
            .create(0x999, &twin, b"", CreateMode::EphemeralSequential)
            .unwrap();
    });
    let waiting = bed.world.start(client.acquire("g1", None));
    bed.world.pass(LONG);
    assert!(waiting.with(Option::is_none), "it queues behind the other one");
    assert_eq!(bed.net.locks().len(), 2);
}

#[test]
fn a_parent_that_is_missing_is_told() {
    let bed = Bed::new();
    let client = bed.client();
    bed.net.server().delete("/lock", None).unwrap();
    let ended = bed.world.run(client.acquire("g1", None)).unwrap_err();
    assert_eq!(ended, Ended::Fail("create: NoNode".to_string()));
}

#[test]
fn a_session_that_is_closed_for_it_is_replaced() {
    let bed = Bed::new();
    let client = bed.client();
    bed.world.run(client.acquire("g1", None)).unwrap();
    let session = bed.net.last_session();
    bed.net.server().end(session, SessionState::Closed);
    bed.world.pass(MOMENT);
    assert_eq!(bed.world.lost(), ["g1"]);
    assert!(bed.world.run(client.acquire("g2", None)).is_ok());
}
