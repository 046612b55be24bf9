//! Clients of which none ever has a session.

use super::*;

/// Clients that answer every operation with an unknown outcome for so many milliseconds; why the run failed.
fn failing(bench: &mut Bench, ms: u64) -> Option<String> {
    for _ in 0..ms / 100 {
        bench.pass(100);
        while let Some((client, request)) = bench.sent.first().cloned() {
            bench.answer(client, &request.f, Outcome::Info, Value::Null);
        }
    }
    bench.broken()
}

fn notice(value: Value) -> Message {
    Message::Notice {
        notice: "session".to_string(),
        value,
    }
}

#[test]
fn a_run_of_which_no_client_has_a_session_ends_after_ten_seconds() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.say(0, &notice(json!({"session": null, "state": "disconnected"})));
    assert_eq!(failing(&mut bench, 9_900), None);
    let why = failing(&mut bench, 200).unwrap();
    assert_eq!(why, "no client has had a session in 10 s without a fault.");
    assert_eq!(failing(&mut bench, 30_000), None, "once");
}

#[test]
fn any_sign_of_a_session_lets_it_go_on() {
    let signs: [fn(&mut Bench); 4] = [
        |bench| bench.say(1, &notice(json!({"session": "0x1", "state": "connected"}))),
        |bench| bench.say(1, &notice(json!({"state": "connected"}))),
        |bench| bench.ok(1, "acquire"),
        |bench| {
            bench.ask_control(0, "quiesce");
            bench.pass(0);
            bench.answer(0, "quiesce", Outcome::Ok, json!({"sessions": ["0x1"], "znodes": []}));
        },
    ];
    for sign in signs {
        let mut bench = Bench::running("lock/fenced", 2);
        sign(&mut bench);
        assert_eq!(failing(&mut bench, 9_900), None);
        assert_eq!(failing(&mut bench, 10_000), None);
    }
}

#[test]
fn the_time_of_a_fault_does_not_count() {
    let mut bench = Bench::running("lock/fenced", 2);
    let fault = |phase: &str| {
        let value = json!({"window": 1, "phase": phase, "target": "n1", "verified": true});
        NemesisReport::Record(HistoryEntry::named("nemesis", "partition", value))
    };
    bench.report(7, fault("begin"));
    assert_eq!(failing(&mut bench, 9_000), None);
    bench.report(7, fault("off"));
    assert_eq!(failing(&mut bench, 9_900), None);
    assert!(failing(&mut bench, 200).is_some());
}
