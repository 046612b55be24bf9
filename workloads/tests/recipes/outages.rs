//! `lock/protected` and `lock/fenced` when a connection or a session is lost.

use std::time::Duration;

use crate::clients::GrantClient;
use zooquake_workloads::recipes::{NOT_HELD, OpError};
use zooquake_workloads::zk::{Host, SessionState};

use crate::bed::{Bed, LONG, MOMENT};
use zooquake_workloads::zk::sim::OUTAGE;

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
    assert_eq!(client.holder().held().unwrap().grant, grant);
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
    assert!(client.holder().held().is_none());
    assert!(client.holder().work("g1").is_none());
    assert_eq!(bed.world.lost(), ["g1"]);
    assert_eq!(bed.net.locks().len(), 1, "nothing can be deleted yet");
    let released = bed.world.run(client.release("g1", None));
    assert_eq!(released, Err(OpError::Fail(NOT_HELD.to_string())));
    bed.assert_clean(&[&client]);
    assert!(bed.world.run(client.acquire("g2", None)).is_ok());
}

#[test]
fn work_that_goes_on_keeps_the_znode_while_the_session_lives() {
    let bed = Bed::new();
    let client = bed.client();
    bed.world.run(client.acquire("g1", None)).unwrap();
    let (_, working) = client.holder().work("g1").unwrap();
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
    let (_, _working) = client.holder().work("g1").unwrap();
    bed.net.expire(bed.net.last_session(), LONG);
    bed.world.pass(LONG + MOMENT);
    bed.assert_clean(&[&client]);
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
    assert_eq!(client.holder().znodes().len(), 1);
    bed.world.run(holder.release("g1", None)).unwrap();
    bed.world.pass(MOMENT);
    let grant = waiting.update(Option::take).unwrap().unwrap();
    assert_ne!(grant.session, waiter);
}

#[test]
fn a_create_that_takes_effect_after_its_attempt_lost_sight_of_it_is_still_chased() {
    let bed = Bed::new();
    let client = bed.client();
    let session = bed.net.last_session();
    let attempt = bed.world.start(client.acquire("g1", Some(bed.world.now() + MOMENT)));
    bed.world.pass(Duration::from_micros(500));
    // The connection is lost while the create is on its way, and it arrives all the same.
    bed.net.server().late = Some(true);
    bed.net.lose(session, LONG);
    bed.world.pass(MOMENT + MOMENT);
    assert!(matches!(attempt.update(Option::take), Some(Err(OpError::Info(_)))));
    assert_eq!(bed.net.locks().len(), 1);
    bed.world.pass(LONG);
    bed.assert_clean(&[&client]);
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

#[test]
fn a_connection_may_be_lost_at_any_moment_of_an_attempt() {
    for millis in 0..10 {
        let bed = Bed::new();
        let client = bed.client();
        let session = bed.net.last_session();
        let attempt = bed.world.start(client.acquire("g1", None));
        bed.world.pass(Duration::from_millis(millis));
        bed.net.lose(session, OUTAGE);
        bed.world.pass(Duration::from_millis(1));
        assert!(
            client.holder().held().is_none(),
            "it holds, {millis} ms into its attempt, though disconnected"
        );
        bed.world.pass(LONG);
        assert!(attempt.update(Option::take).unwrap().is_ok());
        assert_eq!(
            client.holder().held().is_none(),
            bed.world.lost() == ["g1"],
            "{millis} ms"
        );
        drop(bed.world.run(client.release("g1", None)));
        bed.assert_clean(&[&client]);
    }
}
