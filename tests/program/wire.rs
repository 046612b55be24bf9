//! Faults on the wire between a client and a real ensemble.

use crate::common::{EnsembleSlot, RunFiles, Runs, document, run, valid};
use serde_json::Value;

/// A run under a fault on the wire is judged, with the number of windows that count.
fn shaken(name: &str, faults: &str, time: &str, judge: impl FnOnce(&RunFiles, usize)) {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new(&format!("wire-{faults}"));
    let ran = run(&runs, &format!("{name} --faults {faults} --time {time} --seed 1"));
    judge(&ran, counting(&ran, faults));
}

/// The windows of faults that count.
fn counting(ran: &RunFiles, faults: &str) -> usize {
    let windows = ran.results["windows"].as_array().expect("a list of windows");
    windows
        .iter()
        .filter(|window| faults.split(',').any(|fault| window["fault"] == fault) && window["counts"] == true)
        .count()
}

/// The evidence of the proxy about what it dropped, by window.
fn lost(ran: &RunFiles) -> Vec<Value> {
    let events = ran.lines("history.jsonl").into_iter();
    events
        .filter(|event| event["process"] == "nemesis")
        .filter_map(|event| event["value"].get("evidence").cloned())
        .collect()
}

#[test]
fn protected_survives_lost_replies() {
    shaken("lock/protected", "drop-reply", "12s", |ran, counting| {
        ran.at_most("stale-write");
        assert_ne!(ran.code, 2, "{}", ran.story());
        assert!(counting >= 2, "{}", ran.story());

        // What the proxy calls applied stands in the servers' own logs, under that zxid.
        let logged = ran.lines("txnlog.jsonl");
        let lost = lost(ran);
        let applied = lost.iter().filter(|lost| lost["outcome"] == "applied");
        for reply in applied.clone() {
            let found = logged.iter().any(|txn| txn["zxid"] == reply["zxid"]);
            assert!(found, "{reply} is in no server's log: {}", ran.story());
        }
        assert!(applied.count() >= 2, "{lost:?}");
    });
}

#[test]
fn children_leaves_an_orphan_when_the_reply_to_its_create_is_lost() {
    shaken("lock/children", "drop-reply", "9s", |ran, counting| {
        let damage = ran.damage();
        let left = damage.iter().any(|kind| kind == "orphan-node" || kind == "lost-wakeup");
        assert!(left, "{damage:?}: {}", ran.story());
        assert_eq!((ran.code, counting > 0), (1, true), "{}", ran.story());
    });
}

/// The events of a window's phase that were verified, with the window in the plan.
fn seen(ran: &RunFiles, phase: &str) -> Vec<(Value, Value)> {
    let plan = document(&ran.folder, "plan.json");
    let windows = plan["windows"].as_array().expect("windows").clone();
    let events = ran.lines("history.jsonl").into_iter();
    let of_nemesis = events.filter(|event| event["process"] == "nemesis");
    let seen = of_nemesis.filter(|event| event["value"]["phase"] == phase && event["value"]["verified"] == true);
    let window = |event: &Value| {
        windows
            .iter()
            .find(|window| window["id"] == event["value"]["window"])
            .cloned()
    };
    seen.map(|event| (window(&event).expect("a window of the plan"), event["value"].clone()))
        .collect()
}

/// The session timeout of the plan.
fn session_ms(ran: &RunFiles) -> u64 {
    let plan = document(&ran.folder, "plan.json");
    let session_ms = &plan["cluster"]["timing"]["session_ms"];
    session_ms.as_u64().expect("a timing")
}

/// The milliseconds that stand behind these words.
fn ms_after(detail: &Value, words: &str) -> f64 {
    let detail = detail.as_str().expect("what was seen");
    let (_, rest) = detail.split_once(words).unwrap_or_else(|| panic!("{words}: {detail}"));
    let number = rest
        .trim_start()
        .split([' ', ';'])
        .next()
        .and_then(|ms| ms.parse().ok());
    number.unwrap_or_else(|| panic!("{words}: {detail}"))
}

#[test]
fn claimed_is_valid_when_replies_are_kept_back_and_delivered_later() {
    shaken("queue/claimed", "hold-reply", "20s", |ran, counting| {
        valid(ran);
        assert!(counting >= 3, "{}", ran.story());

        let logged = ran.lines("txnlog.jsonl");
        for (_, on) in seen(ran, "on") {
            let evidence = &on["evidence"];
            assert_eq!(
                (&evidence["held"], &evidence["outcome"]),
                (&"reply".into(), &"applied".into())
            );
            let applied = |txn: &Value| txn["zxid"] == evidence["zxid"] && txn["session"] == evidence["session"];
            assert!(
                logged.iter().any(applied),
                "{evidence} is in no server's log: {}",
                ran.story()
            );
        }
        let session_ms = session_ms(ran);
        let became: Vec<(u64, bool)> = seen(ran, "off")
            .into_iter()
            .map(|(window, off)| {
                let (ms, evidence) = (window["duration_ms"].as_u64().expect("how long"), &off["evidence"]);
                let (held_ms, delivered) = (evidence["ms"].as_u64(), evidence["delivered"].as_bool());
                let delivered = delivered.expect("what became of it");
                // A client gives a connection up when it has received nothing for two fifths of its session timeout.
                assert_eq!(delivered, ms < session_ms / 3, "{off}");
                let least = if delivered { ms } else { session_ms / 5 };
                assert!(held_ms.is_some_and(|held_ms| held_ms >= least), "{off}");
                assert!(evidence["bytes"].as_u64().is_some_and(|bytes| bytes >= 20), "{off}");
                (ms, delivered)
            })
            .collect();
        for delivered in [true, false] {
            assert!(became.iter().any(|(_, this)| *this == delivered), "{became:?}");
        }
    });
}

#[test]
fn fenced_is_valid_when_all_that_passes_is_late() {
    shaken("lock/fenced", "latency", "12s", |ran, counting| {
        valid(ran);
        assert!(counting >= 2, "{}", ran.story());
        for (window, on) in seen(ran, "on") {
            let of = |field: &str| window["latency"][field].as_f64().expect("a latency");
            let through = ms_after(&on["detail"], "through the proxy was answered after");
            assert!(through >= 2.0 * (of("ms") - of("jitter_ms")), "{on}");
            assert!(ms_after(&on["detail"], "one past it after") < through, "{on}");
        }
        for (window, off) in seen(ran, "off") {
            let through = ms_after(&off["detail"], "through the proxy was answered after");
            assert!(through < window["latency"]["ms"].as_f64().expect("a latency"), "{off}");
        }
    });
}

#[test]
fn fenced_is_valid_when_nothing_passes_for_longer_than_a_session_and_for_less() {
    shaken("lock/fenced", "stall", "20s", |ran, counting| {
        valid(ran);
        assert!(counting >= 2, "{}", ran.story());
        let session_ms = session_ms(ran);
        let events = ran.lines("history.jsonl");
        let mut longer = 0;
        for (window, on) in seen(ran, "on") {
            assert!(ms_after(&on["detail"], "bytes that wait:") > 0.0, "{on}");
            assert!(ms_after(&on["detail"], "had no answer for") >= 300.0, "{on}");
            if window["duration_ms"].as_u64().expect("how long") > session_ms {
                longer += 1;
                let expired = |event: &Value| {
                    event["process"] == on["target"] && event["f"] == "session" && event["value"]["state"] == "expired"
                };
                assert!(events.iter().any(expired), "{on}: {}", ran.story());
            }
        }
        assert!(longer > 0 && seen(ran, "off").len() >= 2, "{}", ran.story());
    });
}

#[test]
fn fenced_is_valid_when_clients_are_let_to_one_server_alone_where_their_sessions_go_on() {
    shaken("lock/fenced", "move,pin", "15s", |ran, counting| {
        valid(ran);
        assert!(counting >= 2, "{}", ran.story());
        for (_, on) in seen(ran, "on") {
            assert!(ms_after(&on["detail"], "to other servers closed:") >= 0.0, "{on}");
        }
        let closed = |(_, on): &(Value, Value)| ms_after(&on["detail"], "to other servers closed:") > 0.0;
        assert!(seen(ran, "on").iter().any(closed), "{}", ran.story());
        for (_, off) in seen(ran, "off") {
            assert_eq!(ms_after(&off["detail"], "reach"), 3.0, "{off}");
        }
        let expired = |event: &Value| event["f"] == "session" && event["value"]["state"] == "expired";
        assert!(!ran.lines("history.jsonl").iter().any(expired), "{}", ran.story());
    });
}

#[test]
fn fenced_is_valid_when_connections_are_cut() {
    shaken("lock/fenced", "disconnect", "12s", |ran, counting| {
        valid(ran);
        assert!(counting > 0, "{}", ran.story());
    });
}

#[test]
fn fenced_is_valid_when_sessions_are_closed_from_outside_and_their_clients_learn_it() {
    shaken("lock/fenced", "expire", "12s", |ran, counting| {
        valid(ran);
        assert!(counting >= 2, "{}", ran.story());

        let (events, logged) = (ran.lines("history.jsonl"), ran.lines("txnlog.jsonl"));
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
    });
}

/// The cut goes through connections that a proxy makes for the servers.
#[test]
fn fenced_is_valid_while_followers_are_behind_and_while_servers_are_cut_off() {
    shaken("lock/fenced", "lag,partition", "24s", |ran, _| {
        valid(ran);
        assert!(
            counting(ran, "lag") > 0 && counting(ran, "partition") > 0,
            "{}",
            ran.story()
        );
        let plan = document(&ran.folder, "plan.json");
        let timing = &plan["cluster"]["timing"];
        let sync_ms = timing["sync_limit"].as_u64().zip(timing["tick_ms"].as_u64());
        let sync_ms = sync_ms.map(|(limit, tick)| limit * tick).expect("a timing");
        let windows = plan["windows"].as_array().expect("windows");
        let events = ran.lines("history.jsonl");
        let output = |id: &Value, phase: &str| {
            // A server that does not serve yet is looked at again.
            let is = |event: &&Value| {
                let value = &event["value"];
                value["window"] == *id && value["phase"] == phase && value["verified"] == true
            };
            let mut of_nemesis = events.iter().filter(|event| event["process"] == "nemesis");
            of_nemesis.find(is).cloned()
        };
        for window in windows.iter().filter(|window| window["fault"] == "lag") {
            let Some(on) = output(&window["id"], "on") else {
                continue;
            };
            let delay_ms = sync_ms * window["lag"]["delay_percent"].as_u64().expect("a delay") / 100;
            let detail = on["value"]["detail"].as_str().expect("what was seen");
            // … was not yet read on n2, as a client there reads, 684 ms later, and was after 693 ms; …
            let missed = detail
                .split(" ms later")
                .next()
                .and_then(|before| before.split(' ').next_back());
            let missed: u64 = missed.and_then(|ms| ms.parse().ok()).expect("how late it was");
            assert!(missed >= delay_ms * 3 / 4, "{delay_ms}: {detail}");
            assert!(output(&window["id"], "off").is_some(), "{}", ran.story());
        }
    });
}
