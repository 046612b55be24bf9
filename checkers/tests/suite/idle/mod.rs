//! `idle-lock` and `leaderless`: nobody holds for long, though somebody waits and nothing excuses it.

mod brute_force;

use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::has_reason;
use crate::script::{self, lock};
use std::collections::BTreeSet;
use zooquake_checkers::{AnomalySpan, Verdict, check};
use zooquake_history::Record;

/// Two clients hand the lock over within 20 ms, again and again; then both wait, and nobody holds from 2.13 s to 6.5 s.
const LIVELOCK: &str = "
    0.5 run ops
    1 c1 note session session=0x1 state=connected; 1 c2 note session session=0x2 state=connected
    1.0 c1 acquire g1; 1.01 c1 granted g1 czxid=1
    1.05 c2 acquire g2; 1.5 c1 release g1; 1.51 c1 released g1
    1.52 c2 granted g2 czxid=2
    1.6 c1 acquire g3; 2.1 c2 release g2; 2.13 c2 released g2
    2.2 c2 acquire g4
    6.5 c1 granted g3 czxid=9; 6.6 c1 release g3; 6.61 c1 released g3
    6.62 c2 granted g4 czxid=10; 6.7 c2 release g4; 6.71 c2 released g4
    7 run done";

/// From when to when nobody held, as it was found.
fn found(record: &Record) -> BTreeSet<(u64, u64)> {
    let results = check(record);
    let idle = results.anomalies.iter().filter(|anomaly| anomaly.kind == "idle-lock");
    idle.map(|anomaly| match (anomaly.advisory, anomaly.span) {
        (true, Some(AnomalySpan::Between(from, until))) => (from, until),
        other => panic!("{other:?}"),
    })
    .collect()
}

/// The same in milliseconds, of the history with these edits.
#[track_caller]
fn edited(edits: &str) -> Vec<(u64, u64)> {
    let text = match edits {
        "" => LIVELOCK.to_owned(),
        edits => crate::expect::edited(LIVELOCK, edits),
    };
    let ms = |(from, until)| (from / 1_000_000, until / 1_000_000);
    found(&lock(&text)).into_iter().map(ms).collect()
}

#[test]
fn nobody_holds_for_two_session_timeouts_and_a_hundred_hand_overs_while_somebody_waits() {
    assert_eq!(edited(""), [(2_130, 6_500)]);
    let results = check(&lock(LIVELOCK));
    let found = results
        .anomalies
        .iter()
        .find(|one| one.kind == "idle-lock")
        .expect("one");
    assert!(!found.accepted && results.verdict != Verdict::Invalid);
    assert_eq!(found.property, "liveness");
    for part in [
        "From 2.130 s to 6.500 s",
        "4.370 s",
        "c1 since 1.600 s (grant g3)",
        "two session timeouts (4.000 s)",
    ] {
        assert!(found.why.contains(part), "{part}: {}", found.why);
    }
    // The request that was granted in the end, and that.
    let f = |at: &usize| lock(LIVELOCK).history.events[*at].f.to_string();
    let (witness, names): (&Vec<usize>, Vec<String>) = (&found.witness, found.witness.iter().map(f).collect());
    assert_eq!((witness.len(), names.concat()), (2, "acquireacquire".to_owned()));
}

#[test]
fn an_election_is_leaderless_and_a_semaphore_idle() {
    let names = [("acquire", "elect"), ("release", "resign")];
    for (family, names, kind) in [
        ("election", &names[..], "leaderless"),
        ("semaphore", &[], "idle-lock"),
        ("rwlock", &[], "idle-lock"),
    ] {
        let results = check(&script::retold(&lock(LIVELOCK), family, names));
        let kinds: Vec<&str> = results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect();
        assert_eq!(kinds, [kind], "{family}");
    }
}

#[test]
fn the_nearest_innocent_twins_are_silent() {
    for (innocent, why) in [
        (
            "6.5 c1 granted => 6.12 c1 granted",
            "no longer than two session timeouts after the last answer",
        ),
        (
            "1.52 c2 granted => 1.55 c2 granted",
            "no longer than a hundred median hand-overs of 50 ms",
        ),
        (
            "2.13 c2 released g2 => 3 c2 released g2",
            "it may have held until its return was answered",
        ),
        (
            "2.13 c2 released g2 => 2.13 c2 unknown release g2 | 2.2 c2 acquire g4 => 2.6 c2 acquire g4",
            "until it asks anew",
        ),
        (
            "1.6 c1 acquire g3 => 1.6 c1 confirm | 2.2 c2 acquire g4 => 2.2 c2 confirm | 6.5 c1 granted => 6.4 c1 acquire g3; 6.5 c1 granted | 6.62 c2 granted => 6.4 c2 acquire g4; 6.62 c2 granted",
            "nobody waits",
        ),
        (
            "2.2 c2 acquire => 3 c1 note session session=0x1 state=disconnected; 4 c1 note session session=0x1 state=connected; 4 c2 acquire",
            "one that waits is not connected",
        ),
        (
            "2.2 c2 acquire => 3 c1 note session session=0x1 state=expired; 3.01 c1 note session session=0x3 state=connected; 4 c2 acquire",
            "its session has expired",
        ),
        (
            "1.6 c1 acquire => 1.55 nemesis pause 1 begin; 1.56 nemesis pause 1 on target=c1 verified=true; 1.6 c1 acquire",
            "a window is on",
        ),
        (
            "1.6 c1 acquire => 0.7 nemesis pause 1 begin; 0.8 nemesis pause 1 off target=c1 verified=true; 1.6 c1 acquire",
            "one has just ended",
        ),
        (
            "2.2 c2 acquire => 4 run stall ms=1200; 4 c2 acquire",
            "the harness stood still",
        ),
        (
            "2.2 c2 acquire g4 => 4 c1 ask confirm; 4.1 c1 answer confirm holds=true grant=g3; 4.2 c2 acquire g4",
            "one says that it holds",
        ),
    ] {
        assert_eq!(edited(innocent), [], "{why}");
    }
}

#[test]
fn what_does_not_excuse_it_does_not() {
    for (guilty, why) in [
        (
            "0.5 run ops => 0.1 nemesis pause 1 begin; 0.2 nemesis pause 1 skipped; 0.5 run ops",
            "a window that was skipped",
        ),
        (
            "2.2 c2 acquire => 2.14 c2 note session session=0x9 state=connected; 2.15 c2 note session session=0x9 state=closed; 2.2 c2 acquire",
            "a second session that was closed",
        ),
        (
            "1 c1 note session session=0x1 state=connected => 1 run running",
            "a client that says nothing of its session",
        ),
        (
            "2.2 c2 acquire g4 => 2.2 c2 acquire g4; 3 c2 failed acquire g4; 3.1 c2 acquire g4",
            "others that wait come and go",
        ),
        (
            "2.2 c2 acquire => 2.2 c2 exit; 2.2 c2 acquire",
            "the process of one that does not wait ends",
        ),
    ] {
        let found = edited(guilty);
        assert_eq!(found.len(), 1, "{why}: {found:?}");
    }
    // From two session timeouts after the end of a window on.
    let found = edited(
        "0.5 run ops => 0.1 nemesis pause 1 begin; 0.2 nemesis pause 1 off target=c1 verified=true; 0.5 run ops | 6.5 c1 => 8.5 c1 | 6.6 c1 => 8.6 c1 | 6.61 c1 => 8.61 c1 | 6.62 c2 => 8.62 c2 | 6.7 c2 => 8.7 c2 | 6.71 c2 => 8.71 c2 | 7 run => 9 run",
    );
    assert_eq!(found, [(4_200, 8_500)]);
}

#[test]
fn nothing_is_found_where_it_is_not_known_who_held() {
    let unpaired = "2.2 c2 acquire g4 => 2.15 c2 ok write grant=g2; 2.2 c2 acquire g4";
    assert_eq!(edited(unpaired), []);
}

#[test]
fn without_a_plan_it_is_not_judged() {
    let results = zooquake_checkers::inferred_plan::check(&script::history(LIVELOCK), Vec::new()).expect("a lock's");
    assert!(results.anomalies.is_empty());
    has_reason(&results, "idle-lock was not judged");
}

#[test]
fn random_histories_agree_with_the_definition() {
    let agree = |seed: u64, counts: &mut AnomalyCounts| {
        let record = brute_force::record(seed);
        let (found, wanted) = (found(&record), brute_force::idle(&record));
        assert_eq!(
            found,
            wanted,
            "seed {seed}\n{}",
            crate::doubtful_evidence::lines(&record)
        );
        count(counts, "idle", !found.is_empty());
        count(
            counts,
            "idle before a window or after one",
            !found.is_empty() && brute_force::windows(&record),
        );
    };
    spread(50, drawn(agree));
}
