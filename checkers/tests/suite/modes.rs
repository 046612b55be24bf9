//! Grants that are shared, or of which several may be held: each anomaly by one history, and silence on its innocent twins.

use crate::safety::OLD_WRITE;
use crate::script::{kinds, only, record, silent};
use std::num::NonZeroUsize;
use zooquake_checkers::plan::Capabilities;
use zooquake_checkers::{Record, Results, check};

/// A reader and a writer, both confirmed.
const BOTH: &str = "
    c1 acquire g1 mode=shared
    c1 granted g1 czxid=10
    c2 acquire g2
    c2 granted g2 czxid=20
    c1 confirm
    c2 confirm
    c2 holds g2
    c1 holds g1";

/// Three clients, all confirmed.
pub const THREE: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10
    c2 acquire g2
    c2 granted g2 czxid=20
    c3 acquire g3
    c3 granted g3 czxid=30
    c1 confirm
    c2 confirm
    c3 confirm
    c1 holds g1
    c2 holds g2
    c3 holds g3";

/// The record of a lock that so many clients may hold.
pub fn with(capacity: usize, text: &str) -> Record {
    let mut record = record(text);
    let capacity = NonZeroUsize::new(capacity).expect("a capacity");
    record.plan.workload.capabilities = Some(Capabilities {
        capacity,
        ..Capabilities::NONE
    });
    record
}

#[track_caller]
fn silent_with(capacity: usize, text: &str) {
    let results = check(&with(capacity, text));
    assert_eq!(kinds(&results), [""; 0], "{results:#?}");
}

fn shared(text: &str, grant: &str) -> String {
    text.replace(&format!("acquire {grant}\n"), &format!("acquire {grant} mode=shared\n"))
}

#[test]
fn a_confirmed_writer_beside_a_confirmed_reader_is_a_double_grant() {
    let found = only(BOTH, "double-grant");
    assert_eq!(found.witness, [1, 3, 4, 5, 6, 7]);
    let said = "One of the two holds is exclusive, that of c2, so";
    assert!(found.why.contains(said), "{}", found.why);
    let turned = BOTH
        .replace(" mode=shared", "")
        .replace("acquire g2", "acquire g2 mode=shared");
    let found = only(&turned, "double-grant");
    assert_eq!(found.witness, [1, 3, 4, 5, 6, 7]);
    assert!(found.why.contains("exclusive, that of c1, so"), "{}", found.why);
    silent(&shared(BOTH, "g2"));
    silent(&BOTH.replace("c1 holds g1", "c1 holds-not"));
    silent(&BOTH.replace("c2", "c1"));
}

#[test]
fn with_several_leases_the_requests_that_tell_the_modes_are_in_the_witness() {
    let results = check(&with(2, BOTH));
    assert_eq!(kinds(&results), ["double-grant"]);
    assert_eq!(results.anomalies[0].witness, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn one_client_more_than_leases_is_over_capacity() {
    let results = check(&with(2, THREE));
    assert_eq!(kinds(&results), ["over-capacity"], "{results:#?}");
    let found = &results.anomalies[0];
    assert_eq!(found.witness, [1, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert!(
        !found.advisory && found.why.contains("At most 2 clients"),
        "{}",
        found.why
    );
    silent_with(3, THREE);
    silent_with(2, &THREE.replace("c2 holds g2", "c2 unconfirmed"));
    silent_with(2, &THREE.replace("c1 holds g1", "c1 release g1\n c1 holds g1"));
    silent_with(
        2,
        &THREE
            .replace("c3 granted g3 czxid=30\n", "")
            .replace("c1 holds g1", "c3 granted g3\n c1 holds g1"),
    );
}

/// Two grants of one client take one lease for the judge, as a client does not exclude itself.
#[test]
fn clients_are_counted_and_not_grants() {
    silent_with(2, &THREE.replace("c3", "c2"));
}

#[test]
fn one_client_more_than_leases_that_did_not_confirm_is_stale() {
    let writes = THREE.replace("confirm", "write g").replace("holds", "wrote");
    let writes = (1..4).fold(writes, |text, n| {
        text.replace(&format!("c{n} write g\n"), &format!("c{n} write g{n}\n"))
    });
    let results = check(&with(2, &writes));
    assert_eq!(kinds(&results), ["stale-holder"], "{results:#?}");
    assert!(results.anomalies[0].advisory);
    assert_eq!(results.anomalies[0].witness, [1, 3, 5, 6, 7, 8, 9, 10, 11]);
    silent_with(3, &writes);
}

#[test]
fn a_write_of_an_older_exclusive_grant_after_one_of_a_newer_is_stale() {
    let found = only(&shared(OLD_WRITE, "g2"), "stale-write");
    assert_eq!(found.witness, [1, 4, 6, 7]);
    silent(&shared(OLD_WRITE, "g1"));
    silent(&shared(&shared(OLD_WRITE, "g1"), "g2"));
    silent_with(2, OLD_WRITE);
}

/// A writer that also reads keeps its lock: it does not exclude itself.
#[test]
fn a_client_may_write_under_its_exclusive_grant_after_its_shared_one() {
    let downgraded = "
        c1 acquire g1
        c1 granted g1 czxid=10 token=10
        c1 acquire g2 mode=shared
        c1 granted g2 czxid=20 token=10
        c1 write g2
        c1 wrote g2
        c1 write g1
        c1 wrote g1";
    silent(downgraded);
    let text = downgraded
        .replace("token=10", "")
        .replace("c1 acquire g2 mode=shared", "c1 acquire g2");
    only(&text, "stale-write");
}

#[test]
fn writes_of_a_shared_grant_around_one_of_an_exclusive_grant_are_mixed() {
    let text = format!(
        "{}\n c2 write g2\n c2 wrote g2",
        OLD_WRITE.replace("czxid=10", "").replace("czxid=20", "")
    );
    assert_eq!(only(&shared(&text, "g2"), "stale-write").witness, [6, 7, 9]);
    assert_eq!(only(&shared(&text, "g1"), "stale-write").witness, [6, 7, 9]);
    silent(&shared(&shared(&text, "g1"), "g2"));
}

const EQUAL_TOKENS: &str = "
    c1 acquire g1
    c1 granted g1 czxid=10 token=7
    c2 acquire g2
    c2 granted g2 czxid=20 token=7";

#[test]
fn tokens_rise_from_one_grant_to_the_next_that_it_excludes() {
    assert_eq!(
        only(&shared(EQUAL_TOKENS, "g1"), "fencing-regression").witness,
        [1, 2, 3]
    );
    assert_eq!(
        only(&shared(EQUAL_TOKENS, "g2"), "fencing-regression").witness,
        [0, 1, 2, 3]
    );
    silent(&shared(&shared(EQUAL_TOKENS, "g1"), "g2"));
    silent_with(2, EQUAL_TOKENS);
    let mixed = check(&with(2, &shared(EQUAL_TOKENS, "g2")));
    assert_eq!(kinds(&mixed), ["fencing-regression"]);
    assert_eq!(mixed.anomalies[0].witness, [0, 1, 2, 3]);
}

/// After recovery c2 waits for twenty seconds while c1 holds.
const WAITS: &str = "
    0.1 c1 acquire g1
    0.2 c1 granted g1 czxid=10
    1 run recovered
    2 c2 acquire g2
    22 run audit";

fn pending(results: &Results) -> bool {
    kinds(results) == ["lost-wakeup"]
}

#[test]
fn a_reader_waits_for_nobody_while_readers_hold() {
    let readers = shared(&shared(WAITS, "g1"), "g2");
    assert_eq!(only(&readers, "lost-wakeup").witness, [2, 3, 4]);
    for text in [WAITS.to_owned(), shared(WAITS, "g1"), shared(WAITS, "g2")] {
        silent(&text);
    }
}

/// In a queue the writer stands before the reader, and waits for the other reader.
#[test]
fn a_reader_may_wait_behind_a_writer_that_waits_for_readers() {
    let readers = shared(&shared(WAITS, "g1"), "g2");
    silent(&readers.replace("2 c2 acquire", "1.5 c3 acquire g3\n 2 c2 acquire"));
    let left = readers.replace("22 run", "9 c3 failed acquire g3\n 22 run");
    let left = left.replace("2 c2 acquire", "1.5 c3 acquire g3\n 2 c2 acquire");
    assert!(
        pending(&check(&record(&left))),
        "thirteen seconds after the writer gave up"
    );
    silent(&left.replace("9 c3", "13 c3"));
}

#[test]
fn a_lease_that_is_free_is_granted() {
    assert!(pending(&check(&with(2, WAITS))));
    silent_with(1, WAITS);
    let both = WAITS.replace("1 run", "0.3 c3 acquire g3\n 0.4 c3 granted g3 czxid=20\n 1 run");
    silent_with(2, &both);
    assert!(pending(&check(&with(3, &both))));
    assert!(pending(&check(&with(
        2,
        &both.replace("22 run", "9 c3 lost g3\n 22 run")
    ))));
}

/// Nobody can tell what such a grant excludes: it convicts nobody, and its time is nobody's free time.
#[test]
fn a_mode_that_cannot_be_read_is_a_reason_and_convicts_nobody() {
    let unread = BOTH.replace("mode=shared", "mode=odd");
    only(&unread, "double-grant");
    for capacity in [1, 2] {
        let text = unread.replace("acquire g2", "acquire g2 mode=odd");
        let results = check(&with(capacity, &text));
        assert_eq!(kinds(&results), [""; 0], "{results:#?}");
        assert!(
            results
                .reasons
                .iter()
                .any(|reason| reason.contains("mode cannot be read"))
        );
    }
    silent_with(2, &unread);
    silent(&WAITS.replace("acquire g1", "acquire g1 mode=odd"));
    silent(&shared(&WAITS.replace("acquire g1", "acquire g1 mode=odd"), "g2"));
}

/// The hand-overs of a history, in milliseconds.
fn hand_overs(record: &Record) -> (u64, Option<f64>) {
    let stats = check(record).stats;
    let count = stats["hand_overs"].as_u64().expect("a count");
    (count, stats["hand_over_max_ms"].as_f64())
}

#[test]
fn only_the_release_that_makes_room_hands_over() {
    let readers = "
        0.1 c1 acquire g1 mode=shared
        0.2 c1 granted g1
        0.3 c3 acquire g3 mode=shared
        0.4 c3 granted g3
        0.5 c2 acquire g2
        1 c1 release g1
        2 c3 release g3
        2.5 c2 granted g2";
    assert_eq!(hand_overs(&record(readers)), (1, Some(500.0)));
    assert_eq!(hand_overs(&record(&shared(readers, "g2"))), (0, None));
    let leases = readers.replace(" mode=shared", "");
    assert_eq!(hand_overs(&with(2, &leases)), (1, Some(1500.0)));
    assert_eq!(hand_overs(&with(3, &leases)), (0, None));
}
