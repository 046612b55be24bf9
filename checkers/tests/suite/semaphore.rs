//! Semaphores: each anomaly by one history, and silence on its nearest innocent twins; and random histories, which are those of
//! locks that several may hold, under other words.

use crate::election::Words;
use crate::modes::{self, THREE};
use crate::script::{audited, history, kinds, txn, znode};
use crate::world;
use serde_json::{Value, json};
use zooquake_checkers::history::EventType;
use zooquake_checkers::{Anomaly, Record, Results, Verdict, bare, check};

/// What a semaphore calls its anomalies.
pub const WORDS: Words = Words {
    elects: false,
    writes: false,
    double: "over-capacity",
    stale_holder: "stale-holder",
    regression: "",
    pending: "lost-wakeup",
};

/// A random history of a lock that up to three clients may hold, whose resource refuses nothing and tells no transactions.
pub fn random(seed: u64) -> Record {
    let mut record = world::counted(seed);
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

/// A record of a lock, told as one of a semaphore.
pub fn retold(lock: &Record) -> Record {
    let mut record = lock.clone();
    record.plan.workload.family = "semaphore".to_owned();
    for event in &mut record.history.events {
        match event.f.as_str() {
            "write" => event.f = "work".into(),
            "acquire" => drop(event.value.as_object_mut().map(|fields| fields.remove("token"))),
            _ => {}
        }
    }
    record
}

/// The record of a semaphore with so many leases.
fn with(capacity: usize, text: &str) -> Record {
    retold(&modes::with(capacity, text))
}

#[track_caller]
fn only(capacity: usize, text: &str, kind: &str) -> Anomaly {
    let results = check(&with(capacity, text));
    assert_eq!(kinds(&results), [kind], "{results:#?}");
    results.anomalies.into_iter().next().expect("there is one")
}

#[track_caller]
fn silent(capacity: usize, text: &str) {
    let results = check(&with(capacity, text));
    assert_eq!(kinds(&results), [""; 0], "{results:#?}");
}

#[test]
fn one_client_more_than_leases_is_over_capacity() {
    let found = only(2, THREE, "over-capacity");
    assert_eq!(found.witness, [1, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert!(!found.advisory);
    assert!(
        found.why.contains("At most 2 clients may hold a lease"),
        "{}",
        found.why
    );
    silent(3, THREE);
    silent(2, &THREE.replace("c2 holds g2", "c2 unconfirmed"));
    silent(2, &THREE.replace("c2 holds g2", "c2 holds-not"));
}

/// All three believe that they hold: c1's `confirm` was asked before the grant of c3 was read, and its hold may have ended since.
#[test]
fn one_that_was_asked_to_confirm_before_the_last_grant_was_read_convicts_nobody() {
    let early = THREE
        .replace("c1 confirm\n", "")
        .replace("c3 granted", "c1 confirm\n c3 granted");
    silent(2, &early);
    only(
        2,
        &early.replace("c3 holds g3", "c3 holds g3\n c1 confirm\n c1 holds g1"),
        "over-capacity",
    );
}

#[test]
fn two_clients_are_more_than_one_lease() {
    let two = THREE
        .lines()
        .filter(|line| !line.contains("c3"))
        .collect::<Vec<_>>()
        .join("\n");
    let found = only(1, &two, "over-capacity");
    assert!(found.why.contains("At most 1 client may hold a lease"), "{}", found.why);
    silent(2, &two);
}

/// The clients work instead of confirming.
fn working() -> String {
    (1..4).fold(THREE.replace("holds", "worked"), |text, n| {
        text.replace(&format!("c{n} confirm"), &format!("c{n} work g{n}"))
    })
}

#[test]
fn one_client_more_than_leases_that_worked_is_stale_and_no_damage() {
    let found = only(2, &working(), "stale-holder");
    assert!(found.advisory && found.why.contains("a work sent at"), "{}", found.why);
    assert_eq!(found.witness, [1, 3, 5, 6, 7, 8, 9, 10, 11]);
    silent(3, &working());
    silent(2, &working().replace("c1 worked g1", "c1 failed work g1 not-held"));
    silent(2, &working().replace("c1 worked g1", "c1 unknown work g1"));
}

/// c3 waits for fifteen seconds after recovery, while c1 holds, and c2 too until it says something else.
const WAITS: &str = "
    0.1 c1 acquire g1
    0.2 c1 granted g1 czxid=10
    0.3 c2 acquire g2
    0.4 c2 granted g2 czxid=20
    0.5 c2 work g2
    1 run recovered
    2 c3 acquire g3
    3 c2 worked g2
    17 run audit";

#[test]
fn a_lease_that_is_free_is_granted() {
    silent(2, WAITS);
    let lost = WAITS.replace("3 c2 worked g2", "3 c2 failed work g2 not-held");
    let found = only(2, &lost, "lost-wakeup");
    assert_eq!(found.witness, [5, 6, 8]);
    assert!(
        found.why.contains("fewer than 2 clients held a lease for 14.000 s"),
        "{}",
        found.why
    );
    silent(2, &lost.replace("3 c2", "8 c2"));
    silent(2, &lost.replace("17 run", "9 c3 granted g3 czxid=30\n 17 run"));
}

#[test]
fn a_release_removes_its_own_lease() {
    let text = "c1 acquire g1\n c1 granted g1 czxid=10\n c1 release g1\n c1 released g1 removed=12";
    assert_eq!(only(2, text, "unowned-release").witness, [1, 3]);
    silent(2, &text.replace("removed=12", "removed=10"));
}

#[test]
fn a_lease_that_nobody_knows_is_an_orphan() {
    let text = "
        1 c1 hello session=0x1
        6 run recovered
        7 run audit
        8 c1 quiesce
        9 c1 quiesced sessions=0x1 znodes=/lock/a@5
        10 run done";
    let mut record = with(2, text);
    for (czxid, wanted) in [(5, vec![]), (6, vec!["orphan-node"])] {
        let znodes = || vec![znode("/lock/a", czxid, "0x1")];
        record.tree = Some(audited(&history(text), znodes(), znodes()));
        assert_eq!(kinds(&check(&record)), wanted);
    }
}

/// Whether some reason says this.
fn says(results: &Results, what: &str) -> bool {
    results.reasons.iter().any(|reason| reason.contains(what))
}

#[test]
fn the_log_is_held_against_the_grants() {
    let mut record = with(2, "c1 acquire g1\n c1 granted g1 czxid=10 path=/lock/a session=0x1");
    let log = |path| {
        Some(vec![
            txn(10, "0x1", "create", path),
            txn(11, "0x1", "createSession", ""),
        ])
    };
    for (path, disagrees) in [("/lock/a", false), ("/lock/b", true)] {
        record.txnlog = log(path);
        assert_eq!(
            says(&check(&record), "evidence disagrees: grant g1"),
            disagrees,
            "{path}"
        );
    }
}

#[test]
fn work_under_a_grant_that_nobody_asked_for_or_that_failed_is_a_reason() {
    let doubt = "answers about grants do not fit together";
    assert!(says(&check(&with(2, "c1 work g7\n c1 worked g7")), doubt));
    let failed = "c1 acquire g1\n c1 failed acquire g1\n c1 work g1\n c1 worked g1";
    assert!(says(&check(&with(2, failed)), doubt));
    let sound = "c1 acquire g1\n c1 granted g1\n c1 work g1\n c1 worked g1";
    assert!(!says(&check(&with(2, sound)), doubt));
}

/// What is written belongs to locks: a semaphore's results name no checker of a resource or of tokens.
#[test]
fn nothing_of_a_resource_is_judged() {
    let results = check(&with(2, THREE));
    let ran: Vec<&str> = results.checkers.keys().map(String::as_str).collect();
    let resource = |name: &&&str| ["stale-write", "fencing-regression", "double-grant"].contains(*name);
    assert!(
        ran.contains(&"over-capacity") && ran.iter().find(resource).is_none(),
        "{ran:?}"
    );
    assert_eq!(results.stats["leaderless"], Value::Array(vec![]));
}

/// Without `work` the same history is one of a lock.
#[test]
fn how_many_leases_there_are_only_the_plan_tells() {
    let judged = |text: &str| bare::check(&history(text), vec![]).expect("it is of some family");
    assert_eq!(kinds(&judged(THREE)), ["double-grant", "double-grant"]);
    let worked = judged(&format!("{THREE}\n c1 work g1\n c1 worked g1"));
    assert_eq!((worked.verdict, kinds(&worked)), (Verdict::Unknown, vec![]));
    assert!(says(&worked, "judged as a semaphore"), "{:?}", worked.reasons);
    assert!(says(
        &worked,
        "over-capacity was not judged: it depends on the number of leases"
    ));
    let one_holds = WAITS.replace("3 c2 worked g2", "3 c2 lost g2");
    assert_eq!(kinds(&judged(&one_holds)), [""; 0]);
    let nobody_holds = one_holds.replace("17 run", "4 c1 lost g1\n 17 run");
    assert_eq!(kinds(&judged(&nobody_holds)), ["lost-wakeup"]);
}

#[test]
fn work_is_progress() {
    let idle = check(&with(2, "0 run recovered\n 1 run audit"));
    assert!(
        says(&idle, "no acquire, or no release and no work"),
        "{:?}",
        idle.reasons
    );
    let worked = "0 run recovered\n c1 acquire g1\n c1 granted g1\n c1 work g1\n c1 worked g1\n 1 run audit";
    assert!(!says(&check(&with(2, worked)), "no progress"));
}
