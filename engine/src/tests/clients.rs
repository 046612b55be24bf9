//! The clients' processes, operations and first session.

use super::*;

#[test]
fn operations_begin_when_all_have_said_hello() {
    let mut bench = Bench::new("lock/fenced", 2);
    bench.step(Input::Begin);
    let second = bench.starting.pop().unwrap();
    bench.greet(&[]);
    bench.pass(1_000);
    assert_eq!(bench.phases(), [""; 0]);
    bench.starting.push(second);
    bench.greet(&[]);
    bench.pass(0);
    assert_eq!(bench.phases(), ["ops"]);
    assert_eq!(bench.phases(), ["ops"]);
    assert!(bench.asked(0, "acquire") && bench.asked(1, "acquire"));
}

#[test]
fn what_a_kit_does_for_a_recipe_is_recorded() {
    let bench = Bench::running("lock/fenced", 2);
    let hellos: Vec<&Value> = bench
        .history
        .iter()
        .filter(|entry| entry.f == "hello")
        .map(|entry| &entry.value)
        .collect();
    let expected = json!({ "pid": 7, "incarnation": 1, "session": null, "kit": ["release"] });
    assert_eq!(hellos, [&expected; 2]);
}

#[test]
fn a_client_that_says_no_hello_or_cannot_be_started_ends_the_run() {
    let mut bench = Bench::new("lock/fenced", 2);
    bench.step(Input::Begin);
    bench.starting.pop();
    bench.greet(&[]);
    bench.pass(29_999);
    assert_eq!(bench.broken(), None);
    bench.pass(1);
    let why = bench.broken().unwrap();
    assert_eq!(why, "clients [\"c2\"] sent no hello within 30 s.");

    let mut bench = Bench::new("lock/fenced", 1);
    bench.step(Input::Begin);
    bench.step(Input::Started {
        client: 0,
        incarnation: 1,
        started: Err(StartError {
            why: "no such container".to_string(),
            unreachable: false,
        }),
    });
    assert_eq!(bench.broken().unwrap(), "no such container");
}

#[test]
fn a_client_that_breaks_the_protocol_or_ends_by_itself_ends_the_run() {
    let mut bench = Bench::running("lock/fenced", 1);
    bench.output(0, ProcessOutput::Line("what?".to_string()));
    assert!(bench.broken().unwrap().contains("not a message of the protocol: what?"));
    bench.output(0, ProcessOutput::Ended);
    assert_eq!(bench.broken().unwrap(), "client c1 ended by itself.");
}

#[test]
fn an_answer_to_nothing_that_is_open_is_recorded_and_the_run_goes_on() {
    let mut bench = Bench::running("lock/fenced", 1);
    let unasked = Message::Reply {
        id: 99,
        outcome: Outcome::Ok,
        value: Value::Null,
        error: None,
    };
    bench.say(0, &unasked);
    assert_eq!(bench.broken(), None);
    let recorded = bench.history.last().unwrap();
    assert_eq!(
        (recorded.f.as_str(), &recorded.node),
        ("unasked", &Some(Node::client(1)))
    );
    assert_eq!(recorded.value, json!({ "id": 99, "outcome": "ok", "value": null }));
    bench.ok_at_once(0, "acquire");
    assert_eq!(
        bench.holder(),
        Some(&Node::client(1)),
        "its own request is still answered"
    );
}

#[test]
fn an_operation_is_recorded_before_it_is_sent_and_completes_under_its_process() {
    let mut bench = Bench::running("lock/fenced", 2);
    let effects = {
        let mut bench = Bench::new("lock/fenced", 1);
        bench.step(Input::Begin);
        bench.greet(&[]);
        bench.engine.step(bench.now, Input::Turn)
    };
    let recorded = |effect: &Effect| matches!(effect, Effect::Record(entry) if entry.f == "acquire");
    let sent = |effect: &Effect| matches!(effect, Effect::Send { .. });
    assert!(effects.iter().position(recorded).unwrap() < effects.iter().position(sent).unwrap());

    bench.answer(1, "acquire", Outcome::Info, Value::Null);
    let end = bench.history.last().unwrap();
    assert_eq!((&end.process, end.kind), (&Process::Number(1), EventType::Info));
    assert_eq!(end.value, json!({ "grant": "g2" }), "it is still about its grant");
    bench.pass(50);
    let next = bench.history.last().unwrap();
    assert_eq!(
        next.process,
        Process::Number(3),
        "after an unknown end the process is another one"
    );
}

#[test]
fn an_interrupt_heals_and_gives_up_what_follows() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.step(Input::Interrupted);
    assert_eq!(bench.phases(), ["ops", "interrupted", "heal"]);
    assert!(took!(bench, Effect::Done(Conclusion::Interrupted)));

    let mut bench = Bench::recovering("lock/fenced", 2);
    bench.step(Input::Interrupted);
    assert_eq!(bench.phases(), ["ops", "heal", "recover", "interrupted"]);
    assert!(took!(bench, Effect::Done(Conclusion::Interrupted)));
}

#[test]
fn the_status_names_a_holder_only_where_there_is_one() {
    let mut bench = Bench::working("lock/fenced", 2);
    let status = |bench: &Bench| bench.engine.status(bench.now).text;
    assert!(status(&bench).ends_with("c1 holds"), "{}", status(&bench));
    for name in [
        "commit/atomic",
        "counter/versioned",
        "register/read",
        "membership/cached",
        "barrier/double",
        "queue/fifo",
    ] {
        bench = Bench::running(name, 3);
        bench.pass(1_000);
        let text = status(&bench);
        let waiting = bench.engine.clients.waiting();
        assert!(
            text.ends_with(&format!("{waiting} of 3 clients wait for an answer")),
            "{name}: {text}"
        );
        assert!(!text.contains("holds"), "{name}: {text}");
        // No transaction is planned here.
        assert_eq!(waiting > 0, name != "commit/atomic", "{name}: {text}");
    }
}

#[test]
fn a_member_that_loses_its_connection_is_left_alone_every_other_time() {
    let mut bench = Bench::running("membership/cached", 2);
    let left_alone = |bench: &mut Bench| {
        bench.all_ok("register");
        let notice = "session".to_owned();
        let value = json!({"session": "0x1", "state": "disconnected"});
        bench.say(0, &Message::Notice { notice, value });
        let lost = bench.now;
        while !["register", "update", "deregister"].iter().any(|f| bench.asked(0, f)) {
            bench.pass(10);
        }
        let lasted = bench.now - lost;
        for f in ["register", "update", "deregister"] {
            bench.all_ok(f);
        }
        lasted >= Duration::from_millis(500)
    };
    let member = [left_alone(&mut bench), left_alone(&mut bench)];
    assert_eq!(member, [true, false]);
}

/// Clients that never have a session answer every operation with an unknown outcome for so many milliseconds; why the
/// run failed.
fn failing(bench: &mut Bench, ms: u64) -> Option<String> {
    for _ in 0..ms / 100 {
        bench.pass(100);
        while let Some((client, request)) = bench.sent.first().cloned() {
            bench.answer(client, &request.f, Outcome::Info, Value::Null);
        }
    }
    bench.broken()
}

fn session_notice(value: Value) -> Message {
    Message::Notice {
        notice: "session".to_string(),
        value,
    }
}

#[test]
fn a_run_of_which_no_client_has_a_session_ends_after_ten_seconds() {
    let mut bench = Bench::running("lock/fenced", 2);
    bench.say(0, &session_notice(json!({"session": null, "state": "disconnected"})));
    assert_eq!(failing(&mut bench, 9_900), None);
    let why = failing(&mut bench, 200).unwrap();
    assert_eq!(why, "no client has had a session in 10 s without a fault.");
    assert_eq!(failing(&mut bench, 30_000), None, "once");
}

#[test]
fn any_sign_of_a_session_lets_it_go_on() {
    let signs: [fn(&mut Bench); 4] = [
        |bench| bench.say(1, &session_notice(json!({"session": "0x1", "state": "connected"}))),
        |bench| bench.say(1, &session_notice(json!({"state": "connected"}))),
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
