//! The protected queues: the order in which they grant, and single requests with unknown outcomes.

use zooquake_workloads::recipes::OpError;
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::Fate;

use crate::bed::{GrantTestBed, LONG, MOMENT, fenced};

#[test]
fn a_grant_is_handed_over_in_order() {
    for bed in GrantTestBed::protected() {
        let clients = bed.clients::<3>();
        let first = clients[0].hold("g1");
        let (second, third) = (clients[1].ask("g2"), clients[2].ask("g3"));
        assert!(second.waits() && third.waits());
        let known = clients[1].holder().znodes().len();
        assert_eq!(known, 1, "it names the znode that it waits with");
        let released = clients[0].hand_over("g1");
        assert_eq!(released, Some(first.znode()));
        let second = second.granted();
        assert!(third.waits());
        assert!(second.czxid > first.czxid && (first.token.is_none() || second.token > first.token));
        clients[1].hand_over("g2");
        third.granted();
        clients[2].hand_over("g3");
        bed.assert_clean(&clients);
    }
}

#[test]
fn a_request_whose_outcome_is_unknown_leaves_nothing_unknown() {
    for op in ["create", "children", "exists", "get", "multi", "delete"] {
        for (fate, late) in [
            (Fate::ReplyLost, false),
            (Fate::RequestLost, false),
            (Fate::ReplyLost, true),
        ] {
            for bed in GrantTestBed::protected() {
                let client = bed.client();
                bed.net.server().late = Some(late);
                bed.net.next(op, fate);
                let grant = client.hold("g1");
                let own = client.holder().znodes();
                assert_eq!(own.len(), 1 + usize::from(grant.ack.is_some()), "{op} {fate:?}");
                assert_eq!(bed.locks().len(), own.len(), "{op} {fate:?}: it names all there are");
                let stat = bed.net.server().exists(&grant.path).unwrap();
                assert_eq!((Some(stat.czxid), stat.ephemeral_owner), (grant.czxid, grant.session));
                let released = client.hand_over("g1");
                // A client that verifies that an own znode is gone cannot determine who deleted it; an acknowledgement
                // goes first.
                let unsure = op == "delete" && fate == Fate::ReplyLost && grant.ack.is_none();
                let removed = (!unsure).then(|| grant.znode());
                assert_eq!(released, removed, "{op} {fate:?}");
                assert!(bed.world.lost().is_empty(), "it held nothing before, and had let go");
                bed.assert_clean(&[client]);
            }
        }
    }
}

#[test]
fn a_predecessor_that_goes_between_two_reads_is_not_waited_for() {
    for read in ["children", "exists"] {
        for bed in GrantTestBed::protected() {
            let [holder, client] = bed.clients();
            let grant = holder.hold("g1");
            bed.net.before(read, Fate::Answered, move |server| {
                server.delete(&grant.path, None).unwrap()
            });
            let waiting = client.ask("g2");
            // A client that waits for leases reads nothing but the list.
            let went = bed.net.server().script.is_empty();
            assert!(went || read == "exists");
            assert_eq!(waiting.waits(), !went, "{read}");
        }
    }
}

#[test]
fn a_timed_attempt_leaves_nothing_or_does_not_claim_to() {
    for bed in GrantTestBed::protected() {
        let [holder, client] = bed.clients();
        holder.hold("g1");
        let held = bed.locks();
        let ended = client.acquire("g2", Some(LONG)).unwrap_err();
        assert!(matches!(ended, OpError::Fail(_)), "{ended:?}");
        assert_eq!(bed.locks(), held);
        // Cut off when the time is up: the outcome is unknown.
        let attempt = client.ask_for("g3", Some(LONG));
        client.lose(&bed.net, LONG + LONG);
        bed.world.pass(LONG);
        assert!(attempt.is_unknown());
        bed.world.pass(LONG + MOMENT);
        holder.hand_over("g1");
        bed.assert_clean(&[holder, client]);
    }
}

#[test]
fn numbers_are_ordered_through_their_wrap() {
    let bed = GrantTestBed::new(fenced);
    bed.net.server().number("/lock", i32::MAX);
    let [first, second] = bed.clients();
    let grant = first.hold("g1");
    assert!(grant.path.ends_with("-lock-2147483647"), "{}", grant.path);
    let waiting = second.ask("g2");
    assert!(waiting.waits());
    first.hand_over("g1");
    let path = waiting.granted().path;
    assert!(path.ends_with("-lock--2147483648"), "{path}");
}

#[test]
fn a_znode_of_another_session_is_not_adopted() {
    let bed = GrantTestBed::new(fenced);
    let client = bed.client();
    // The GUID's second user is the host's next number.
    bed.net.before("create", Fate::RequestLost, |server| {
        let twin = format!("/lock/{:032x}-lock-", 1);
        server
            .create(0x999, &twin, b"", CreateMode::EphemeralSequential)
            .unwrap();
    });
    let waiting = client.ask("g1");
    bed.world.pass(LONG);
    assert!(waiting.waits(), "it queues behind the other one");
    assert_eq!(bed.net.locks().len(), 2);
}

#[test]
fn a_parent_that_is_missing_is_told() {
    let bed = GrantTestBed::new(fenced);
    let client = bed.client();
    bed.net.server().delete("/lock", None).unwrap();
    let ended = client.acquire("g1", None).unwrap_err();
    assert_eq!(ended, OpError::Fail("create: NoNode".to_string()));
}
