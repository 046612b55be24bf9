//! What a client shows of its group.

use serde_json::json;
use zooquake_history::operation::membership::GroupView;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::zk::sim::{Fate, OUTAGE};

use super::{VARIANTS, bed, enter, members, register, shown};
use crate::bed::{LONG, MOMENT};
use crate::driven::ClientTestBed;

#[test]
fn a_change_of_one_arrives_in_every_view() {
    for variant in VARIANTS {
        let bed = bed();
        let [mut c1, mut c2] = ["c1", "c2"].map(|name| bed.drive(name, "membership", variant));
        assert_eq!(shown(&mut c1), members([]), "{variant}");
        let made = register(&mut c1, "m1", 1);
        register(&mut c2, "m2", 2);
        for client in [&mut c1, &mut c2] {
            assert_eq!(shown(client), members([("m1", 1), ("m2", 2)]), "{variant}");
        }
        let written = c1.ok("update", json!({"value": 3}));
        assert_eq!(written["path"], made["path"]);
        let answer = c2.ok("view", json!({}));
        let entry = json!({
            "member": "m1", "path": "/members/m1", "czxid": made["czxid"], "mzxid": written["mzxid"], "value": 3,
        });
        assert_eq!(answer["view"]["members"][0], entry, "{variant}");
        assert!(answer["zxid"].as_i64() > written["mzxid"].as_i64());
        assert_eq!(answer["registered"]["member"], "m2");
        let own = json!({"path": "/members/m1", "czxid": made["czxid"]});
        assert_eq!(c1.ok("quiesce", json!({}))["znodes"], json!([own]), "{variant}");
        assert_eq!(c1.ok("deregister", json!({}))["removed"], own, "{variant}");
        assert_eq!(shown(&mut c2), members([("m2", 2)]), "{variant}");
        assert_eq!(
            c1.ok("view", json!({}))["registered"],
            serde_json::Value::Null,
            "{variant}"
        );
        assert_eq!(c1.ok("quiesce", json!({}))["znodes"], json!([]), "{variant}");
    }
}

#[test]
fn only_families_with_groups_have_views() {
    let bed = ClientTestBed::new();
    let mut c1 = bed.drive("c1", "lock", "fenced");
    assert!(c1.failed("view", json!({})).starts_with("no operation `view`"));
}

#[test]
fn views_are_numbered_and_each_has_one_notice() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "cached");
    register(&mut c1, "m1", 1);
    c1.ok("update", json!({"value": 2}));
    let answer = c1.ok("view", json!({}));
    let views = bed.world.views();
    assert_eq!(json!(views.last()), answer["view"]);
    assert!(views.iter().map(|view| view.n).eq(0..views.len() as u64));
    let values = views.iter().map(|view| {
        let members = view.members.as_ref();
        members.map(|members| members.iter().map(|entry| entry.value).collect())
    });
    assert!(values.eq([None, Some(vec![]), Some(vec![1]), Some(vec![2])]));
}

#[test]
fn an_event_that_came_before_the_reply_is_worked_off() {
    for variant in VARIANTS {
        let bed = bed();
        let mut c1 = bed.drive("c1", "membership", variant);
        register(&mut c1, "m1", 1);
        shown(&mut c1);
        bed.net
            .before("set", Fate::Answered, |server| enter(server, "m2", b"2"));
        assert_eq!(shown(&mut c1), members([("m1", 1), ("m2", 2)]), "{variant}");
    }
}

#[test]
fn a_view_whose_write_fails_is_unknown() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "cached");
    shown(&mut c1);
    bed.net.next("set", Fate::ReplyLost);
    assert_eq!(c1.ask("view", json!({})).0, Outcome::Info);
    bed.world.pass(OUTAGE);
    assert_eq!(shown(&mut c1), members([]));
}

#[test]
fn nothing_is_shown_while_disconnected_and_all_is_read_again() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "cached");
    register(&mut c1, "m1", 1);
    let before = bed.world.views().len();
    bed.net.lose(bed.net.last_session(), OUTAGE);
    bed.world.pass(OUTAGE / 2);
    enter(&mut bed.net.server(), "m2", b"2");
    bed.world.pass(LONG);
    let views = bed.world.views();
    let count = |view: &GroupView| view.members.as_ref().map(Vec::len);
    assert!(views[before..].iter().map(count).eq([None, Some(2)]));
    assert_eq!(shown(&mut c1), members([("m1", 1), ("m2", 2)]));
}

#[test]
fn a_second_listing_that_nobody_looks_at_misses_a_member() {
    for (variant, missed) in [("cached", false), ("planted-G1", true), ("tutorial", true)] {
        let bed = bed();
        let mut c1 = bed.drive("c1", "membership", variant);
        register(&mut c1, "m1", 1);
        assert_eq!(shown(&mut c1), members([("m1", 1)]), "{variant}");
        bed.net.next("children", Fate::Answered);
        if missed {
            bed.net
                .before("children", Fate::Answered, |server| enter(server, "m3", b"3"));
        } else {
            bed.net
                .before("get", Fate::Answered, |server| enter(server, "m3", b"3"));
        }
        enter(&mut bed.net.server(), "m2", b"2");
        bed.world.pass(LONG);
        let expected = match missed {
            true => members([("m1", 1), ("m2", 2)]),
            false => members([("m1", 1), ("m2", 2), ("m3", 3)]),
        };
        assert_eq!(shown(&mut c1), expected, "{variant}");
        enter(&mut bed.net.server(), "m4", b"4");
        bed.world.pass(MOMENT);
        assert_eq!(shown(&mut c1).unwrap().len(), 4, "{variant}: the next event shows it");
    }
}

#[test]
fn tutorial_misses_a_value_between_its_two_reads() {
    let bed = bed();
    let mut c1 = bed.drive("c1", "membership", "tutorial");
    enter(&mut bed.net.server(), "m2", b"2");
    bed.world.pass(MOMENT);
    bed.net.next("get", Fate::Answered);
    bed.net.before("get", Fate::Answered, |server| {
        drop(server.set("/members/m2", b"4", None))
    });
    bed.net.server().set("/members/m2", b"3", None).unwrap();
    bed.world.pass(LONG);
    assert_eq!(shown(&mut c1), members([("m2", 3)]));
}

#[test]
fn what_was_read_before_is_put_over_what_was_read_after() {
    for (variant, back) in [("cached", false), ("planted-G3", true)] {
        let bed = bed();
        for (member, value) in [("m1", b"1"), ("m2", b"2"), ("m3", b"3")] {
            enter(&mut bed.net.server(), member, value);
        }
        let mut c1 = bed.drive("c1", "membership", variant);
        assert_eq!(shown(&mut c1).unwrap().len(), 3);
        // The member changes after it was read, and before the next one is.
        if back {
            bed.net.next("get", Fate::Answered);
        }
        bed.net.before("get", Fate::Answered, |server| {
            drop(server.set("/members/m1", b"9", None))
        });
        enter(&mut bed.net.server(), "m4", b"4");
        bed.world.pass(LONG);
        let views = bed.world.views();
        let first = |view: &GroupView| Some(view.members.as_ref()?[0].value);
        let values: Vec<i64> = views.iter().filter_map(first).collect();
        assert_eq!(
            values.windows(2).any(|pair| pair == [9, 1]),
            back,
            "{variant}: {values:?}"
        );
        let last = if back { 1 } else { 9 };
        assert_eq!(shown(&mut c1).unwrap()[0].1, last, "{variant}");
    }
}
