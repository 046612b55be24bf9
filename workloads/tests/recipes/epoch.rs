//! `election/epoch`: each term has a higher epoch, whatever becomes of the request that raises it.

use std::time::Duration;

use crate::clients::GrantClient;
use zooquake_workloads::recipes::election::{EPOCH, epoch};

use crate::bed::{Bed, LONG, MOMENT};
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::OUTAGE;

fn stored(bed: &Bed) -> String {
    String::from_utf8(bed.net.server().get(EPOCH).unwrap().0).unwrap()
}

#[test]
fn each_term_has_the_next_epoch() {
    let bed = Bed::of(epoch);
    let clients = [bed.client(), bed.client()];
    for term in 1..6 {
        let client = &clients[term as usize % 2];
        let grant = bed.world.run(client.acquire("g", None)).unwrap();
        assert_eq!(grant.token, Some(term));
        assert_eq!(stored(&bed), term.to_string());
        bed.world.run(client.release("g", None)).unwrap();
    }
    bed.assert_clean(&[&clients[0], &clients[1]]);
}

#[test]
fn an_unknown_outcome_is_no_matter() {
    for (fate, late, token) in [
        (Fate::ReplyLost, false, 2),
        (Fate::RequestLost, false, 1),
        (Fate::ReplyLost, true, 2),
    ] {
        let bed = Bed::of(epoch);
        let client = bed.client();
        bed.net.server().late = Some(late);
        bed.net.next("multi", fate);
        let grant = bed.world.run(client.acquire("g1", None)).unwrap();
        assert_eq!(grant.token, Some(token), "{fate:?}");
        assert_eq!(stored(&bed), token.to_string(), "what it sends is what is stored");
        assert!(bed.world.lost().is_empty(), "it held nothing before");
        bed.world.run(client.release("g1", None)).unwrap();
        bed.assert_clean(&[&client]);
    }
}

#[test]
fn an_epoch_that_another_raised_meanwhile_is_read_again() {
    let bed = Bed::of(epoch);
    let client = bed.client();
    bed.net.before("multi", Fate::Answered, |server| {
        server.set(EPOCH, b"41", None).unwrap();
    });
    assert_eq!(bed.world.run(client.acquire("g1", None)).unwrap().token, Some(42));
}

#[test]
fn who_is_not_there_any_more_raises_nothing() {
    let bed = Bed::of(epoch);
    let client = bed.client();
    bed.net.before("multi", Fate::Answered, |server| {
        let own = server.children("/election").unwrap().remove(0);
        server.delete(&format!("/election/{own}"), None).unwrap();
    });
    let grant = bed.world.run(client.acquire("g1", None)).unwrap();
    assert_eq!(grant.token, Some(1), "it has queued again");
    assert!(bed.net.server().exists(&grant.path).is_some());
}

#[test]
fn what_is_no_number_elects_nobody() {
    let bed = Bed::of(epoch);
    let client = bed.client();
    bed.net.before("get", Fate::Answered, |server| {
        server
            .create(0, EPOCH, b"many", zooquake_workloads::zk::CreateMode::Persistent)
            .unwrap();
    });
    let waiting = bed.world.start(client.acquire("g1", None));
    bed.world.pass(LONG);
    assert!(waiting.with(Option::is_none));
    bed.net.server().set(EPOCH, b"7", None).unwrap();
    bed.world.pass(MOMENT + MOMENT);
    assert_eq!(waiting.update(Option::take).unwrap().unwrap().token, Some(8));
}

#[test]
fn a_connection_may_be_lost_at_any_moment_of_an_election() {
    for millis in 0..16 {
        let bed = Bed::of(epoch);
        let (client, next) = (bed.client(), bed.client());
        let session = bed.net.last_session() - 1;
        let attempt = bed.world.start(client.acquire("g1", None));
        bed.world.pass(Duration::from_millis(millis));
        bed.net.lose(session, OUTAGE);
        bed.world.pass(Duration::from_millis(1));
        assert!(client.holder().held().is_none(), "{millis} ms");
        bed.world.pass(LONG);
        let first = attempt.update(Option::take).unwrap().unwrap();
        drop(bed.world.run(client.release("g1", None)));
        let second = bed.world.run(next.acquire("g2", None)).unwrap();
        assert!(first.token.is_some() && second.token > first.token, "{millis} ms");
        bed.world.run(next.release("g2", None)).unwrap();
        bed.assert_clean(&[&client, &next]);
    }
}
