//! When liveness is judged, and when it is not; each lack beside its innocent twin.

use crate::finishing::FINISHED;
use crate::script::{kinds, only, record};
use zooquake_checkers::{Results, Verdict, check};

/// c2 waits for a lock that nobody holds, and c1 does its last operation.
const WAITS: &str = "
    1 c2 acquire g2
    2 run heal
    3 run recover
    6 run recovered
    7 c1 acquire g1
    7.1 c1 granted g1
    7.2 c1 release g1
    7.3 c1 released g1
    20 run audit
    21 run done";

#[track_caller]
fn judge(text: &str) -> Results {
    check(&record(text))
}

/// The history convicts nobody, is not valid, and says so of what is still pending.
#[track_caller]
fn doubtful(text: &str, why: &str) {
    let results = judge(text);
    assert_eq!(kinds(&results), [""; 0], "{text}");
    assert_eq!(results.verdict, Verdict::Unknown);
    let waits =
        |reason: &&String| reason.contains("c2") && reason.contains("that is not judged") && reason.contains(why);
    assert!(
        results.reasons.iter().any(|reason| waits(&reason)),
        "{text} {:#?}",
        results.reasons
    );
}

/// The same with events before it.
fn after(events: &str) -> String {
    WAITS.replace("2 run heal", &format!("{events}\n 2 run heal"))
}

#[test]
fn only_windows_that_were_seen_healed_let_a_wait_convict() {
    only(WAITS, "lost-wakeup");
    let on = "1.1 nemesis pause 1 begin\n 1.2 nemesis pause 1 on target=c2 verified=true\n";
    let healed = format!("{on} 1.3 nemesis pause 1 off verified=true");
    only(&after(&healed), "lost-wakeup");
    // Healing was tried again.
    let again = format!("{on} 1.3 nemesis pause 1 off verified=false\n 1.4 nemesis pause 1 off verified=true");
    only(&after(&again), "lost-wakeup");
    // It was armed, and struck nobody.
    let skipped = "1.1 nemesis drop-reply 1 begin\n 1.2 nemesis drop-reply 1 skipped";
    only(&after(skipped), "lost-wakeup");
    for (events, why) in [
        (on.to_owned(), "window 1 was never healed"),
        ("1.1 nemesis pause 1 begin".to_owned(), "window 1 was never healed"),
        (format!("{on} 1.3 nemesis pause 1 heal"), "window 1 was never healed"),
        (
            format!("{on} 1.3 nemesis pause 1 off"),
            "the healing of window 1 was not verified",
        ),
        (
            format!("{healed}\n 1.4 nemesis pause 1 off verified=false"),
            "the healing of window 1 was not verified",
        ),
        (format!("{on} 1.3 nemesis pause 1 skipped"), "window 1 was never healed"),
    ] {
        doubtful(&after(&events), why);
    }
    let late = after(on).replace("7 c1 acquire", "6.5 nemesis pause 1 off verified=true\n 7 c1 acquire");
    doubtful(&late, "window 1 was not seen healed before `recovered`");
}

#[test]
fn recovered_means_that_every_living_client_has_answered() {
    let asked = |events: &str| {
        let asked = format!("3 run recover\n 4 c1 quiesce\n 4 c2 quiesce\n 4.1 c1 quiesced sessions=0x1\n {events}");
        WAITS.replace("3 run recover", &asked)
    };
    only(&asked("5 c2 quiesced sessions=0x2"), "lost-wakeup");
    only(&asked("5 c2 running detail=1-thread"), "lost-wakeup");
    doubtful(&asked(""), "c2 did not answer quiesce");
    doubtful(
        &asked("").replace("20 run audit", "19 c2 quiesced sessions=0x2\n 20 run audit"),
        "c2 did not answer",
    );
    // c1 is the one who is silent: it may hold what c2 waits for.
    let other = asked("5 c2 quiesced sessions=0x2").replace("4.1 c1 quiesced sessions=0x1", "");
    doubtful(&other, "c1 did not answer quiesce");
    // It was dead, and is asked no more.
    only(
        &asked("5 c2 quiesced sessions=0x2\n 5 c3 quiesce\n 5.1 c3 exit"),
        "lost-wakeup",
    );
    // An engine that did not wait for who has an operation pending: the clock starts at the answer.
    let late = |end: &str| {
        asked("")
            .replace("7 c1 acquire", "6.9 c2 quiesced sessions=0x2\n 7 c1 acquire")
            .replace("20 run", end)
    };
    only(&late("20 run"), "lost-wakeup");
    assert_eq!(kinds(&judge(&late("16.8 run"))), [""; 0]);
}

#[test]
fn every_client_answers_at_the_end_of_the_bound_too() {
    let asked = |events: &str| {
        WAITS.replace(
            "20 run audit",
            &format!("18 c1 quiesce\n 18 c2 quiesce\n {events}\n 20 run audit"),
        )
    };
    let both = "18.1 c1 quiesced sessions=0x1\n 18.2 c2 quiesced sessions=0x2";
    only(&asked(both), "lost-wakeup");
    doubtful(&asked("18.1 c1 quiesced sessions=0x1"), "c2 did not answer quiesce");
    doubtful(
        &asked(&format!("{both}\n 19 run not-recovered the-leader-changed")),
        "the-leader-changed",
    );
    // Everybody finished while an answer was under way.
    let under_way = FINISHED
        .replace("9 run audit", "8.9 c2 quiesce\n 9 run audit")
        .replace("9.1 c2", "9.05 c2 quiesced sessions=0x2\n 9.1 c2");
    let finished = judge(&under_way);
    assert_eq!(finished.verdict, Verdict::Valid, "{:?}", finished.reasons);
}

#[test]
fn a_recovery_that_failed_or_was_begun_again_is_none() {
    doubtful(
        &WAITS.replace("20 run audit", "19 run recover\n 20 run audit"),
        "begun again at 19.000 s",
    );
    doubtful(
        &WAITS.replace(
            "20 run audit",
            "18 run recover\n 19 run not-recovered no-leader\n 20 run audit",
        ),
        "no-leader",
    );
    // The last one counts.
    let again = WAITS.replace("20 run audit", "8 run recover\n 9 run recovered\n 20 run audit");
    let found = only(&again, "lost-wakeup");
    assert!(found.why.contains("recovered at 9.000 s"), "{}", found.why);
    assert_eq!(kinds(&judge(&again.replace("20 run audit", "18 run audit"))), [""; 0]);
    // What was not recovered at first was later.
    only(
        &WAITS.replace("3 run recover\n", "2.5 run not-recovered dead\n 3 run recover\n"),
        "lost-wakeup",
    );
    doubtful(
        &WAITS.replace("6 run", "5 run not-recovered no-leader\n 6 run"),
        "no-leader",
    );
}

#[test]
fn a_stall_counts_after_recovery_and_where_something_did_not_finish() {
    doubtful(
        &WAITS.replace("20 run audit", "19 run stall ms=1500\n 20 run audit"),
        "stood still after recovery: 1500 ms",
    );
    only(
        &WAITS.replace("3 run recover\n", "3 run stall ms=1500\n 3 run recover\n"),
        "lost-wakeup",
    );
    only(
        &WAITS.replace("21 run done", "20.5 run stall ms=1500\n 21 run done"),
        "lost-wakeup",
    );
    let finished = FINISHED.replace("9 run audit", "8 run stall ms=1500\n 9 run audit");
    assert_eq!(
        judge(&finished).verdict,
        Verdict::Valid,
        "{:?}",
        judge(&finished).reasons
    );
}
