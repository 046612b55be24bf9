//! `register/*`: what each operation answers, and what it answers when replies, connections and sessions are lost.

use std::time::Duration;

use serde_json::json;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::zk::SessionState;

use crate::bed::LONG;
use crate::driven::ClientTestBed;
use zooquake_workloads::zk::sim::Fate;

const VARIANTS: [&str; 3] = ["read", "sync-read", "quorum-read"];

/// A bed with the register set up.
fn bed() -> ClientTestBed {
    let bed = ClientTestBed::new();
    put(&bed, b"", true);
    bed
}

/// Writes the register past all clients.
fn put(bed: &ClientTestBed, data: &[u8], new: bool) {
    let mut server = bed.net.server();
    if new {
        let mode = zooquake_workloads::zk::CreateMode::Persistent;
        server.create(0, "/register", data, mode).unwrap();
    } else {
        server.set("/register", data, None).unwrap();
    }
}

fn data(bed: &ClientTestBed) -> String {
    String::from_utf8(bed.net.server().get("/register").unwrap().0).unwrap()
}

#[test]
fn each_variant_reads_what_was_written_and_says_where() {
    for variant in VARIANTS {
        let bed = bed();
        let mut client = bed.drive("c1", "register", variant);
        let session = format!("0x{:x}", bed.net.last_session());
        let nil = client.ok("read", json!({}));
        assert_eq!(
            (&nil["value"], &nil["server"]),
            (&json!(null), &json!("n1")),
            "{variant}"
        );
        let written = client.ok("write", json!({"value": 17}));
        assert!(written["mzxid"].as_i64() > nil["mzxid"].as_i64(), "{variant}");
        assert_eq!((&written["value"], &written["session"]), (&json!(17), &json!(session)));
        let swapped = client.ok("cas", json!({"from": 17, "to": 18}));
        assert_eq!(
            (&swapped["from"], &swapped["to"]),
            (&json!(17), &json!(18)),
            "{variant}"
        );
        let read = client.ok("read", json!({}));
        assert_eq!(
            (&read["value"], &read["mzxid"]),
            (&json!(18), &swapped["mzxid"]),
            "{variant}"
        );
        assert_eq!((&read["session"], &read["server"]), (&json!(session), &json!("n1")));
    }
}

#[test]
fn only_the_quorum_read_writes_and_only_to_its_own_znode() {
    for (variant, writes) in [("read", false), ("sync-read", false), ("quorum-read", true)] {
        let bed = bed();
        let mut clients = [
            bed.drive("c1", "register", variant),
            bed.drive("c2", "register", variant),
        ];
        for at in 0..6 {
            clients[at % 2].ok("read", json!({}));
        }
        let own = bed.net.server().children("/zooquake/scratch").unwrap();
        assert_eq!(own.len(), if writes { 2 } else { 0 }, "{variant}: {own:?}");
        assert_eq!(bed.net.server().get("/register").unwrap().1.version, 0, "{variant}");
    }
}

#[test]
fn a_read_waits_for_what_comes_before_it() {
    for (variant, before) in [("sync-read", "sync"), ("quorum-read", "set")] {
        let bed = bed();
        let mut client = bed.drive("c1", "register", variant);
        client.ok("read", json!({}));
        bed.net.before(before, Fate::Answered, |server| {
            server.set("/register", b"5", None).unwrap();
        });
        assert_eq!(client.ok("read", json!({}))["value"], json!(5), "{variant}");
        bed.net.next(before, Fate::ReplyLost);
        let (outcome, _, error) = client.end("read", json!({}));
        assert_eq!(outcome, Outcome::Fail, "{variant}: a read leaves nothing behind");
        assert!(error.unwrap().starts_with("before the read"), "{variant}");
    }
}

#[test]
fn cas_refuses_another_value_and_another_version() {
    let bed = bed();
    let mut client = bed.drive("c1", "register", "read");
    client.ok("write", json!({"value": 1}));
    let cas = json!({"from": 2, "to": 3});
    assert_eq!(client.failed("cas", cas), "mismatch");
    // The same value again, by another write: only the version differs.
    bed.net.before("set", Fate::Answered, |server| {
        server.set("/register", b"1", None).unwrap();
    });
    let cas = json!({"from": 1, "to": 3});
    assert_eq!(client.failed("cas", cas.clone()), "bad-version");
    assert_eq!(data(&bed), "1");
    client.ok("cas", cas);
    assert_eq!(data(&bed), "3");
}

#[test]
fn a_lost_request_or_reply_leaves_a_write_unknown_and_is_not_repeated() {
    for (fate, there) in [(Fate::ReplyLost, true), (Fate::RequestLost, false)] {
        for (f, value) in [("write", json!({"value": 9})), ("cas", json!({"from": 1, "to": 9}))] {
            let bed = bed();
            let mut client = bed.drive("c1", "register", "read");
            client.ok("write", json!({"value": 1}));
            bed.net.next("set", fate);
            let (outcome, ..) = client.end(f, value);
            assert_eq!(outcome, Outcome::Info, "{f}, {fate:?}");
            assert_eq!(data(&bed), if there { "9" } else { "1" }, "{f}, {fate:?}");
            assert_eq!(
                bed.net.server().get("/register").unwrap().1.version,
                1 + i32::from(there)
            );
        }
    }
}

#[test]
fn a_cas_whose_look_is_lost_certainly_did_nothing() {
    let bed = bed();
    let mut client = bed.drive("c1", "register", "read");
    client.ok("write", json!({"value": 1}));
    bed.net.next("get", Fate::ReplyLost);
    let (outcome, ..) = client.end("cas", json!({"from": 1, "to": 2}));
    assert_eq!(outcome, Outcome::Fail);
    assert_eq!(data(&bed), "1");
}

#[test]
fn what_takes_too_long_is_unknown_and_may_still_arrive() {
    let bed = bed();
    let mut client = bed.drive("c1", "register", "read");
    let session = bed.net.last_session();
    bed.net.lose(session, Duration::from_millis(500));
    client.line(r#"{"id":70,"f":"write","value":{"value":4},"timeout_ms":100}"#);
    bed.world.pass(Duration::from_millis(200));
    let (outcome, _, error) = client.reply(70).unwrap();
    assert_eq!((outcome, error), (Outcome::Info, Some("timed out".to_string())));
    assert_eq!(data(&bed), "");
    bed.world.pass(LONG);
    assert_eq!(data(&bed), "4");
    assert_eq!(client.ok("read", json!({}))["value"], json!(4));
}

#[test]
fn it_goes_on_in_a_new_session() {
    for variant in VARIANTS {
        let bed = bed();
        let mut client = bed.drive("c1", "register", variant);
        let before = client.ok("write", json!({"value": 1}));
        let session = bed.net.last_session();
        bed.net.server().end(session, SessionState::Expired);
        let after = client.ok("read", json!({}));
        assert_ne!(after["session"], before["session"], "{variant}");
        assert_eq!(after["mzxid"], before["mzxid"], "{variant}");
    }
}

#[test]
fn a_register_that_holds_no_number_is_not_read_as_nil() {
    let bed = bed();
    let mut client = bed.drive("c1", "register", "read");
    put(&bed, b"x", false);
    assert!(client.failed("read", json!({})).contains("holds `x`"));
}
