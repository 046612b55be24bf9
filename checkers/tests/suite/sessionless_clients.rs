//! Clients of which the record has no session at all: their liveness is not judged.

use crate::expect::{has_reason, kinds, none};
use crate::script::{changed, history, in_time, record};
use zooquake_checkers::{Results, Verdict, check};
use zooquake_history::Record;

/// Two clients that are answered nothing after recovery. Of the first one the record has a session, of the second one
/// what `sign` adds.
fn waiting(sign: &str) -> Record {
    let text = format!(
        "0 c1 note hello session=null; 0.01 c2 note hello session=null; 0.02 c1 note session session=0x1 state=connected; {sign}
         1 run recover; 1.1 c1 quiesce; 1.1 c2 quiesce; 1.2 c1 quiesced sessions=0x1; 1.2 c2 quiesced
         2 run recovered; 3 c2 acquire b; 60 run audit; 61 run done"
    );
    changed(
        record("lock", "protected", &["/lock"], 2, history(&in_time(&text))),
        |record| {
            let log = vec!["connecting: TypeError: the adapter's mistake".to_owned()];
            record.client_logs.insert("c2".to_owned(), log);
        },
    )
}

fn waiter(results: &Results) -> bool {
    kinds(results).contains(&"lost-wakeup")
}

#[test]
fn one_that_never_had_a_session_is_named_with_the_end_of_its_log() {
    let results = none(&waiting(""));
    assert_eq!(results.verdict, Verdict::Unknown);
    has_reason(
        &results,
        "c2 never had a session, so its liveness is not judged; the last line of its log: connecting: TypeError: the adapter's mistake",
    );
    assert!(
        !results.reasons.iter().any(|reason| reason.contains("c1 never")),
        "{results:#?}"
    );
}

#[test]
fn any_session_or_success_has_it_judged() {
    for sign in [
        "0.03 c2 note session session=0x2 state=connected;",
        "0.03 c2 note session state=connected;",
        "0.03 c2 note session session=0x2 state=disconnected;",
        "0.03 c2 acquire a; 0.04 c2 granted a; 0.05 c2 release a; 0.06 c2 released a;",
    ] {
        let results = check(&waiting(sign));
        assert!(waiter(&results), "{sign}: {results:#?}");
    }
    let named = changed(waiting(""), |record| {
        let events = &mut record.history.events;
        let hello = events.iter_mut().find(|event| event.is_of("c2")).unwrap();
        hello.value = serde_json::json!({"session": "0x2"}).into();
    });
    assert!(waiter(&check(&named)));
    let declared = changed(waiting(""), |record| {
        let mut events = record.history.events.iter_mut();
        let hello = events.find(|event| event.is_of("c2")).unwrap();
        hello.value = serde_json::json!({"session": null, "cannot": ["session"]}).into();
    });
    assert!(waiter(&check(&declared)), "it counts as connected");
}

#[test]
fn one_without_a_hello_is_judged() {
    let without = changed(waiting(""), |record| {
        record.history.events.retain(|event| event.f != "hello");
        crate::script::number(&mut record.history.events);
    });
    assert!(waiter(&check(&without)));
}
