//! What finishes after recovery, and what does not; each beside its innocent twin.

use crate::expect::{count, edited, explains, has_reason, none, one_by, valid};
use crate::script::lock;
use zooquake_checkers::{Verdict, check};

/// Both clients finish a cycle after recovery.
pub const FINISHED: &str = "
    1 run recovered
    2 c1 acquire g1; 2.1 c1 granted g1; 2.2 c1 release g1; 2.3 c1 released g1
    3 c2 acquire g2; 3.1 c2 granted g2; 3.2 c2 release g2; 3.3 c2 released g2
    9 run audit
    9 c1 quiesce; 9 c2 quiesce
    9.1 c1 quiesced sessions=0x1; 9.1 c2 quiesced sessions=0x2
    10 run done";

/// A history of these, but what c2 is asked from the acquire on comes to this.
fn but(text: &str, events: &str) -> String {
    let cycle = "3 c2 acquire g2; 3.1 c2 granted g2; 3.2 c2 release g2; 3.3 c2 released g2";
    edited(text, &format!("{cycle} => {events}"))
}

fn instead(events: &str) -> String {
    but(FINISHED, events)
}

/// Refusals of c2, one every 300 ms from 3 s on.
fn refusals(count: usize, how: &str) -> String {
    let one = |at: usize| {
        let time = 3.0 + at as f64 * 0.3;
        format!(
            "{time} c2 acquire z{at}; {} c2 {how} acquire z{at} deadlock;",
            time + 0.001
        )
    };
    (0..count).map(one).collect()
}

/// The audit comes after 60 s.
fn long(events: &str) -> String {
    let later = "9 run audit => 60 run audit | 9 c => 61 c | 9.1 c => 62 c | 10 run done => 63 run done";
    but(&edited(FINISHED, later), events)
}

/// The history convicts nobody, and is unknown for this reason.
#[track_caller]
fn unknown(text: &str, reason: &str) {
    let results = none(&lock(text));
    assert_eq!(results.verdict, Verdict::Unknown);
    has_reason(&results, reason);
}

#[test]
fn who_is_refused_for_ever_is_not_woken() {
    valid(&lock(FINISHED));
    let found = one_by(&lock(&long(&refusals(100, "failed"))), "lost-wakeup", &[0, 5, 205]);
    explains(&found, "it was refused 100 times by 32.701 s");
    // It gets it in the end.
    let granted = "50 c2 acquire g2; 50.1 c2 granted g2; 50.2 c2 release g2; 50.3 c2 released g2";
    valid(&lock(&long(&(refusals(100, "failed") + granted))));
    // Not for long enough, though it is never granted.
    unknown(&long(&refusals(30, "failed")), "30 acquires of c2");
    let record = long(&refusals(1, "failed"));
    unknown(&record, "the acquire of c2 sent at 3.000 s failed after recovery");
    // Their outcomes are unknown: a client that ends each at once is not woken either.
    let found = one_by(&lock(&long(&refusals(100, "unknown"))), "lost-wakeup", &[0, 5, 205]);
    explains(&found, "answered with an unknown outcome, 100 times by 32.701 s");
    unknown(&long(&refusals(30, "unknown")), "30 acquires of c2");
    // So is one whose attempts end now so, now so; one success in between ends the chain.
    let both = refusals(60, "failed").replace("failed acquire z7 ", "unknown acquire z7 ");
    one_by(&lock(&long(&both)), "lost-wakeup", &[0, 5, 125]);
    let granted = "11.8 c2 acquire g2; 11.81 c2 granted g2; 11.82 c2 release g2; 11.83 c2 released g2;";
    let chain = refusals(60, "failed").replace("12 c2 acquire z30", &format!("{granted} 12 c2 acquire z30"));
    assert!(chain.contains(granted));
    none(&lock(&long(&chain)));
    // A refusal while somebody holds proves nothing.
    let holds = "3 c2 acquire z0; => 2.9 c1 acquire h; 2.95 c1 granted h; 3 c2 acquire z0;";
    let held = edited(&long(&refusals(100, "failed")), holds);
    unknown(&held, "100 acquires of c2");
    let edits = "60 run audit => 33 c1 release h; 33.1 c1 released h; 60 run audit";
    unknown(&edited(&held, edits), "100 acquires of c2");
}

#[test]
fn every_client_finishes_an_operation() {
    unknown(&instead(""), "after recovery no operation of c2 finished");
    // Not those that are dead, and those that held before give back.
    let dead = edited(&instead(""), "1 run recovered => 0.5 c2 exit; 1 run recovered");
    assert_eq!(count(&check(&lock(&dead)), "finished"), 0);
    let granted = "1 run recovered => 0.5 c2 acquire g0; 0.6 c2 granted g0; 1 run recovered";
    let held = |events: &str| edited(&instead(events), granted);
    valid(&lock(&held("3 c2 release g0; 3.1 c2 released g0")));
    valid(&lock(&held("3 c2 write g0; 3.1 c2 refused g0")));
    let record = held("3 c2 write g0; 3.1 c2 not-held g0");
    unknown(&record, "no operation of c2 finished");
}

#[test]
fn an_unknown_end_is_made_up_for_by_what_comes_later() {
    let lost = "3 c2 acquire g2; 3.1 c2 unknown acquire g2";
    let outcome = "the acquire of c2 sent at 3.000 s ended after recovery, at 3.100 s, with an unknown outcome";
    unknown(&instead(lost), outcome);
    let later = |end: &str| {
        instead(&format!(
            "{lost}; 4 c2 acquire g3; 4.1 c2 granted g3; 4.2 c2 release g3; {end}"
        ))
    };
    valid(&lock(&later("5 c2 released g3")));
    let record = later("5 c2 unknown release g3");
    unknown(&record, "the release of c2 sent at 4.200 s ended after recovery");
}
