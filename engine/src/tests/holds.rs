//! Holds, confirms and the resource.

use super::*;
use zooquake_history::operation::grant::ACCEPTED;

/// Both clients believe that they hold.
fn both_hold() -> Bench {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.ok(0, "acquire");
    bench.pass(100);
    assert!(!bench.asked(0, "confirm"), "one holder is not asked");
    bench.ok(1, "acquire");
    bench
}

#[test]
fn two_that_hold_are_asked_to_confirm_at_once_and_at_most_twice_a_second() {
    let mut bench = both_hold();
    assert!(bench.asked(0, "confirm") && bench.asked(1, "confirm"));
    bench.answer(0, "confirm", Outcome::Ok, json!({ "holds": true, "grant": "g1" }));
    bench.pass(499);
    assert!(!bench.asked(0, "confirm"));
    bench.pass(1);
    assert!(bench.asked(0, "confirm"));
    let waiting = bench
        .sent
        .iter()
        .filter(|(to, request)| *to == 1 && request.f == "confirm");
    assert_eq!(waiting.count(), 1, "one that has not answered is not asked again");
}

#[test]
fn only_an_answer_to_what_was_asked_after_the_grant_was_read_ends_the_hold() {
    let mut bench = Bench::running("lock/fenced", 3);
    bench.ok(0, "acquire");
    // c2 was asked in an earlier hold; the answer comes when it has another one.
    bench.ask_control(1, "confirm");
    bench.step(Input::Turn);
    bench.ok(1, "acquire");
    bench.answer(1, "confirm", Outcome::Ok, json!({ "holds": false }));
    assert!(bench.engine.clients.holds.is_holder_of(1, "g2"));
    bench.pass(500);
    bench.answer(1, "confirm", Outcome::Ok, json!({ "holds": false }));
    assert!(!bench.engine.clients.holds.is_holder(1));
}

#[test]
fn a_confirm_that_failed_says_nothing() {
    let mut bench = both_hold();
    for outcome in [Outcome::Info, Outcome::Fail] {
        bench.answer(1, "confirm", outcome, json!({ "holds": false }));
        assert!(bench.engine.clients.holds.is_holder(1));
        bench.pass(500);
    }
}

#[test]
fn a_hold_ends_when_its_release_is_sent_and_when_its_client_says_so_or_dies() {
    let mut bench = Bench::running("lock/fenced", 1);
    bench.ok(0, "acquire");
    assert_eq!(bench.holder(), Some(&Node::client(1)));
    bench.pass(0);
    bench.ok_at_once(0, "write");
    assert!(bench.asked(0, "release"));
    assert_eq!(bench.holder(), None);

    for ending in ["lost", "not-held", "dies"] {
        let mut bench = Bench::working("lock/fenced", 1);
        let lost = |grant: &str| Message::Notice {
            notice: "lost".to_string(),
            value: json!({ "grant": grant }),
        };
        bench.say(0, &lost("g77"));
        assert_eq!(bench.holder(), Some(&Node::client(1)), "that is another grant");
        match ending {
            "lost" => bench.say(0, &lost("g1")),
            "not-held" => bench.answer(0, "write", Outcome::Fail, Value::Null),
            _ => bench.output(0, ProcessOutput::Ended),
        }
        assert_eq!(bench.holder(), None, "{ending}");
    }
}

#[test]
fn the_resource_refuses_a_token_lower_than_the_highest() {
    let mut bench = both_hold();
    bench.pass(0);
    for (client, grant, token) in [(1, "g2", 9), (0, "g1", 5)] {
        let written = json!({ "grant": grant, "value": 1, "token": token });
        bench.answer(client, "write", Outcome::Ok, written);
    }
    let told = |entry: &&HistoryEntry| (entry.kind, ACCEPTED.read_from(&entry.value));
    let told: Vec<_> = bench.completions("write").iter().map(told).collect();
    let (accepted, refused) = ((EventType::Ok, Some(true)), (EventType::Fail, Some(false)));
    assert_eq!(told, [accepted, refused]);
}

#[test]
fn the_resource_checks_no_token_that_nobody_promised() {
    let mut bench = Bench::running("lock/protected", 2);
    for (client, grant, token) in [(1, "g2", 9), (0, "g1", 5)] {
        bench.ok(client, "acquire");
        bench.pass(100);
        let written = json!({ "grant": grant, "value": 1, "token": token });
        bench.answer(client, "write", Outcome::Ok, written);
    }
    let completions = bench.completions("write");
    let accepted: Vec<_> = completions
        .iter()
        .map(|entry| ACCEPTED.read_from(&entry.value))
        .collect();
    assert_eq!(accepted, [Some(true); 2]);
}

/// A window is seen to be healed.
fn heal(bench: &mut Bench) {
    let off = json!({ "window": 1, "phase": "off", "verified": true });
    bench.report(
        1,
        NemesisReport::Record(HistoryEntry::named("nemesis", "partition", off)),
    );
}

/// A client of a family whose work is done, after a window was healed while it held; it is to give back.
fn healed_of(name: &str, acquire: &str, work: &str) -> Bench {
    let mut bench = Bench::running(name, 2);
    bench.ok_at_once(0, acquire);
    heal(&mut bench);
    bench.ok_at_once(0, work);
    bench
}

fn healed() -> Bench {
    healed_of("lock/fenced", "acquire", "write")
}

#[test]
fn after_a_healed_window_a_holder_confirms_before_it_gives_back() {
    let mut bench = healed();
    assert!(bench.asked(0, "confirm") && !bench.asked(0, "release"));
    bench.answer(0, "confirm", Outcome::Info, Value::Null);
    bench.pass(500);
    assert!(!bench.asked(0, "release"), "it could not say");
    let holds = json!({ "holds": true, "grant": "g1" });
    bench.answer(0, "confirm", Outcome::Ok, holds);
    bench.pass(0);
    assert!(bench.asked(0, "release"));
    bench.ok(0, "release");
    bench.pass(20);
    bench.ok_at_once(0, "acquire");
    bench.ok_at_once(0, "write");
    assert!(bench.asked(0, "release"), "only what it held when that was healed");
}

#[test]
fn a_confirm_that_was_asked_before_the_healing_is_not_enough() {
    let mut bench = Bench::working("lock/fenced", 2);
    bench.ask_control(0, "confirm");
    heal(&mut bench);
    bench.ok_at_once(0, "write");
    bench.answer(0, "confirm", Outcome::Ok, json!({ "holds": true, "grant": "g1" }));
    bench.pass(0);
    assert!(!bench.asked(0, "release") && bench.asked(0, "confirm"));
}

#[test]
fn a_release_waits_for_a_confirm_for_two_session_timeouts_at_most() {
    let mut bench = healed();
    bench.pass(3_999);
    assert!(!bench.asked(0, "release"));
    bench.pass(1);
    assert!(bench.asked(0, "release"));
}

#[test]
fn who_says_that_it_holds_no_more_gives_back_at_once() {
    let mut bench = healed();
    bench.answer(0, "confirm", Outcome::Ok, json!({ "holds": false }));
    bench.pass(0);
    assert!(bench.asked(0, "release"));
    assert_eq!(bench.holder(), None);
}

#[test]
fn a_window_that_is_not_seen_healed_withholds_nothing() {
    for off in [
        json!({ "window": 1, "phase": "skipped" }),
        json!({ "window": 1, "phase": "off", "verified": false }),
    ] {
        let mut bench = Bench::working("lock/fenced", 2);
        bench.report(1, NemesisReport::Record(HistoryEntry::named("nemesis", "kill", off)));
        bench.ok_at_once(0, "write");
        assert!(bench.asked(0, "release"));
    }
}

/// The first client cannot confirm, twice; the second answer is read half a second after the first.
fn twice_unknown(bench: &mut Bench) {
    bench.answer(0, "confirm", Outcome::Info, Value::Null);
    bench.pass(500);
    bench.answer(0, "confirm", Outcome::Info, Value::Null);
}

#[test]
fn who_cannot_confirm_twice_is_asked_to_work_under_the_same_grant_again_and_again() {
    for (name, acquire, work) in [
        ("lock/fenced", "acquire", "write"),
        ("election/epoch", "elect", "write"),
        ("semaphore/leases", "acquire", "work"),
    ] {
        let mut bench = healed_of(name, acquire, work);
        for round in 0..3 {
            bench.answer(0, "confirm", Outcome::Info, Value::Null);
            bench.pass(499);
            assert!(!bench.asked(0, work), "{name} {round}: once is not enough");
            bench.pass(1);
            bench.answer(0, "confirm", Outcome::Info, Value::Null);
            let sent = bench.sent.iter().find(|(to, request)| *to == 0 && request.f == work);
            let (_, request) = sent.unwrap_or_else(|| panic!("{name} {round}: {:?}", bench.sent));
            assert_eq!(
                (&request.value["grant"], &request.value["work_ms"]),
                (&json!("g1"), &json!(0))
            );
            bench.ok(0, work);
            bench.pass(500);
            let release = bench
                .sent
                .iter()
                .any(|(to, request)| *to == 0 && request.f.starts_with("re"));
            assert!(
                !release && bench.holder() == Some(&Node::client(1)),
                "{name} {round}: it has not confirmed"
            );
        }
        // 3 s have passed; what it writes is no answer to a `confirm`.
        bench.pass(1_000);
        assert_eq!(bench.holder(), None, "{name}");
    }
}

#[test]
fn who_does_not_hold_any_more_when_it_is_asked_to_work_gives_back_at_once() {
    let mut bench = healed();
    twice_unknown(&mut bench);
    bench.answer(0, "write", Outcome::Fail, Value::Null);
    assert_eq!(bench.holder(), None);
    bench.pass(0);
    assert!(bench.asked(0, "release") && !bench.asked(0, "write"));
}

#[test]
fn only_answers_to_what_was_asked_after_a_healing_count_and_a_failure_is_none() {
    let mut bench = Bench::working("lock/fenced", 2);
    bench.ask_control(0, "confirm");
    heal(&mut bench);
    bench.ok_at_once(0, "write");
    twice_unknown(&mut bench);
    assert!(!bench.asked(0, "write"), "the first was asked before");
    bench.pass(500);
    bench.answer(0, "confirm", Outcome::Fail, Value::Null);
    assert!(!bench.asked(0, "write"));
    bench.pass(500);
    bench.answer(0, "confirm", Outcome::Info, Value::Null);
    assert!(bench.asked(0, "write"));
}

#[test]
fn a_release_that_waits_is_not_put_off_by_another_healing() {
    let mut bench = healed();
    for _ in 0..3 {
        bench.pass(1_000);
        heal(&mut bench);
    }
    bench.pass(999);
    assert!(!bench.asked(0, "release"));
    bench.pass(1);
    assert!(bench.asked(0, "release"), "two session timeouts after the first");
}

#[test]
fn a_healing_while_it_works_is_one_more_to_confirm_after() {
    let mut bench = Bench::working("lock/fenced", 2);
    heal(&mut bench);
    bench.pass(5_000);
    heal(&mut bench);
    bench.ok(0, "write");
    bench.pass(3_999);
    assert!(bench.asked(0, "confirm") && !bench.asked(0, "release"));
    bench.pass(1);
    assert!(bench.asked(0, "release"));
}
