//! `lock/protected` and `lock/fenced`: the order of the queue, and single requests with unknown outcomes.

use crate::clients::GrantClient;
use zooquake_workloads::recipes::OpError;
use zooquake_workloads::zk::{CreateMode, Host};

use crate::bed::{Bed, LONG, MOMENT};
use zooquake_workloads::zk::sim::Fate;

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
        clients[1].holder().znodes().len(),
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
        bed.net.server().late = Some(late);
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
    assert!(matches!(ended, OpError::Fail(_)), "{ended:?}");
    assert_eq!(bed.net.locks().len(), 1);
    // Cut off when the time is up: it cannot know.
    let attempt = bed.world.start(client.acquire("g3", at(LONG)));
    bed.world.pass(MOMENT);
    bed.net.lose(waiter, LONG + LONG);
    bed.world.pass(LONG);
    assert!(matches!(attempt.update(Option::take), Some(Err(OpError::Info(_)))));
    bed.world.pass(LONG + MOMENT);
    bed.world.run(holder.release("g1", None)).unwrap();
    bed.assert_clean(&[&holder, &client]);
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
    assert_eq!(ended, OpError::Fail("create: NoNode".to_string()));
}
