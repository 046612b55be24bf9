//! What finishes after recovery, and what does not; each beside its innocent twin.

use crate::script::{kinds, only, record};
use zooquake_checkers::{Results, Verdict, check};

#[track_caller]
fn judge(text: &str) -> Results {
    check(&record(text))
}

/// Both clients finish a cycle after recovery.
pub const FINISHED: &str = "
    1 run recovered
    2 c1 acquire g1
    2.1 c1 granted g1
    2.2 c1 release g1
    2.3 c1 released g1
    3 c2 acquire g2
    3.1 c2 granted g2
    3.2 c2 release g2
    3.3 c2 released g2
    9 run audit
    9 c1 quiesce
    9 c2 quiesce
    9.1 c1 quiesced sessions=0x1
    9.1 c2 quiesced sessions=0x2
    10 run done";

/// The same, but what c2 is asked from the acquire on comes to this.
fn instead(events: &str) -> String {
    let text = FINISHED.replace("3.2 c2 release g2\n    3.3 c2 released g2", "");
    text.replace("3 c2 acquire g2", "").replace("3.1 c2 granted g2", events)
}

/// Refusals of c2, one every 300 ms from 3 s on.
fn refusals(count: usize, how: &str) -> String {
    let one = |at: usize| {
        let time = 3.0 + at as f64 * 0.3;
        format!(
            "{time} c2 acquire z{at}\n {} c2 {how} acquire z{at} deadlock\n",
            time + 0.001
        )
    };
    (0..count).map(one).collect()
}

/// The audit comes after 60 s.
fn long(events: &str) -> String {
    instead(events)
        .replace("9 run audit", "60 run audit")
        .replace(" 9 c", " 61 c")
        .replace(" 9.1 c", " 62 c")
        .replace("10 run done", "63 run done")
}

#[test]
fn who_is_refused_for_ever_is_not_woken() {
    assert_eq!(judge(FINISHED).verdict, Verdict::Valid, "{:?}", judge(FINISHED).reasons);
    let found = only(&long(&refusals(100, "failed")), "lost-wakeup");
    assert_eq!(found.witness, [0, 5, 204]);
    assert!(
        found.why.contains("it was refused 100 times by 32.701 s"),
        "{}",
        found.why
    );
    // It gets it in the end.
    let granted =
        refusals(100, "failed") + "50 c2 acquire g2\n 50.1 c2 granted g2\n 50.2 c2 release g2\n 50.3 c2 released g2";
    assert_eq!(
        judge(&long(&granted)).verdict,
        Verdict::Valid,
        "{:?}",
        judge(&long(&granted)).reasons
    );
    // Not for long enough, though it is never granted.
    unknown(&long(&refusals(30, "failed")), "30 acquires of c2");
    unknown(
        &long(&refusals(1, "failed")),
        "the acquire of c2 sent at 3.000 s failed after recovery",
    );
    // Nobody knows what came of them.
    unknown(&long(&refusals(100, "unknown")), "100 acquires of c2");
    // A refusal while somebody holds says nothing.
    let held = refusals(100, "failed").replace(
        "3 c2 acquire z0\n",
        "2.9 c1 acquire h\n 2.95 c1 granted h\n 3 c2 acquire z0\n",
    );
    unknown(&long(&held), "100 acquires of c2");
    let first = long(&held).replace("60 run audit", "33 c1 release h\n 33.1 c1 released h\n 60 run audit");
    unknown(&first, "100 acquires of c2");
}

#[track_caller]
fn unknown(text: &str, reason: &str) {
    let results = judge(text);
    assert_eq!(kinds(&results), [""; 0], "{text} {results:#?}");
    assert_eq!(results.verdict, Verdict::Unknown);
    assert!(
        results.reasons.iter().any(|said| said.contains(reason)),
        "{reason}: {:#?}",
        results.reasons
    );
}

#[test]
fn every_client_finishes_an_operation() {
    unknown(&instead(""), "after recovery no operation of c2 finished");
    // Not those that are dead, and those that held before give back.
    let dead = instead("").replace("1 run recovered", "0.5 c2 exit\n 1 run recovered");
    assert!(
        !judge(&dead).reasons.iter().any(|reason| reason.contains("finished")),
        "{:?}",
        judge(&dead).reasons
    );
    let held = |events: &str| {
        let granted = "0.5 c2 acquire g0\n 0.6 c2 granted g0\n 1 run recovered";
        instead(events).replace("1 run recovered", granted)
    };
    let given_back = held("3 c2 release g0\n 3.1 c2 released g0");
    assert_eq!(
        judge(&given_back).verdict,
        Verdict::Valid,
        "{:?}",
        judge(&given_back).reasons
    );
    let refused = held("3 c2 write g0\n 3.1 c2 refused g0");
    assert_eq!(judge(&refused).verdict, Verdict::Valid, "{:?}", judge(&refused).reasons);
    unknown(
        &held("3 c2 write g0\n 3.1 c2 not-held g0"),
        "no operation of c2 finished",
    );
}

#[test]
fn an_unknown_end_is_made_up_for_by_what_comes_later() {
    let lost = "3 c2 acquire g2\n 3.1 c2 unknown acquire g2\n";
    unknown(
        &instead(lost),
        "the acquire of c2 sent at 3.000 s ended after recovery, at 3.100 s, with an unknown outcome",
    );
    let cycle = "4 c2 acquire g3\n 4.1 c2 granted g3\n 4.2 c2 release g3\n";
    let later = instead(&format!("{lost}{cycle}"));
    assert_eq!(
        judge(&later.replace("9 run audit", "5 c2 released g3\n 9 run audit")).verdict,
        Verdict::Valid
    );
    unknown(
        &later.replace("9 run audit", "5 c2 unknown release g3\n 9 run audit"),
        "the release of c2 sent at 4.200 s ended after recovery",
    );
}
