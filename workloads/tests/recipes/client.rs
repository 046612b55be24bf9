//! The client program's requests and replies, line by line.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use zooquake_workloads::protocol::{Message, Outcome, Request};
use zooquake_workloads::recipes::registry;

use crate::bed::{LONG, MOMENT};
use crate::driven::Bed;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::OUTAGE;

#[test]
fn a_cycle_of_a_fenced_lock() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "fenced");
    assert_eq!(c1.ok("ping", json!({})), json!({}));
    let grant = c1.ok("acquire", json!({"grant": "g1"}));
    assert_eq!((&grant["grant"], &grant["token"]), (&json!("g1"), &grant["czxid"]));
    let written = c1.ok("write", json!({"grant": "g1", "value": 31, "work_ms": 5}));
    assert_eq!(written, json!({"grant": "g1", "value": 31, "token": grant["czxid"]}));
    let confirmed = c1.ok("confirm", json!({}));
    assert_eq!((&confirmed["holds"], &confirmed["grant"]), (&json!(true), &json!("g1")));
    assert!(confirmed["zxid"].as_i64() > grant["czxid"].as_i64());
    let quiet = c1.ok("quiesce", json!({}));
    assert_eq!(quiet["sessions"], json!([grant["session"]]));
    assert_eq!(
        quiet["znodes"],
        json!([{"path": grant["path"], "czxid": grant["czxid"]}])
    );
    let released = c1.ok("release", json!({"grant": "g1"}));
    assert_eq!(
        released["removed"],
        json!({"path": grant["path"], "czxid": grant["czxid"]})
    );
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(false));
    assert_eq!(c1.ok("quiesce", json!({}))["znodes"], json!([]));
}

#[test]
fn a_term_of_a_leader() {
    for (recipe, token, acknowledged) in [
        ("ticket", None, false),
        ("acknowledged", None, true),
        ("epoch", Some(1), false),
    ] {
        let bed = Bed::new();
        let mut c1 = bed.of("c1", "election", recipe);
        let grant = c1.ok("elect", json!({"grant": "g1"}));
        assert_eq!(grant.get("token").cloned(), token.map(Value::from), "{recipe}");
        assert_eq!(grant["ack"]["czxid"].is_i64(), acknowledged, "{recipe}");
        let written = c1.ok("write", json!({"grant": "g1", "value": 31}));
        assert_eq!((&written["value"], &written["token"]), (&json!(31), &json!(token)));
        assert_eq!(written.get("ack"), grant.get("ack"), "{recipe}");
        assert_eq!(c1.ok("confirm", json!({}))["grant"], json!("g1"));
        let znodes = c1.ok("quiesce", json!({}))["znodes"].as_array().unwrap().len();
        assert_eq!(znodes, if acknowledged { 2 } else { 1 });
        let (outcome, _, error) = c1.ask("acquire", json!({"grant": "g2"}));
        assert!(outcome == Outcome::Fail && error.unwrap().contains("elect, write, resign"));
        assert_eq!(
            c1.ok("resign", json!({"grant": "g1"}))["removed"]["czxid"],
            grant["czxid"]
        );
        assert_eq!(bed.net.locks(), Vec::<String>::new());
    }
}

#[test]
fn control_requests_are_answered_beside_an_operation() {
    for lock in ["children", "predecessor", "protected"] {
        let bed = Bed::new();
        let (mut c1, mut c2) = (bed.client("c1", lock), bed.client("c2", lock));
        c1.ok("acquire", json!({"grant": "g1"}));
        let pending = c2.send("acquire", json!({"grant": "g2"}));
        c2.ok("ping", json!({}));
        assert_eq!(c2.ok("confirm", json!({}))["holds"], json!(false), "{lock}");
        let quiet = c2.ok("quiesce", json!({}));
        assert_eq!(
            (
                quiet["sessions"].as_array().unwrap().len(),
                quiet["znodes"].as_array().unwrap().len()
            ),
            (1, 1)
        );
        let (outcome, _, error) = c2.ask("release", json!({"grant": "g2"}));
        assert!(outcome == Outcome::Fail && error.unwrap().starts_with("busy"), "{lock}");
        assert_eq!(c2.reply(pending), None);
        c1.ok("release", json!({"grant": "g1"}));
        bed.world.pass(MOMENT);
        assert_eq!(c2.reply(pending).unwrap().0, Outcome::Ok, "{lock}");
    }
}

#[test]
fn every_variant_answers_quiesce_while_its_operation_waits() {
    let asked = |family: &str, recipe: &str| match (family, recipe) {
        ("lock" | "rwlock", _) => [Some("acquire"), Some("acquire")],
        ("election", _) => [Some("elect"), Some("elect")],
        ("barrier", _) => [None, Some("enter")],
        _ => [None, None],
    };
    let mut seen = BTreeSet::new();
    for variant in registry() {
        let [held, waiting] = asked(variant.family, variant.name);
        // Queues of items and registers never wait. `lock/crate` is built on a real ensemble, and a commit keeps its log on
        // the client's disk; it has no background work to wait for.
        let Some(waiting) = waiting.filter(|_| variant.name != "crate") else {
            continue;
        };
        let name = format!("{}/{}", variant.family, variant.name);
        let bed = Bed::new();
        let mut c1 = bed.of("c1", variant.family, variant.name);
        let mut c2 = bed.of("c2", variant.family, variant.name);
        if let Some(f) = held {
            c1.ok(f, json!({"grant": "g1"}));
        }
        let value = json!({"grant": "g2", "round": 1, "members": 2});
        let pending = c2.send(waiting, value);
        bed.world.pass(LONG);
        assert_eq!(c2.reply(pending), None, "{name}: `{waiting}` waits");
        c2.ok("quiesce", json!({}));
        assert_eq!(c2.reply(pending), None, "{name}");
        seen.insert(variant.family);
    }
    assert_eq!(seen, BTreeSet::from(["barrier", "election", "lock", "rwlock"]));
}

#[test]
fn belief_is_checked_before_the_work_and_not_after() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "protected");
    let grant = c1.ok("acquire", json!({"grant": "g1"}));
    let work = c1.send("write", json!({"grant": "g1", "value": 1, "work_ms": 500}));
    bed.net.lose(bed.net.last_session(), OUTAGE);
    bed.world.pass(Duration::from_millis(300));
    assert_eq!(bed.world.lost(), ["g1"]);
    assert!(
        bed.net.server().exists(grant["path"].as_str().unwrap()).is_some(),
        "the work goes on under its znode"
    );
    bed.world.pass(LONG);
    assert_eq!(c1.reply(work).unwrap().0, Outcome::Ok);
    assert_eq!(bed.net.locks(), Vec::<String>::new(), "and no longer");
    for (f, value) in [
        ("write", json!({"grant": "g1", "value": 2})),
        ("release", json!({"grant": "g1"})),
    ] {
        let (outcome, _, error) = c1.ask(f, value);
        assert_eq!((outcome, error.as_deref()), (Outcome::Fail, Some("not-held")), "{f}");
    }
}

#[test]
fn a_confirm_whose_write_fails_confirms_nothing() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "predecessor");
    c1.ok("acquire", json!({"grant": "g1"}));
    bed.net.next("set", Fate::ReplyLost);
    assert_eq!(c1.ask("confirm", json!({})).0, Outcome::Info);
    bed.world.pass(OUTAGE);
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(true));
    bed.net.expire(bed.net.last_session(), MOMENT);
    bed.world.pass(MOMENT);
    assert_eq!(
        c1.ask("confirm", json!({})).0,
        Outcome::Info,
        "its session is over, though it believes"
    );
    assert_eq!(c1.ok("write", json!({"grant": "g1", "value": 1}))["value"], json!(1));
}

#[test]
fn an_idle_predecessor_confirms_in_a_session_for_the_purpose() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "predecessor");
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(false));
    let quiet = c1.ok("quiesce", json!({}));
    assert_eq!((&quiet["sessions"], &quiet["znodes"]), (&json!([]), &json!([])));
    assert_eq!(quiet["counts"]["create"], 0, "a confirm does not count");
}

#[test]
fn quiesce_waits_for_the_clean_up() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "protected");
    c1.ok("acquire", json!({"grant": "g1"}));
    bed.net.lose(bed.net.last_session(), LONG);
    let id = c1.send("quiesce", json!({}));
    assert_eq!(c1.reply(id), None);
    bed.world.pass(LONG);
    assert_eq!(c1.reply(id).unwrap().1["znodes"], json!([]));
    assert_eq!(bed.net.locks(), Vec::<String>::new());
}

#[test]
fn nonsense_is_answered() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "fenced");
    assert!(
        c1.ask("enqueue", json!({}))
            .2
            .unwrap()
            .starts_with("no operation `enqueue`")
    );
    assert!(
        c1.ask("acquire", json!({"grand": "g1"}))
            .2
            .unwrap()
            .contains("missing field `grant`")
    );
    c1.line("what?");
    c1.line(r#"{"id":77}"#);
    assert_eq!(c1.reply(77).unwrap().0, Outcome::Fail);
    c1.ok("ping", json!({}));
}

#[test]
fn lines_are_as_the_protocol_says() {
    let request: Request = serde_json::from_str(r#"{"id":4,"f":"ping"}"#).unwrap();
    assert_eq!((request.value, request.timeout_ms), (Value::Null, None));
    for line in [
        r#"{"type":"hello","protocol":1,"pid":7,"session":null}"#,
        r#"{"type":"hello","protocol":1,"pid":7,"session":null,"cannot":["beside"]}"#,
        r#"{"type":"reply","id":4,"outcome":"info","value":null,"error":"timed out"}"#,
        r#"{"type":"notice","notice":"lost","value":{"grant":"g1","why":"disconnected"}}"#,
    ] {
        let message: Message = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), line);
    }
}

#[test]
fn a_client_that_lost_its_session_while_idle_confirms_in_another_one() {
    for (family, recipe) in [("queue", "fifo"), ("queue", "claimed"), ("barrier", "double")] {
        let bed = Bed::new();
        let mut c1 = bed.of("c1", family, recipe);
        assert!(c1.ok("confirm", json!({}))["zxid"].is_i64(), "{recipe}");
        bed.net.expire(bed.net.last_session(), MOMENT);
        bed.world.pass(LONG);
        assert!(c1.ok("confirm", json!({}))["zxid"].is_i64(), "{recipe}");
    }
}
