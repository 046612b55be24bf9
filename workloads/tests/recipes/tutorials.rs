//! The tutorials' recipes: they work without faults, and keep their faults with them.

use zooquake_workloads::recipes::OpError;
use zooquake_workloads::recipes::election::{ephemeral, sequential, ticket};
use zooquake_workloads::recipes::lock::{Predecessor, children};
use zooquake_workloads::recipes::rwlock::neighbour;
use zooquake_workloads::recipes::semaphore::counted;
use zooquake_workloads::zk::SessionState;
use zooquake_workloads::zk::sim::{Fate, OUTAGE};

use crate::bed::{GrantTestBed, LONG, MOMENT};

/// Those of which one client holds at a time and keeps its session.
fn exclusive() -> [GrantTestBed; 4] {
    [children, ticket, ephemeral, sequential].map(GrantTestBed::new)
}

fn predecessor() -> GrantTestBed {
    GrantTestBed::new(Predecessor::new)
}

#[test]
fn without_faults_they_hand_over() {
    for bed in exclusive()
        .into_iter()
        .chain([predecessor(), GrantTestBed::new(neighbour)])
    {
        let [first, second] = bed.clients();
        let grant = first.hold("g1");
        let waiting = second.ask("g2");
        assert!(waiting.waits());
        let released = first.hand_over("g1");
        assert_eq!(released, Some(grant.znode()));
        assert!(waiting.granted().czxid > grant.czxid);
        assert_eq!(second.holder().held().unwrap().grant.name, "g2");
    }
}

#[test]
fn a_lost_reply_leaves_an_orphan_that_nobody_gets_past() {
    let others = [predecessor(), GrantTestBed::new(neighbour), GrantTestBed::new(counted)];
    for bed in exclusive().into_iter().chain(others) {
        let [first, second] = bed.clients();
        bed.net.next("create", Fate::ReplyLost);
        let ended = first.acquire("g1", None).unwrap_err();
        assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
        assert_eq!(first.holder().znodes(), [], "it has lost track of it");
        assert_eq!(bed.net.locks().len(), 1);
        bed.world.pass(OUTAGE);
        let (waiting, other) = (first.ask("g2"), second.ask("g3"));
        bed.world.pass(LONG);
        // A semaphore has one lease left.
        let one_left = bed.net.locks()[0].starts_with("lease-");
        assert_eq!((waiting.waits(), other.waits()), (!one_left, true));
    }
}

#[test]
fn a_reader_s_lost_reply_leaves_an_orphan_too() {
    let bed = GrantTestBed::new(neighbour);
    let client = bed.client();
    bed.net.next("create", Fate::ReplyLost);
    assert!(client.ask_shared("g1").is_unknown());
    assert_eq!((client.holder().znodes().len(), bed.net.locks().len()), (0, 1));
}

#[test]
fn a_wait_ends_with_its_session_and_the_next_attempt_has_another_one() {
    for bed in exclusive() {
        let [holder, client] = bed.clients();
        holder.hold("g1");
        let waiting = client.ask("g2");
        bed.net.expire(bed.net.last_session(), LONG);
        bed.world.pass(LONG + MOMENT);
        assert!(waiting.is_unknown());
        holder.hand_over("g1");
        client.hold("g3");
    }
}

#[test]
fn they_know_no_deadlines() {
    for bed in [children, ticket, sequential].map(GrantTestBed::new) {
        let [holder, client] = bed.clients();
        holder.hold("g1");
        let ended = client.acquire("g2", Some(LONG)).unwrap_err();
        assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
        assert_eq!(bed.net.locks().len(), 2);
    }
}

#[test]
fn sequential_looks_again_when_a_middle_candidate_goes() {
    let bed = GrantTestBed::new(sequential);
    let [leader, middle, last] = bed.clients();
    let session = bed.net.last_session() - 1;
    leader.hold("g1");
    let (middle, last) = (middle.ask("g2"), last.ask("g3"));
    bed.net.expire(session, MOMENT);
    bed.world.pass(MOMENT + MOMENT);
    assert!(middle.is_unknown() && last.waits());
    leader.hand_over("g1");
    last.granted();
}

#[test]
fn predecessor_lists_again_when_the_read_fails_and_the_znode_is_gone() {
    let bed = predecessor();
    let [holder, client] = bed.clients();
    let grant = holder.hold("g1");
    bed.net.before("get", Fate::Answered, move |server| {
        server.delete(&grant.path, None).unwrap()
    });
    client.hold("g2");
}

#[test]
fn predecessor_gives_up_when_the_read_fails_and_the_znode_is_there() {
    let bed = predecessor();
    let [holder, client] = bed.clients();
    holder.hold("g1");
    bed.net.next("get", Fate::ReplyLost);
    let ended = client.acquire("g2", None).unwrap_err();
    assert!(matches!(ended, OpError::Info(_)), "{ended:?}");
    assert_eq!(
        bed.net.locks().len(),
        2,
        "its session stays open, and its znode with it"
    );
}

#[test]
fn predecessor_never_ends_once_a_callback_fails() {
    let bed = predecessor();
    let [holder, client] = bed.clients();
    holder.hold("g1");
    let waiting = client.ask("g2");
    bed.net.next("children", Fate::ReplyLost);
    holder.hand_over("g1");
    bed.world.pass(LONG);
    assert!(waiting.waits());
    assert_eq!(bed.net.locks().len(), 1, "nobody holds, and nobody ever will");
}

#[test]
fn predecessor_hears_nothing_of_its_sessions_end() {
    let bed = predecessor();
    let client = bed.client();
    client.hold("g1");
    bed.net.expire(bed.net.last_session(), LONG);
    bed.world.pass(LONG + MOMENT);
    assert!(client.holder().work("g1").is_some(), "it believes");
    assert!(bed.world.lost().is_empty());
    let state = client.session().state();
    assert_eq!(
        state,
        SessionState::Expired,
        "it confirms in the session of its attempt"
    );
    assert_eq!(client.hand_over("g1"), None);
    client.hold("g2");
}
