//! The protected queues when a connection or a session is lost.

use std::time::Duration;

use zooquake_workloads::recipes::{NOT_HELD, OpError};
use zooquake_workloads::zk::SessionState;
use zooquake_workloads::zk::sim::OUTAGE;

use crate::bed::{GrantTestBed, LONG, MOMENT, fenced};

#[test]
fn a_create_whose_session_ends_is_made_again_in_the_next_one() {
    for bed in GrantTestBed::protected() {
        let client = bed.client();
        let session = bed.net.last_session();
        let grant = client.begin("g1", None);
        // The create has arrived, and its answer is on the way.
        bed.world.pass(Duration::from_micros(1500));
        bed.net.expire(session, LONG);
        bed.world.pass(LONG + MOMENT);
        let grant = grant.granted();
        assert_ne!(grant.session, session);
        assert_eq!(bed.locks().len(), client.holder().znodes().len());
        assert_eq!(client.holder().held().unwrap().grant, grant);
        client.hand_over("g1");
        bed.assert_clean(&[client]);
    }
}

#[test]
fn a_holder_gives_up_when_disconnected_and_cleans_up() {
    for bed in GrantTestBed::protected() {
        let clients = [bed.client()];
        let [client] = &clients;
        client.hold("g1");
        let there = bed.locks();
        client.lose(&bed.net, OUTAGE);
        bed.world.pass(Duration::from_millis(1));
        assert!(!client.holds());
        assert!(client.holder().work("g1").is_none());
        assert_eq!(bed.world.lost(), ["g1"]);
        assert_eq!(bed.locks(), there, "nothing can be deleted yet");
        assert_eq!(client.release("g1"), Err(OpError::Fail(NOT_HELD.to_string())));
        bed.assert_clean(&clients);
        client.hold("g2");
    }
}

#[test]
fn work_that_goes_on_keeps_the_znode_while_the_session_lives() {
    let bed = GrantTestBed::new(fenced);
    let client = bed.client();
    client.hold("g1");
    let (_, working) = client.holder().work("g1").unwrap();
    client.lose(&bed.net, OUTAGE);
    bed.world.pass(OUTAGE + LONG);
    assert_eq!((bed.world.lost().len(), bed.net.locks().len()), (1, 1));
    drop(working);
    bed.assert_clean(&[client]);
}

#[test]
fn neither_a_hold_nor_its_work_outlasts_the_session() {
    for bed in GrantTestBed::protected() {
        let clients = [bed.client()];
        let [client] = &clients;
        let grant = client.hold("g1");
        let (_, _working) = client.holder().work("g1").unwrap();
        bed.net.expire(grant.session, LONG);
        bed.world.pass(LONG + MOMENT);
        assert!(!client.holds());
        assert_eq!(bed.world.lost(), ["g1"], "nobody else has lost anything");
        bed.assert_clean(&clients);
        client.hold("g2");
    }
}

#[test]
fn a_predecessor_that_goes_during_an_outage_is_noticed() {
    for bed in GrantTestBed::protected() {
        let [holder, client] = bed.clients();
        holder.hold("g1");
        let waiting = client.ask("g2");
        client.lose(&bed.net, LONG);
        holder.hand_over("g1");
        assert!(waiting.waits(), "it cannot know");
        bed.world.pass(LONG + MOMENT);
        waiting.granted();
        assert!(bed.world.lost().is_empty());
    }
}

#[test]
fn a_waiter_whose_session_ends_queues_again() {
    for bed in GrantTestBed::protected() {
        let [holder, client] = bed.clients();
        let waiter = bed.net.last_session();
        holder.hold("g1");
        let waiting = client.ask("g2");
        bed.net.expire(waiter, LONG);
        bed.world.pass(LONG + MOMENT);
        assert_eq!(client.holder().znodes().len(), 1);
        holder.hand_over("g1");
        assert_ne!(waiting.granted().session, waiter);
    }
}

#[test]
fn a_create_that_takes_effect_after_its_attempt_lost_sight_of_it_is_still_chased() {
    for bed in GrantTestBed::protected() {
        let client = bed.client();
        let session = bed.net.last_session();
        let attempt = client.begin("g1", Some(MOMENT));
        bed.world.pass(Duration::from_micros(500));
        // The connection is lost while the create is on its way, and it arrives all the same.
        bed.net.server().late = Some(true);
        bed.net.lose(session, LONG);
        bed.world.pass(MOMENT + MOMENT);
        assert!(attempt.is_unknown());
        assert_eq!(bed.locks().len(), 1);
        bed.world.pass(LONG);
        bed.assert_clean(&[client]);
    }
}

#[test]
fn a_session_that_is_closed_for_it_is_replaced() {
    let bed = GrantTestBed::new(fenced);
    let client = bed.client();
    client.hold("g1");
    let session = bed.net.last_session();
    bed.net.server().end(session, SessionState::Closed);
    bed.world.pass(MOMENT);
    assert_eq!(bed.world.lost(), ["g1"]);
    client.hold("g2");
}

#[test]
fn a_connection_may_be_lost_at_any_moment_of_an_attempt() {
    for (millis, timed) in (0..20).flat_map(|millis| [(millis, false), (millis, true)]) {
        for bed in GrantTestBed::protected() {
            let [client, next] = bed.clients();
            let session = bed.net.last_session() - 1;
            let attempt = client.begin("g1", timed.then_some(Duration::from_millis(2 * millis)));
            bed.world.pass(Duration::from_millis(millis));
            bed.net.lose(session, OUTAGE);
            bed.world.pass(Duration::from_millis(1));
            assert!(
                !client.holds(),
                "it holds, {millis} ms into its attempt, though disconnected"
            );
            bed.world.pass(LONG);
            let first = attempt.ended();
            assert!(first.is_ok() || timed);
            assert!(!client.holds() || bed.world.lost().is_empty(), "{millis} ms");
            assert!(
                client.holds() || first.is_err() || bed.world.lost() == ["g1"],
                "{millis} ms"
            );
            drop(client.release("g1"));
            let second = next.hold("g2");
            if let Ok(first) = first {
                assert!(first.token.is_none() || second.token > first.token, "{millis} ms");
            }
            next.hand_over("g2");
            bed.assert_clean(&[client, next]);
        }
    }
}
