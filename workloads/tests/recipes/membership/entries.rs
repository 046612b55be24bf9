//! The entry by which a client is a member.

use serde_json::json;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::{Connect, CreateMode, session_hex};

use super::{VARIANTS, bed, members, register, shown, tree};
use crate::bed::{LONG, MOMENT};

#[test]
fn an_entry_is_made_once_and_changed_only_while_it_is_there() {
    for variant in VARIANTS {
        let bed = bed();
        let mut c1 = bed.drive("c1", "membership", variant);
        assert_eq!(c1.failed("update", json!({"value": 1})), "not-registered");
        assert_eq!(c1.failed("deregister", json!({})), "not-registered");
        register(&mut c1, "m1", 2);
        let again = json!({"member": "m1", "value": 3});
        assert_eq!(c1.failed("register", again), "registered already", "{variant}");
        c1.ok("deregister", json!({}));
        assert!(
            c1.failed("register", json!({"member": "a/b", "value": 4}))
                .contains("no name")
        );
        register(&mut c1, "m1", 5);
        assert_eq!(tree(&bed), [("m1".into(), "5".into())], "{variant}");
    }
}

#[test]
fn after_its_session_cached_registers_again_and_tutorial_does_not() {
    for (variant, again) in [("cached", true), ("tutorial", false)] {
        let bed = bed();
        let [mut c1, mut c2] = ["c1", "c2"].map(|name| bed.drive(name, "membership", variant));
        register(&mut c2, "m2", 2);
        let made = register(&mut c1, "m1", 1);
        c1.ok("update", json!({"value": 3}));
        let session = bed.world.views()[0].session.clone();
        assert_eq!(made["session"], json!(session), "{variant}");
        let first = bed.net.server().sessions()[0];
        assert_eq!(session_hex(first), session);
        bed.net.expire(first, MOMENT);
        bed.world.pass(LONG);
        let registered = &c1.ok("view", json!({}))["registered"];
        assert_eq!(registered["czxid"] != made["czxid"], again, "{variant}");
        let expected = match again {
            true => members([("m1", 3), ("m2", 2)]),
            false => members([("m2", 2)]),
        };
        assert_eq!(
            (shown(&mut c1), shown(&mut c2)),
            (expected.clone(), expected),
            "{variant}"
        );
        let (outcome, ..) = c1.ask("update", json!({"value": 4}));
        assert_eq!(outcome == Outcome::Ok, again, "{variant}");
        assert_eq!(
            c1.failed("register", json!({"member": "m1", "value": 5})),
            "registered already"
        );
    }
}

#[test]
fn a_lost_request_or_reply_leaves_one_entry() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = bed();
        let mut c1 = bed.drive("c1", "membership", "cached");
        bed.net.next("create", fate);
        let (outcome, made, _) = c1.end("register", json!({"member": "m1", "value": 1}));
        assert_eq!(
            (outcome, tree(&bed)),
            (Outcome::Ok, vec![("m1".into(), "1".into())]),
            "{fate:?}"
        );
        bed.net.next("set", fate);
        let (outcome, written, _) = c1.end("update", json!({"value": 2}));
        assert_eq!(
            (outcome, shown(&mut c1)),
            (Outcome::Ok, members([("m1", 2)])),
            "{fate:?}"
        );
        let stat = bed.net.server().exists("/members/m1").unwrap();
        assert_eq!(
            (&made["czxid"], &written["mzxid"]),
            (&json!(stat.czxid), &json!(stat.mzxid)),
            "{fate:?}"
        );
        assert_eq!(stat.version, 1, "written once");
        bed.net.next("delete", fate);
        let (outcome, left, _) = c1.end("deregister", json!({}));
        assert_eq!((outcome, tree(&bed)), (Outcome::Ok, vec![]), "{fate:?}");
        assert_eq!(left["removed"].is_null(), fate == Fate::ReplyLost, "{fate:?}");
    }
}

#[test]
fn the_znode_of_an_earlier_session_is_waited_for() {
    let bed = bed();
    let earlier = bed.world.run(bed.net.connect());
    let created = earlier.create("/members/m1", b"1", CreateMode::Ephemeral);
    bed.world.run(created).unwrap();
    let mut c1 = bed.drive("c1", "membership", "cached");
    let registering = c1.send("register", json!({"member": "m1", "value": 2}));
    bed.world.pass(LONG);
    assert_eq!(c1.reply(registering), None);
    assert_eq!(c1.ok("quiesce", json!({}))["znodes"], json!([]), "also while it waits");
    bed.net.expire(earlier.session(), MOMENT);
    bed.world.pass(LONG);
    assert_eq!(c1.reply(registering).unwrap().0, Outcome::Ok);
    assert_eq!(tree(&bed), [("m1".into(), "2".into())]);
}

#[test]
fn an_attempt_that_took_too_long_is_undone() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "cached");
    bed.net.next("create", Fate::ReplyLost);
    c1.line(r#"{"id":71,"f":"register","value":{"member":"m1","value":1},"timeout_ms":10}"#);
    assert_eq!(c1.reply(71).unwrap().0, Outcome::Info);
    assert_eq!(c1.ok("ping", json!({})), json!({}));
    bed.world.pass(LONG);
    assert_eq!(tree(&bed), []);
    let quiet = c1.ok("quiesce", json!({}));
    assert_eq!(quiet["znodes"], json!([]));
    // And the next one is made, also while the one before is being undone.
    bed.net.next("create", Fate::ReplyLost);
    c1.line(r#"{"id":72,"f":"register","value":{"member":"m1","value":2},"timeout_ms":10}"#);
    assert_eq!(c1.end("register", json!({"member": "m2", "value": 3})).0, Outcome::Ok);
    assert_eq!(tree(&bed), [("m2".into(), "3".into())]);
}

#[test]
fn without_registering_again_a_member_believes_in_a_znode_that_is_gone() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "planted-G2");
    let made = register(&mut c1, "m1", 1);
    bed.net.expire(bed.net.last_session(), MOMENT);
    bed.world.pass(LONG);
    assert_eq!(tree(&bed), []);
    for _ in 0..2 {
        let answer = c1.ok("view", json!({}));
        assert_eq!(answer["registered"]["czxid"], made["czxid"]);
        assert_eq!(answer["view"]["members"], json!([]));
        assert_eq!(c1.failed("update", json!({"value": 2})), "not-registered");
        assert_eq!(c1.failed("deregister", json!({})), "not-registered");
        assert_eq!(
            c1.failed("register", json!({"member": "m1", "value": 3})),
            "registered already"
        );
    }
}

#[test]
fn tutorial_finds_its_own_znode_and_leaves_that_of_another_session() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "tutorial");
    bed.net.next("create", Fate::ReplyLost);
    assert_eq!(c1.ask("register", json!({"member": "m1", "value": 1})).0, Outcome::Info);
    assert_eq!(
        c1.ok("quiesce", json!({}))["znodes"],
        json!([]),
        "it has lost track of it"
    );
    bed.world.pass(LONG);
    register(&mut c1, "m1", 2);
    assert_eq!(tree(&bed), [("m1".into(), "2".into())]);
    bed.net.next("delete", Fate::RequestLost);
    assert_eq!(c1.ask("deregister", json!({})).0, Outcome::Info);
    assert_eq!(
        c1.failed("deregister", json!({})),
        "not-registered",
        "whatever came of the first"
    );
    bed.world.pass(LONG);
    let mut c2 = bed.drive("c2", "membership", "tutorial");
    assert!(
        c2.failed("register", json!({"member": "m1", "value": 3}))
            .contains("NodeExists")
    );
    assert_eq!(tree(&bed), [("m1".into(), "2".into())]);
}
