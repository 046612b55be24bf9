//! Grants that are shared, or of which several may be held: each anomaly by one history, and silence on its innocent
//! twins.

use crate::expect::{edited, explains, guilty, has_reason, innocent, none, one, one_by};
use crate::grant_safety::OLD_WRITE;
use crate::script::{changed, lock};
use std::num::NonZeroUsize;
use zooquake_checkers::check;
use zooquake_history::{Node, Record, plan::Capabilities};

/// A reader and a writer, both confirmed.
const BOTH: &str = "
    c1 acquire g1 mode=shared; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 confirm; c2 confirm
    c2 holds g2; c1 holds g1";

/// Three clients, all confirmed.
pub const THREE: &str = "
    c1 acquire g1; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c3 acquire g3; c3 granted g3 czxid=30
    c1 confirm; c2 confirm; c3 confirm
    c1 holds g1; c2 holds g2; c3 holds g3";

/// The record of a lock that so many clients may hold.
pub fn with(capacity: usize, text: &str) -> Record {
    let capabilities = Capabilities {
        capacity: NonZeroUsize::new(capacity).expect("a capacity"),
        ..Capabilities::NONE
    };
    changed(lock(text), |record| {
        record.plan.workload.capabilities = Some(capabilities)
    })
}

fn two(text: &str) -> Record {
    with(2, text)
}

fn shared(text: &str, grant: &str) -> String {
    edited(text, &format!("acquire {grant} => acquire {grant} mode=shared"))
}

#[test]
fn a_confirmed_writer_beside_a_confirmed_reader_is_a_double_grant() {
    let found = one_by(&lock(BOTH), "double-grant", &[1, 3, 4, 5, 6, 7]);
    explains(&found, "One of the two holds is exclusive, that of c2, so");
    let turned = edited(BOTH, "mode=shared => | acquire g2 => acquire g2 mode=shared");
    let found = one_by(&lock(&turned), "double-grant", &[1, 3, 4, 5, 6, 7]);
    explains(&found, "exclusive, that of c1, so");
    let table = "
        acquire g2 => acquire g2 mode=shared
        c1 holds g1 => c1 holds-not
        c1 confirm => c1 release g1; c1 confirm
        c2 => c1";
    innocent(lock, BOTH, table);
    guilty(lock, "double-grant", BOTH, "c1 holds => c1 release g1; c1 holds");
    // With several leases the requests that name the modes are in the witness, with which the first confirm is enough.
    one_by(&two(BOTH), "double-grant", &[0, 1, 2, 3, 4, 7]);
}

#[test]
fn one_client_more_than_leases_is_over_capacity() {
    let found = one_by(&two(THREE), "over-capacity", &[1, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert!(!found.advisory);
    explains(&found, "At most 2 clients");
    none(&with(3, THREE));
    let table = "
        c1 holds g1 => c1 release g1; c2 release g2; c1 holds g1 # they were asked before they were to release
        c3 confirm => c2 release g2; c3 confirm";
    guilty(two, "over-capacity", THREE, table);
    let table = "
        c2 holds g2 => c2 unconfirmed
        c1 confirm => c1 release g1; c1 confirm
        c1 holds g1 => c1 lost g1; c1 holds g1
        c3 granted g3 czxid=30 => | c1 holds g1 => c3 granted g3; c1 holds g1
        c3 => c2 # clients are counted and not grants, as a client does not exclude itself";
    innocent(two, THREE, table);
}

#[test]
fn one_client_more_than_leases_that_did_not_confirm_is_stale() {
    let writes = (1..4).fold(THREE.replace("holds", "wrote"), |text, n| {
        text.replace(
            &format!("{} confirm", Node::client(n)),
            &format!("{} write g{n}", Node::client(n)),
        )
    });
    assert!(one_by(&two(&writes), "stale-holder", &[1, 3, 5, 6, 7, 8, 9, 10, 11]).advisory);
    none(&with(3, &writes));
}

#[test]
fn a_write_of_an_older_exclusive_grant_after_one_of_a_newer_is_stale() {
    one_by(&lock(&shared(OLD_WRITE, "g2")), "stale-write", &[1, 4, 6, 7]);
    let table = "
        acquire g1 => acquire g1 mode=shared
        acquire g1 => acquire g1 mode=shared | acquire g2 => acquire g2 mode=shared";
    innocent(lock, OLD_WRITE, table);
    none(&two(OLD_WRITE));
}

/// A writer that also reads keeps its lock: it does not exclude itself.
#[test]
fn a_client_may_write_under_its_exclusive_grant_after_its_shared_one() {
    let downgraded = "
        c1 acquire g1; c1 granted g1 czxid=10 token=10
        c1 acquire g2 mode=shared; c1 granted g2 czxid=20 token=10
        c1 write g2; c1 wrote g2
        c1 write g1; c1 wrote g1";
    none(&lock(downgraded));
    let table = "token=10 => | c1 acquire g2 mode=shared => c1 acquire g2";
    guilty(lock, "stale-write", downgraded, table);
}

#[test]
fn writes_of_a_shared_grant_around_one_of_an_exclusive_grant_are_mixed() {
    let ageless = edited(OLD_WRITE, "czxid=10 => | czxid=20 =>");
    let text = format!("{ageless}; c2 write g2; c2 wrote g2");
    one_by(&lock(&shared(&text, "g2")), "stale-write", &[6, 7, 9]);
    one_by(&lock(&shared(&text, "g1")), "stale-write", &[6, 7, 9]);
    none(&lock(&shared(&shared(&text, "g1"), "g2")));
}

const EQUAL_TOKENS: &str = "
    c1 acquire g1; c1 granted g1 czxid=10 token=7
    c2 acquire g2; c2 granted g2 czxid=20 token=7";

#[test]
fn tokens_rise_from_one_grant_to_the_next_that_it_excludes() {
    let (first, second) = (shared(EQUAL_TOKENS, "g1"), shared(EQUAL_TOKENS, "g2"));
    one_by(&lock(&first), "fencing-regression", &[1, 2, 3]);
    one_by(&lock(&second), "fencing-regression", &[0, 1, 2, 3]);
    none(&lock(&shared(&first, "g2")));
    none(&two(EQUAL_TOKENS));
    one_by(&two(&second), "fencing-regression", &[0, 1, 2, 3]);
}

/// After recovery c2 waits for twenty seconds while c1 holds.
const WAITS: &str = "
    0.1 c1 acquire g1; 0.2 c1 granted g1 czxid=10
    1 run recovered
    2 c2 acquire g2
    22 run audit";

#[test]
fn a_reader_waits_for_nobody_while_readers_hold() {
    let readers = shared(&shared(WAITS, "g1"), "g2");
    one_by(&lock(&readers), "lost-wakeup", &[2, 3, 4]);
    for text in [WAITS.to_owned(), shared(WAITS, "g1"), shared(WAITS, "g2")] {
        none(&lock(&text));
    }
}

/// In a queue the writer stands before the reader, and waits for the other reader.
#[test]
fn a_reader_may_wait_behind_a_writer_that_waits_for_readers() {
    let readers = shared(&shared(WAITS, "g1"), "g2");
    let behind = edited(&readers, "2 c2 acquire => 1.5 c3 acquire g3; 2 c2 acquire");
    none(&lock(&behind));
    let left = edited(&behind, "22 run => 9 c3 failed acquire g3; 22 run");
    one(&lock(&left), "lost-wakeup");
    innocent(lock, &left, "9 c3 => 13 c3 # it gave up too late");
}

#[test]
fn a_lease_that_is_free_is_granted() {
    one(&two(WAITS), "lost-wakeup");
    none(&with(1, WAITS));
    let both = edited(WAITS, "1 run => 0.3 c3 acquire g3; 0.4 c3 granted g3 czxid=20; 1 run");
    none(&two(&both));
    one(&with(3, &both), "lost-wakeup");
    guilty(two, "lost-wakeup", &both, "22 run => 9 c3 lost g3; 22 run");
}

/// What such a grant excludes is unknown: it convicts nobody, and its time is nobody's free time.
#[test]
fn a_mode_that_cannot_be_read_is_a_reason_and_convicts_nobody() {
    let unread = BOTH.replace("mode=shared", "mode=odd");
    one(&lock(&unread), "double-grant");
    for capacity in [1, 2] {
        let text = unread.replace("acquire g2", "acquire g2 mode=odd");
        has_reason(&none(&with(capacity, &text)), "mode cannot be read");
    }
    none(&two(&unread));
    let table = "
        acquire g1 => acquire g1 mode=odd
        acquire g1 => acquire g1 mode=odd | acquire g2 => acquire g2 mode=shared";
    innocent(lock, WAITS, table);
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
        0.1 c1 acquire g1 mode=shared; 0.2 c1 granted g1
        0.3 c3 acquire g3 mode=shared; 0.4 c3 granted g3
        0.5 c2 acquire g2
        1 c1 release g1
        2 c3 release g3
        2.5 c2 granted g2";
    assert_eq!(hand_overs(&lock(readers)), (1, Some(500.0)));
    assert_eq!(hand_overs(&lock(&shared(readers, "g2"))), (0, None));
    let leases = readers.replace(" mode=shared", "");
    assert_eq!(hand_overs(&two(&leases)), (1, Some(1500.0)));
    assert_eq!(hand_overs(&with(3, &leases)), (0, None));
}

/// A holder that confirms beside one that has left again.
const PASSING: &str = "
    c1 acquire g1 mode=shared; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 confirm
    c2 release g2; c2 released g2
    c1 holds g1";

#[test]
fn one_confirm_convicts_a_writer_beside_a_reader_and_no_two_readers() {
    let found = one_by(&lock(PASSING), "double-grant", &[1, 2, 3, 4, 7]);
    explains(&found, "exclusive, that of c2, so");
    guilty(
        lock,
        "double-grant",
        PASSING,
        "mode=shared => | acquire g2 => acquire g2 mode=shared",
    );
    innocent(lock, PASSING, "acquire g2 => acquire g2 mode=shared");
    one_by(&two(PASSING), "double-grant", &[0, 1, 2, 3, 4, 7]);
}

/// Two that confirm beside a third one that has left again.
const PASSING_THIRD: &str = "
    c1 acquire g1; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c3 acquire g3; c3 granted g3 czxid=30
    c1 confirm; c2 confirm
    c3 release g3; c3 released g3
    c1 holds g1; c2 holds g2";

#[test]
fn as_many_confirms_as_leases_convict_one_that_was_let_in_beside_them() {
    let found = one_by(&two(PASSING_THIRD), "over-capacity", &[1, 3, 4, 5, 6, 7, 10, 11]);
    explains(&found, "each of the former confirmed");
    none(&with(3, PASSING_THIRD));
    let table = "
        c2 holds g2 => c2 unconfirmed
        c2 confirm => c2 release g2; c2 confirm
        c3 acquire g3 => | c2 granted => c3 acquire g3; c2 granted # the third one may have come and gone before
        c3 => c2 # clients are counted and not grants";
    innocent(two, PASSING_THIRD, table);
}
