//! When liveness is judged, and when it is not; each lack beside its innocent twin.

use crate::expect::{edited, explains, guilty, has_reason, innocent, none, one, valid};
use crate::script::lock;
use crate::unfinished_operations::FINISHED;
use zooquake_checkers::Verdict;
use zooquake_history::EventType;

/// c2 waits for a lock that nobody holds, and c1 does its last operation.
const WAITS: &str = "
    1 c2 acquire g2
    2 run heal; 3 run recover; 6 run recovered
    7 c1 acquire g1; 7.1 c1 granted g1; 7.2 c1 release g1; 7.3 c1 released g1
    20 run audit; 21 run done";

/// The history with these edits convicts nobody, is not valid, and has the reason `why` for what is still pending.
#[track_caller]
fn doubtful(text: &str, cases: &[(&str, &str)]) {
    for (edits, why) in cases {
        let results = none(&lock(&edited(text, edits)));
        assert_eq!(results.verdict, Verdict::Unknown, "{edits}");
        let of_pending = |reason: &&String| reason.contains("c2") && reason.contains("that is not judged");
        let mut reasons = results.reasons.iter().filter(of_pending);
        let said = reasons.any(|reason| reason.contains(why));
        assert!(said, "{edits} {:#?}", results.reasons);
    }
}

#[test]
fn only_windows_that_were_seen_healed_let_a_wait_convict() {
    one(&lock(WAITS), "lost-wakeup");
    // Armed, it struck nobody.
    let skipped = "2 run heal => 1.1 nemesis drop-reply 1 begin; 1.2 nemesis drop-reply 1 skipped; 2 run heal";
    guilty(lock, "lost-wakeup", WAITS, skipped);
    let never = "window 1 was never healed";
    doubtful(WAITS, &[("2 run heal => 1.1 nemesis pause 1 begin; 2 run heal", never)]);
    let on = "1.1 nemesis pause 1 begin; 1.2 nemesis pause 1 on target=c2 verified=true";
    let on = edited(WAITS, &format!("2 run heal => {on}; 2 run heal"));
    let table = "
        2 run heal => 1.3 nemesis pause 1 off verified=true; 2 run heal
        2 run heal => 1.3 nemesis pause 1 off verified=false; 1.4 nemesis pause 1 off verified=true; 2 run heal # tried again";
    guilty(lock, "lost-wakeup", &on, table);
    let unverified = "the healing of window 1 was not verified";
    let again =
        "2 run heal => 1.3 nemesis pause 1 off verified=true; 1.4 nemesis pause 1 off verified=false; 2 run heal";
    let late = "7 c1 acquire => 6.5 nemesis pause 1 off verified=true; 7 c1 acquire";
    doubtful(
        &on,
        &[
            ("2 run heal => 2 run heal", never),
            ("2 run heal => 1.3 nemesis pause 1 heal; 2 run heal", never),
            ("2 run heal => 1.3 nemesis pause 1 skipped; 2 run heal", never),
            ("2 run heal => 1.3 nemesis pause 1 off; 2 run heal", unverified),
            (again, unverified),
            (late, "window 1 was not seen healed before `recovered`"),
        ],
    );
}

#[test]
fn recovered_means_that_every_living_client_has_answered() {
    let asked = "3 run recover => 3 run recover; 4 c1 quiesce; 4 c2 quiesce; 4.1 c1 quiesced sessions=0x1; 5 run waits";
    let asked = edited(WAITS, asked);
    let table = "
        5 run waits => 5 c2 quiesced sessions=0x2
        5 run waits => 5 c2 running detail=1-thread
        5 run waits => 5 c2 quiesced sessions=0x2; 5 c3 quiesce; 5.1 c3 exit # it was dead, and is asked no more
        5 run waits => | 7 c1 acquire => 6.9 c2 quiesced sessions=0x2; 7 c1 acquire # the clock starts at the answer";
    guilty(lock, "lost-wakeup", &asked, table);
    let late = "5 run waits => | 7 c1 acquire => 6.9 c2 quiesced sessions=0x2; 7 c1 acquire | 20 run => 16.8 run";
    innocent(lock, &asked, late);
    let other = "5 run waits => 5 c2 quiesced sessions=0x2 | 4.1 c1 quiesced sessions=0x1 =>";
    doubtful(
        &asked,
        &[
            ("5 run waits =>", "c2 did not answer quiesce"),
            (
                "5 run waits => | 20 run audit => 19 c2 quiesced sessions=0x2; 20 run audit",
                "c2 did not answer",
            ),
            // It may hold what c2 waits for.
            (other, "c1 did not answer quiesce"),
        ],
    );
}

#[test]
fn every_client_answers_at_the_end_of_the_bound_too() {
    let both = "18.1 c1 quiesced sessions=0x1; 18.2 c2 quiesced sessions=0x2";
    let edits = format!("20 run audit => 18 c1 quiesce; 18 c2 quiesce; {both}; 20 run audit");
    let asked = edited(WAITS, &edits);
    one(&lock(&asked), "lost-wakeup");
    doubtful(
        &asked,
        &[
            ("18.2 c2 quiesced sessions=0x2 =>", "c2 did not answer quiesce"),
            (
                "20 run audit => 19 run not-recovered the-leader-changed; 20 run audit",
                "the-leader-changed",
            ),
        ],
    );
    // Everybody finished while an answer was under way.
    let under_way = "9 run audit => 8.9 c2 quiesce; 9 run audit | 9.1 c2 => 9.05 c2 quiesced sessions=0x2; 9.1 c2";
    valid(&lock(&edited(FINISHED, under_way)));
}

#[test]
fn a_recovery_that_failed_or_was_begun_again_is_none() {
    let failed = "20 run audit => 18 run recover; 19 run not-recovered no-leader; 20 run audit";
    doubtful(
        WAITS,
        &[
            (
                "20 run audit => 19 run recover; 20 run audit",
                "begun again at 19.000 s",
            ),
            (failed, "no-leader"),
            ("6 run => 5 run not-recovered no-leader; 6 run", "no-leader"),
        ],
    );
    // The last one counts.
    let again = edited(WAITS, "20 run audit => 8 run recover; 9 run recovered; 20 run audit");
    explains(&one(&lock(&again), "lost-wakeup"), "recovered at 9.000 s");
    innocent(lock, &again, "20 run audit => 18 run audit");
    // What was not recovered at first was later.
    let table = "3 run recover; => 2.5 run not-recovered dead; 3 run recover;";
    guilty(lock, "lost-wakeup", WAITS, table);
}

#[test]
fn a_stall_counts_after_recovery_and_where_something_did_not_finish() {
    let after = "20 run audit => 19 run stall ms=1500; 20 run audit";
    doubtful(WAITS, &[(after, "stood still after recovery: 1500 ms")]);
    let table = "
        3 run recover; => 3 run stall ms=1500; 3 run recover;
        21 run done => 20.5 run stall ms=1500; 21 run done";
    guilty(lock, "lost-wakeup", WAITS, table);
    valid(&lock(&edited(
        FINISHED,
        "9 run audit => 8 run stall ms=1500; 9 run audit",
    )));
}

#[test]
fn the_error_of_an_unknown_outcome_stands_in_the_reasons() {
    let text = "
        1 c1 acquire g1; 2 run heal; 3 run recover; 6 run recovered
        7 c1 unknown acquire g1 connection-loss; 8 run audit; 9 run done";
    let results = none(&lock(text));
    for (about, error) in [
        ("ended after recovery", "with an unknown outcome (connection-loss)"),
        (
            "no progress",
            "the last acquire, answered at 7.000 s, has an unknown outcome (connection-loss)",
        ),
    ] {
        let said = |reason: &String| reason.contains(about) && reason.contains(error);
        assert!(results.reasons.iter().any(said), "{about}: {:#?}", results.reasons);
    }
    let asked = "3 run recover => 3 run recover; 4 c2 quiesce; 5 c2 answer quiesce";
    let mut record = lock(&edited(text, asked));
    let mut answers = record
        .history
        .events
        .iter_mut()
        .filter(|event| event.kind == EventType::Ok);
    let answer = answers.find(|event| event.f == "quiesce").expect("the answer");
    (answer.kind, answer.error) = (EventType::Info, Some("timed out".into()));
    has_reason(
        &none(&record),
        "c2 (answered `info`: timed out) did not answer quiesce in time",
    );
}
