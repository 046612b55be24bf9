//! Faults on the wire between a client and a real ensemble.

use crate::common::{EnsembleSlot, Ran, Runs, run};
use serde_json::Value;

/// The windows of a fault that count.
fn counting(ran: &Ran, fault: &str) -> usize {
    let windows = ran.results["windows"].as_array().expect("a list of windows");
    windows
        .iter()
        .filter(|window| window["fault"] == fault && window["counts"] == true)
        .count()
}

/// The JSON lines of a file of the run.
fn lines(ran: &Ran, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(ran.folder.join(file)).expect(file);
    let values = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    values.collect()
}

/// What the proxy said that it had lost, by window.
fn lost(ran: &Ran) -> Vec<Value> {
    let events = lines(ran, "history.jsonl").into_iter();
    events
        .filter(|event| event["process"] == "nemesis")
        .filter_map(|event| event["value"].get("evidence").cloned())
        .collect()
}

#[test]
fn protected_survives_lost_replies() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("wire-protected");
    let arguments = [
        "lock/protected",
        "--faults",
        "drop-reply",
        "--time",
        "12s",
        "--seed",
        "1",
    ];
    let ran = run(&runs, &arguments);
    assert!(
        ran.damage().iter().all(|kind| kind == "stale-write"),
        "{:?}: {}",
        ran.damage(),
        ran.story()
    );
    assert_ne!(ran.code, 2, "{}", ran.story());
    assert!(counting(&ran, "drop-reply") >= 2, "{}", ran.story());

    // What the proxy calls applied stands in the servers' own logs, under that zxid.
    let logged = lines(&ran, "txnlog.jsonl");
    let lost = lost(&ran);
    let applied = lost.iter().filter(|lost| lost["outcome"] == "applied");
    for reply in applied.clone() {
        let found = logged.iter().any(|txn| txn["zxid"] == reply["zxid"]);
        assert!(found, "{reply} is in no server's log: {}", ran.story());
    }
    assert!(applied.count() >= 2, "{lost:?}");
}

#[test]
fn children_leaves_an_orphan_when_the_reply_to_its_create_is_lost() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("wire-children");
    let arguments = ["lock/children", "--faults", "drop-reply", "--time", "9s", "--seed", "1"];
    let ran = run(&runs, &arguments);
    let damage = ran.damage();
    assert!(
        damage.iter().any(|kind| kind == "orphan-node" || kind == "lost-wakeup"),
        "{damage:?}: {}",
        ran.story()
    );
    assert_eq!(
        (ran.code, counting(&ran, "drop-reply") > 0),
        (1, true),
        "{}",
        ran.story()
    );
}

#[test]
fn fenced_is_valid_when_connections_are_cut() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("wire-cut");
    let ran = run(
        &runs,
        &["lock/fenced", "--faults", "disconnect", "--time", "12s", "--seed", "1"],
    );
    assert_eq!((ran.code, ran.damage()), (0, Vec::new()), "{}", ran.story());
    assert!(counting(&ran, "disconnect") > 0, "{}", ran.story());
}

#[test]
fn fenced_is_valid_when_sessions_are_closed_from_outside_and_their_clients_learn_it() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("wire-expire");
    let ran = run(
        &runs,
        &["lock/fenced", "--faults", "expire", "--time", "12s", "--seed", "1"],
    );
    assert_eq!((ran.code, ran.damage()), (0, Vec::new()), "{}", ran.story());
    assert!(counting(&ran, "expire") >= 2, "{}", ran.story());

    let (events, logged) = (lines(&ran, "history.jsonl"), lines(&ran, "txnlog.jsonl"));
    let on = |event: &&Value| event["process"] == "nemesis" && event["value"]["phase"] == "on";
    for window in events.iter().filter(on) {
        let detail = window["value"]["detail"].as_str().expect("what was seen");
        // session 0x… was closed from another connection, as zxid 0x…, and is refused since
        let words: Vec<&str> = detail.split([' ', ',']).filter(|word| word.starts_with("0x")).collect();
        let [session, zxid] = words[..] else { panic!("{detail}") };
        let zxid = i64::from_str_radix(&zxid[2..], 16).expect("a zxid");
        let closed = |txn: &Value| txn["zxid"] == zxid && txn["op"] == "closeSession" && txn["session"] == session;
        assert!(logged.iter().any(closed), "{detail}: {}", ran.story());
        let learnt = |event: &Value| {
            event["f"] == "session" && event["value"]["session"] == session && event["value"]["state"] == "expired"
        };
        assert!(events.iter().any(learnt), "{detail}: {}", ran.story());
    }
}
