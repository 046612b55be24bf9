//! Grants, and places in rounds, that rest on znodes of other sessions than they name.

use crate::brute_force::sent;
use crate::expect::{edited, minimal_as, one_by};
use crate::liveness::node;
use crate::script::{changed, own, txn};
use std::collections::BTreeSet;
use zooquake_checkers::check;
use zooquake_history::plan::Capabilities;
use zooquake_history::{Event, EventType, Record, Txn};

/// A client that names its session, and a grant.
const HELD: &str = "
    c1 note hello session=0x1
    c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid=10 session=0x1";

fn record(text: &str, owner: &str, op: &str) -> Record {
    let txns = vec![txn(10, owner, op, "/lock/a")];
    changed(own("lock", text), |record| record.txnlog = Some(txns))
}

fn found(text: &str, owner: &str, op: &str) -> Vec<(String, bool)> {
    let anomalies = check(&record(text, owner, op)).anomalies.into_iter();
    anomalies.map(|anomaly| (anomaly.kind, anomaly.advisory)).collect()
}

#[test]
fn a_grant_by_another_sessions_znode_convicts() {
    for op in ["create", "multi"] {
        let record = record(HELD, "0x2", op);
        let anomaly = one_by(&record, "foreign-znode", &[0, 1, 2]);
        assert!(!anomaly.advisory);
        minimal_as(&record, &anomaly, |other| other.kind == anomaly.kind && !other.advisory);
        assert_eq!(
            anomaly.why.split(" No fault").next(),
            Some(
                "grant g1 of c1 (czxid 0xa) was read at 0.003 s and names the session 0x1. The transaction log shows that its znode, \
                 /lock/a, was created by another session, 0x2. The client had named its session at 0.001 s, before the grant was \
                 asked for at 0.002 s: it holds by a znode that does not live with its session."
            )
        );
    }
}

#[test]
fn whatever_named_the_session_before_will_do() {
    for before in [
        "c1 note session session=0x1 state=connected",
        "c1 ask quiesce; c1 answer quiesce sessions=0x3,0x1",
        "c1 invoke acquire grant=g0; c1 ok acquire grant=g0 session=0x1",
    ] {
        let text = edited(HELD, &format!("c1 note hello session=0x1 => {before}"));
        let told = found(&text, "0x2", "create");
        assert_eq!(told, [("foreign-znode".to_owned(), false)], "{before}");
    }
}

#[test]
fn a_client_that_had_not_named_its_session_may_have_changed_it() {
    for changed in [
        // Another client's.
        "c1 note => c2 note",
        "hello session=0x1 => hello session=0x2",
        // It came about while it waited.
        "hello session=0x1 => hello session=0x2 | c1 ok => c1 note session session=0x1 state=connected; c1 ok",
    ] {
        let advisory = [("foreign-znode".to_owned(), true)];
        assert_eq!(found(&edited(HELD, changed), "0x2", "create"), advisory, "{changed}");
    }
}

/// A member that takes the znode of the process before for its own.
#[test]
fn a_place_by_a_znode_of_the_process_before_convicts() {
    let text = "
        c1 note hello session=0x1
        c1 invoke enter round=1 members=1
        c1 note exit
        c1 note hello session=0x2
        c1 invoke enter round=1 members=1; c1 ok enter round=1 path=/barrier/1/a czxid=10 session=0x2";
    let place = |text: &str, owner: &str| {
        let txns = vec![txn(10, owner, "create", "/barrier/1/a")];
        changed(own("barrier", text), |record| {
            record.plan.workload.capabilities = Some(Capabilities::NONE);
            record.txnlog = Some(txns);
        })
    };
    let record = place(text, "0x1");
    let anomaly = one_by(&record, "foreign-znode", &[3, 4, 5]);
    assert!(
        anomaly.why.starts_with("the place of c1 (czxid 0xa) was read"),
        "{}",
        anomaly.why
    );
    minimal_as(&record, &anomaly, |other| other.kind == anomaly.kind && !other.advisory);
    let kinds = |record: &Record| -> Vec<(String, bool)> {
        let anomalies = check(record).anomalies.into_iter();
        anomalies.map(|anomaly| (anomaly.kind, anomaly.advisory)).collect()
    };
    assert_eq!(kinds(&place(text, "0x2")), []);
    let unnamed = edited(text, "hello session=0x2 => hello");
    let advisory = ("foreign-znode".to_owned(), true);
    assert_eq!(
        kinds(&place(&edited(&unnamed, "hello session=0x1 => hello"), "0x1")),
        [advisory]
    );
}

#[test]
fn its_own_znode_and_what_does_not_fit_convict_nobody() {
    for (edits, owner, op, why) in [
        ("c1 => c1", "0x1", "create", "its own"),
        ("c1 => c1", "0x0001", "create", "written otherwise"),
        ("czxid=10 => czxid=11", "0x2", "create", "the log does not have it"),
        ("path=/lock/a => path=/lock/b", "0x2", "create", "another znode"),
        ("c1 => c1", "0x2", "delete", "no create"),
        ("session=0x1 =>", "0x2", "create", "it named none"),
    ] {
        assert_eq!(found(&edited(HELD, edits), owner, op), [], "{why}");
    }
}

/// Two processes of a client, the second of which is granted by the znode of the first one.
const SECOND: &str = "
    c1 note hello session=0x2
    c1 invoke acquire grant=g0; c1 ok acquire grant=g0 path=/lock/a czxid=10 session=0x2
    c1 exit
    c1 note hello
    c1 invoke acquire grant=g1; c1 note session session=0x1 state=connected
    c1 ok acquire grant=g1 path=/lock/a czxid=10 session=0x1";

#[test]
fn a_znode_of_the_process_before_convicts() {
    let older = one_by(&record(SECOND, "0x2", "create"), "foreign-znode", &[2, 4, 7]);
    assert!(!older.advisory);
    minimal_as(&record(SECOND, "0x2", "create"), &older, |other| {
        other.kind == older.kind && !other.advisory
    });
    assert!(
        older
            .why
            .contains("began only at 0.005 s: it holds by a znode that was made before it"),
        "{older:#?}"
    );
    // Its creation is named by nobody, but its session was.
    let unanswered = edited(SECOND, "c1 ok acquire grant=g0 path=/lock/a czxid=10 session=0x2 =>");
    let others = one_by(&record(&unanswered, "0x2", "create"), "foreign-znode", &[0, 3, 6]);
    assert!(!others.advisory);
    assert!(others.why.contains("by a znode of another process"), "{others:#?}");
    for (edits, advisory, why) in [
        (
            "c1 note hello session=0x2 => c2 note hello session=0x2",
            false,
            "another client had named it",
        ),
        (
            "c1 note hello session=0x2 => c1 note hello",
            true,
            "nobody had named it",
        ),
        (
            "c1 note session session=0x1 => c1 note session session=0x2 state=connected; c1 note session session=0x1",
            true,
            "this process has it too",
        ),
    ] {
        let text = edited(&unanswered, edits);
        let told = found(&text, "0x2", "create");
        assert_eq!(told, [("foreign-znode".to_owned(), advisory)], "{why}");
    }
}

/// Readings of grants whose znode another session created than they name; true for those whose client had named theirs
/// before the grant was asked for, whose znode was made before the process began, or by a session that another process
/// had named.
pub fn naive(record: &Record) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let creates = |zxid: i64| move |txn: &&Txn| txn.zxid == zxid && matches!(txn.op.as_str(), "create" | "multi");
    let mut found = BTreeSet::new();
    for (at, event) in events.iter().enumerate() {
        let (true, Some(told), Some(czxid)) = (
            ["acquire", "enter"].contains(&event.f.as_str()) && event.kind == EventType::Ok,
            event.session(),
            event.czxid(),
        ) else {
            continue;
        };
        let made = record.txnlog.iter().flatten().find(creates(czxid));
        if let Some(made) = made.filter(|txn| txn.session != told) {
            let asked = sent(events, at).expect("it was asked for");
            let names = |other: &Event, session: &str| {
                let all = other.sessions().into_iter().flatten().filter_map(|one| one.as_str());
                other.kind != EventType::Invoke
                    && other.f != "enter"
                    && all.chain(other.session()).any(|one| one == session)
            };
            let own = |other: &Event| node(other) == node(event);
            let known = events[..asked].iter().any(|other| own(other) && names(other, told));
            let hello = |other: &Event| own(other) && other.f == "hello";
            let strange = events[..at].iter().rposition(hello).is_some_and(|began| {
                let older = events[..began]
                    .iter()
                    .any(|other| latest(&other.value.to_string()) >= czxid);
                let (former, present) = events[..at].split_at(began);
                let named = |all: &[Event], of: &dyn Fn(&Event) -> bool| {
                    all.iter().any(|other| of(other) && names(other, &made.session))
                };
                let by_another = named(former, &|_| true) || named(present, &|other| !own(other));
                older || by_another && !named(present, &own)
            });
            found.insert((at, known || strange));
        }
    }
    found
}

/// The greatest zxid that a value names.
fn latest(value: &str) -> i64 {
    let each = value.split("zxid\":").skip(1);
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    each.filter_map(|rest| digits(rest).parse().ok()).max().unwrap_or(0)
}
