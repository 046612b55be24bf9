//! Semaphores: each anomaly by one history, and silence on its nearest innocent twins; and random histories, which are
//! those of locks that several may hold, under other words.

use crate::election::Words;
use crate::expect::{count, edited, explains, found, guilty, has_reason, innocent, kinds, none, one, one_by};
use crate::grant_modes::{self, THREE};
use crate::script::{self, history, standing, txn, znode};
use crate::simulated_locks;
use serde_json::{Value, json};
use zooquake_checkers::{Verdict, check, inferred_plan};
use zooquake_history::{EventType, Node, Record};

/// What a semaphore calls its anomalies.
pub const WORDS: Words = Words {
    elects: false,
    writes: false,
    double: "over-capacity",
    stale_holder: "stale-holder",
    regression: "",
    pending: "lost-wakeup",
};

/// A random history of a lock that up to three clients may hold, whose resource refuses nothing and names no
/// transactions.
pub fn random(seed: u64) -> Record {
    let mut record = simulated_locks::counted(seed);
    for event in &mut record.history.events {
        if event.f == "write" && event.error.as_deref().is_some_and(|why| why.starts_with("refused")) {
            (event.kind, event.error) = (EventType::Ok, None);
        }
        if event.f == "write" {
            event.value = json!({ "grant": event.value["grant"] }).into();
        }
    }
    record
}

/// A record of a lock, rewritten as one of a semaphore.
pub fn retold(lock: &Record) -> Record {
    let mut record = script::retold(lock, "semaphore", &[("write", "work")]);
    for event in record.history.events.iter_mut().filter(|event| event.f == "acquire") {
        drop(event.value.as_object_mut().map(|fields| fields.remove("token")));
    }
    record
}

/// The record of a semaphore with so many leases.
fn with(capacity: usize, text: &str) -> Record {
    retold(&grant_modes::with(capacity, text))
}

fn two(text: &str) -> Record {
    with(2, text)
}

#[test]
fn one_client_more_than_leases_is_over_capacity() {
    let found = one_by(&two(THREE), "over-capacity", &[1, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert!(!found.advisory);
    explains(&found, "At most 2 clients may hold a lease");
    none(&with(3, THREE));
    let table = "c2 holds g2 => c2 unconfirmed\n c2 holds g2 => c2 holds-not";
    innocent(two, THREE, table);
}

/// All three believe that they hold: c1's `confirm` was asked before the grant of c3 was read, and its hold may have
/// ended since.
#[test]
fn one_that_was_asked_to_confirm_before_the_last_grant_was_read_convicts_nobody() {
    let early = edited(THREE, "c1 confirm => | c3 granted => c1 confirm; c3 granted");
    none(&two(&early));
    let table = "c3 holds g3 => c3 holds g3; c1 confirm; c1 holds g1";
    guilty(two, "over-capacity", &early, table);
}

#[test]
fn two_clients_are_more_than_one_lease() {
    let of_two: String = THREE
        .split_inclusive(['\n', ';'])
        .filter(|line| !line.contains("c3"))
        .collect();
    let anomaly = one(&with(1, &of_two), "over-capacity");
    explains(&anomaly, "At most 1 client may hold a lease");
    none(&two(&of_two));
}

#[test]
fn one_client_more_than_leases_that_worked_is_stale_and_no_damage() {
    // The clients work instead of confirming.
    let working = (1..4).fold(THREE.replace("holds", "worked"), |text, n| {
        text.replace(
            &format!("{} confirm", Node::client(n)),
            &format!("{} work g{n}", Node::client(n)),
        )
    });
    let found = one_by(&two(&working), "stale-holder", &[1, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert!(found.advisory);
    explains(&found, "a work sent at");
    none(&with(3, &working));
    let table = "
        c1 worked g1 => c1 failed work g1 not-held
        c1 worked g1 => c1 unknown work g1";
    innocent(two, &working, table);
}

/// c3 waits for fifteen seconds after recovery, while c1 holds, and c2 too until it reports something else.
const WAITS: &str = "
    0.1 c1 acquire g1; 0.2 c1 granted g1 czxid=10
    0.3 c2 acquire g2; 0.4 c2 granted g2 czxid=20; 0.5 c2 work g2
    1 run recovered
    2 c3 acquire g3
    3 c2 worked g2
    17 run audit";

#[test]
fn a_lease_that_is_free_is_granted() {
    none(&two(WAITS));
    let lost = edited(WAITS, "3 c2 worked g2 => 3 c2 failed work g2 not-held");
    let found = one_by(&two(&lost), "lost-wakeup", &[5, 6, 8]);
    explains(&found, "fewer than 2 clients held a lease for 14.000 s");
    innocent(two, &lost, "3 c2 => 8 c2\n 17 run => 9 c3 granted g3 czxid=30; 17 run");
}

#[test]
fn a_release_removes_its_own_lease() {
    let text = "c1 acquire g1; c1 granted g1 czxid=10; c1 release g1; c1 released g1 removed=12";
    one_by(&two(text), "unowned-release", &[1, 3]);
    innocent(two, text, "removed=12 => removed=10");
}

#[test]
fn a_lease_that_nobody_knows_is_an_orphan() {
    let text = "
        1 c1 hello session=0x1
        6 run recovered; 7 run audit
        8 c1 quiesce; 9 c1 quiesced sessions=0x1 znodes=/lock/a@5
        10 run done";
    for (czxid, wanted) in [(5, &[][..]), (6, &["orphan-node"])] {
        found(&standing(two(text), vec![znode("/lock/a", czxid, "0x1")]), wanted);
    }
}

#[test]
fn the_log_is_held_against_the_grants() {
    let mut record = two("c1 acquire g1; c1 granted g1 czxid=10 path=/lock/a session=0x1");
    for (path, disagree) in [("/lock/a", 0), ("/lock/b", 1)] {
        record.txnlog = Some([txn(10, "0x1", "create", path), txn(11, "0x1", "createSession", "")].into());
        let found = count(&check(&record), "evidence disagrees: grant g1");
        assert_eq!(found, disagree, "{path}");
    }
}

#[test]
fn work_under_a_grant_that_nobody_asked_for_or_that_failed_is_a_reason() {
    for (asked, doubts) in [
        ("", 1),
        ("c1 acquire g1; c1 failed acquire g1", 1),
        ("c1 acquire g1; c1 granted g1", 0),
    ] {
        let results = check(&two(&format!("{asked}; c1 work g1; c1 worked g1")));
        let found = count(&results, "answers about grants do not fit together");
        assert_eq!(found, doubts, "{asked}");
    }
}

/// What is written belongs to locks: a semaphore's results name no checker of a resource or of tokens.
#[test]
fn nothing_of_a_resource_is_judged() {
    let results = check(&two(THREE));
    let ran: Vec<&str> = results.checkers.keys().map(String::as_str).collect();
    assert!(ran.contains(&"over-capacity"), "{ran:?}");
    for of_a_resource in ["stale-write", "fencing-regression", "double-grant"] {
        assert!(!ran.contains(&of_a_resource), "{ran:?}");
    }
    assert_eq!(results.stats["leaderless"], Value::Array(vec![]));
}

/// Without `work` the same history is one of a lock.
#[test]
fn how_many_leases_there_are_only_the_plan_tells() {
    let judged = |text: &str| inferred_plan::check(&history(text), vec![]).expect("it is of some family");
    assert_eq!(kinds(&judged(THREE)), ["double-grant", "double-grant"]);
    let worked = judged(&format!("{THREE}; c1 work g1; c1 worked g1"));
    assert_eq!((worked.verdict, kinds(&worked)), (Verdict::Unknown, vec![]));
    has_reason(&worked, "judged as a semaphore");
    has_reason(
        &worked,
        "over-capacity was not judged: it depends on the number of leases",
    );
    let one_holds = edited(WAITS, "3 c2 worked g2 => 3 c2 lost g2");
    assert_eq!(kinds(&judged(&one_holds)), [""; 0]);
    let nobody_holds = edited(&one_holds, "17 run => 4 c1 lost g1; 17 run");
    assert_eq!(kinds(&judged(&nobody_holds)), ["lost-wakeup"]);
}

#[test]
fn work_is_progress() {
    let results = check(&two("0 run recovered; 1 run audit"));
    has_reason(&results, "no acquire, or no release and no work");
    let worked = "0 run recovered; c1 acquire g1; c1 granted g1; c1 work g1; c1 worked g1; 1 run audit";
    assert_eq!(count(&check(&two(worked)), "no progress"), 0);
}
