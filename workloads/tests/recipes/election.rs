//! `election/acknowledged` leads only once its acknowledgement exists; each term of `election/epoch` has a higher
//! epoch.

use zooquake_workloads::recipes::election::{ACKS, EPOCH, acknowledged, epoch};
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::Fate;

use crate::bed::{GrantTestBed, LONG, MOMENT};

#[test]
fn an_acknowledgement_stands_while_its_leader_does() {
    let bed = GrantTestBed::new(acknowledged);
    let [first, second] = bed.clients();
    let grant = first.hold("g1");
    let ack = grant.ack.clone().unwrap();
    assert!(ack.path.starts_with(ACKS) && ack.czxid > grant.czxid && ack.session == grant.session);
    let stat = bed.net.server().exists(&ack.path).unwrap();
    assert_eq!(Some(stat.czxid), ack.czxid);
    assert_eq!(first.holder().znodes().len(), 2, "it names both of its znodes");
    let waiting = second.ask("g2");
    let acks = || bed.net.server().children(ACKS).unwrap().len();
    assert_eq!(acks(), 1, "who waits has none");
    first.hand_over("g1");
    waiting.granted();
    assert_eq!(acks(), 1);
    second.hand_over("g2");
    bed.assert_clean(&[first, second]);
}

#[test]
fn an_acknowledgement_whose_outcome_is_unknown_is_found_again() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = GrantTestBed::new(acknowledged);
        let client = bed.client();
        bed.net.next("create", Fate::Answered);
        bed.net.next("create", fate);
        let grant = client.hold("g1");
        assert_eq!(bed.net.server().children(ACKS).unwrap().len(), 1, "{fate:?}");
        assert!(grant.ack.is_some());
        client.hand_over("g1");
        bed.assert_clean(&[client]);
    }
}

fn stored(bed: &GrantTestBed) -> String {
    String::from_utf8(bed.net.server().get(EPOCH).unwrap().0).unwrap()
}

#[test]
fn each_term_has_the_next_epoch() {
    let bed = GrantTestBed::new(epoch);
    let clients = bed.clients::<2>();
    for term in 1..6 {
        let client = &clients[term as usize % 2];
        assert_eq!(client.hold("g").token, Some(term));
        assert_eq!(stored(&bed), term.to_string());
        client.hand_over("g");
    }
    bed.assert_clean(&clients);
}

#[test]
fn an_epoch_whose_outcome_is_unknown_is_raised_again_and_what_is_sent_is_what_is_stored() {
    for (fate, late, token) in [
        (Fate::ReplyLost, false, 2),
        (Fate::RequestLost, false, 1),
        (Fate::ReplyLost, true, 2),
    ] {
        let bed = GrantTestBed::new(epoch);
        let client = bed.client();
        bed.net.server().late = Some(late);
        bed.net.next("multi", fate);
        assert_eq!(client.hold("g1").token, Some(token), "{fate:?}");
        assert_eq!(stored(&bed), token.to_string());
    }
}

#[test]
fn an_epoch_that_another_raised_meanwhile_is_read_again() {
    let bed = GrantTestBed::new(epoch);
    let client = bed.client();
    bed.net.before("multi", Fate::Answered, |server| {
        server.set(EPOCH, b"41", None).unwrap();
    });
    assert_eq!(client.hold("g1").token, Some(42));
}

#[test]
fn who_is_not_there_any_more_raises_nothing() {
    let bed = GrantTestBed::new(epoch);
    let client = bed.client();
    bed.net.before("multi", Fate::Answered, |server| {
        let own = server.children("/election").unwrap().remove(0);
        server.delete(&format!("/election/{own}"), None).unwrap();
    });
    let grant = client.hold("g1");
    assert_eq!(grant.token, Some(1), "it has queued again");
    assert!(bed.net.server().exists(&grant.path).is_some());
}

#[test]
fn what_is_no_number_elects_nobody() {
    let bed = GrantTestBed::new(epoch);
    let client = bed.client();
    bed.net.before("get", Fate::Answered, |server| {
        server.create(0, EPOCH, b"many", CreateMode::Persistent).unwrap();
    });
    let waiting = client.ask("g1");
    bed.world.pass(LONG);
    assert!(waiting.waits());
    bed.net.server().set(EPOCH, b"7", None).unwrap();
    bed.world.pass(MOMENT + MOMENT);
    assert_eq!(waiting.granted().token, Some(8));
}
