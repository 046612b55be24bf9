//! The client program's requests and replies, line by line.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use zooquake_workloads::protocol::{Message, Outcome, Request};
use zooquake_workloads::recipes::registry;

use crate::bed::{LONG, MOMENT};
use crate::driven::ClientTestBed;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::OUTAGE;

#[test]
fn a_hold_from_its_grant_to_its_release() {
    let [lock, election] = [["acquire", "release"], ["elect", "resign"]];
    for (family, recipe, [ask, give_back], acknowledged) in [
        ("lock", "fenced", lock, false),
        ("election", "ticket", election, false),
        ("election", "acknowledged", election, true),
        ("election", "epoch", election, false),
    ] {
        let bed = ClientTestBed::new();
        let mut c1 = bed.drive("c1", family, recipe);
        assert_eq!(c1.ok("ping", json!({})), json!({}));
        let grant = c1.ok(ask, json!({"grant": "g1"}));
        let token = match recipe {
            "fenced" => grant.get("czxid").cloned(),
            "epoch" => Some(json!(1)),
            _ => None,
        };
        assert_eq!(
            (&grant["grant"], grant.get("token").cloned()),
            (&json!("g1"), token),
            "{recipe}"
        );
        assert_eq!(grant["ack"]["czxid"].is_i64(), acknowledged, "{recipe}");
        let written = c1.ok("write", json!({"grant": "g1", "value": 31, "work_ms": 5}));
        assert_eq!((&written["grant"], &written["value"]), (&json!("g1"), &json!(31)));
        assert_eq!(
            (&written["token"], written.get("ack")),
            (&grant["token"], grant.get("ack"))
        );
        let confirmed = c1.ok("confirm", json!({}));
        assert_eq!((&confirmed["holds"], &confirmed["grant"]), (&json!(true), &json!("g1")));
        assert!(confirmed["zxid"].as_i64() > grant["czxid"].as_i64());
        let quiet = c1.ok("quiesce", json!({}));
        assert_eq!(quiet["sessions"], json!([grant["session"]]));
        let own = json!({"path": grant["path"], "czxid": grant["czxid"]});
        let znodes = quiet["znodes"].as_array().unwrap();
        assert!(
            znodes.contains(&own) && znodes.len() == 1 + usize::from(acknowledged),
            "{recipe}"
        );
        let other = if family == "lock" { "elect" } else { "acquire" };
        let error = c1.failed(other, json!({"grant": "g2"}));
        assert!(error.contains(&format!("{ask}, write, {give_back}")));
        assert_eq!(c1.ok(give_back, json!({"grant": "g1"}))["removed"], own);
        assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(false));
        assert_eq!(c1.ok("quiesce", json!({}))["znodes"], json!([]));
        assert_eq!(bed.net.locks(), Vec::<String>::new());
    }
}

#[test]
fn control_requests_are_answered_while_an_operation_waits() {
    let asked = |family: &str, gate: bool| match family {
        "lock" | "rwlock" => Some(("acquire", "release")),
        "election" => Some(("elect", "resign")),
        "barrier" if gate => Some(("wait", "lift")),
        "barrier" => Some(("enter", "leave")),
        _ => None,
    };
    let mut seen = BTreeSet::new();
    for variant in registry() {
        // Queues of items and registers never wait. `lock/crate` is built on a real ensemble, and of a commit only
        // sites wait, without background work.
        let gate = variant.capabilities.gate;
        let Some((waits, ends)) = asked(variant.family, gate).filter(|_| !variant.client_library) else {
            continue;
        };
        let name = format!("{}/{}", variant.family, variant.name);
        let bed = ClientTestBed::new();
        let mut c1 = bed.drive("c1", variant.family, variant.name);
        let mut c2 = bed.drive("c2", variant.family, variant.name);
        let holds = variant.family != "barrier";
        if holds {
            c1.ok(waits, json!({"grant": "g1"}));
        }
        if gate {
            c1.ok("raise", json!({"round": 1}));
        }
        let value = json!({"grant": "g2", "round": 1, "members": 2});
        let pending = c2.send(waits, value.clone());
        bed.world.pass(LONG);
        assert_eq!(c2.reply(pending), None, "{name}: `{waits}` waits");
        c2.ok("ping", json!({}));
        let confirmed = c2.ok("confirm", json!({}));
        let quiet = c2.ok("quiesce", json!({}));
        assert!(c2.failed(ends, value).starts_with("busy"), "{name}");
        assert_eq!(c2.reply(pending), None, "{name}");
        if holds {
            assert_eq!(confirmed["holds"], json!(false), "{name}");
            // A client that races for one znode has none while it waits.
            let [sessions, znodes] = ["sessions", "znodes"].map(|of| quiet[of].as_array().unwrap().len());
            assert_eq!(
                (sessions, znodes),
                (1, usize::from(variant.name != "ephemeral")),
                "{name}"
            );
            c1.ok(ends, json!({"grant": "g1"}));
            bed.world.pass(MOMENT);
            assert_eq!(c2.reply(pending).unwrap().0, Outcome::Ok, "{name}");
        }
        seen.insert(variant.family);
    }
    assert_eq!(seen, BTreeSet::from(["barrier", "election", "lock", "rwlock"]));
}

#[test]
fn belief_is_checked_before_the_work_and_not_after() {
    let bed = ClientTestBed::new();
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
        assert_eq!(c1.failed(f, value), "not-held", "{f}");
    }
}

#[test]
fn a_confirm_whose_write_fails_confirms_nothing() {
    let bed = ClientTestBed::new();
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
    let bed = ClientTestBed::new();
    let mut c1 = bed.client("c1", "predecessor");
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(false));
    let quiet = c1.ok("quiesce", json!({}));
    assert_eq!((&quiet["sessions"], &quiet["znodes"]), (&json!([]), &json!([])));
    assert_eq!(quiet["counts"]["create"], 0, "a confirm does not count");
}

#[test]
fn quiesce_waits_for_the_clean_up() {
    let bed = ClientTestBed::new();
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
    let bed = ClientTestBed::new();
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
        let bed = ClientTestBed::new();
        let mut c1 = bed.drive("c1", family, recipe);
        assert!(c1.ok("confirm", json!({}))["zxid"].is_i64(), "{recipe}");
        bed.net.expire(bed.net.last_session(), MOMENT);
        bed.world.pass(LONG);
        assert!(c1.ok("confirm", json!({}))["zxid"].is_i64(), "{recipe}");
    }
}
