//! Znodes of holders that another client deleted.

use crate::brute::{confirms, sent};
use crate::expect::{edited, minimal_as, of, one};
use crate::naive::{known_deletions, node};
use crate::script::{logged, run, txn};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::plan::Capabilities;
use zooquake_checkers::{Anomaly, Event, EventType, Record, Txn, TxnPart, check};

/// Two clients that name their sessions; the first is granted, and confirms that in transaction 30.
const CONFIRMED: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2
    c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid=10 session=0x1
    c1 ask confirm; c1 answer confirm holds=true grant=g1 zxid=30
    c1 invoke release grant=g1; c1 ok release grant=g1";

/// The first is granted, and another answer names transaction 30 before its release.
const QUIET: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2
    c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid=10 session=0x1
    c2 ask confirm; c2 answer confirm holds=false zxid=30
    c1 invoke release grant=g1; c1 ok release grant=g1";

fn record(text: &str, txns: Vec<Txn>) -> Record {
    let mut record = logged(run("own", text), txns);
    record.plan.workload.family = "lock".to_owned();
    record
}

/// The znode is created by one session and deleted by another.
fn deleted(creator: &str, by: &str) -> Vec<Txn> {
    vec![txn(10, creator, "create", "/lock/a"), txn(11, by, "delete", "/lock/a")]
}

fn certain(record: &Record) -> Vec<usize> {
    let anomaly = one(record, "stolen-znode");
    assert!(!anomaly.advisory, "{anomaly:#?}");
    minimal_as(record, &anomaly, |other| other.kind == anomaly.kind && !other.advisory);
    anomaly.witness
}

fn observed(record: &Record, words: &str) {
    let anomaly = one(record, "stolen-znode");
    assert!(anomaly.advisory, "{words}: {anomaly:#?}");
    assert!(anomaly.why.contains(words), "{words:?} is not in {}", anomaly.why);
    minimal_as(record, &anomaly, |other| other.kind == anomaly.kind);
}

fn none(record: &Record, why: &str) {
    let found = check(record).anomalies;
    assert!(
        found.iter().all(|anomaly| anomaly.kind != "stolen-znode"),
        "{why}: {found:#?}"
    );
}

#[test]
fn a_confirm_after_the_deletion_convicts_whatever_is_denied_later() {
    assert_eq!(certain(&record(CONFIRMED, deleted("0x1", "0x2"))), [1, 3, 5]);
    for later in [
        "c1 note lost grant=g1; c1 invoke release grant=g1; c1 failed release g1 not-held",
        "c1 note exit",
        "c1 note session session=0x1 state=expired; c1 invoke release grant=g1",
    ] {
        let text = edited(
            CONFIRMED,
            &format!("c1 invoke release grant=g1; c1 ok release grant=g1 => {later}"),
        );
        assert_eq!(certain(&record(&text, deleted("0x1", "0x2"))), [1, 3, 5], "{later}");
    }
}

#[test]
fn a_holder_that_never_denied_held_while_later_transactions_were_answered() {
    assert_eq!(certain(&record(QUIET, deleted("0x1", "0x2"))), [1, 3, 5]);
    // By a part of a multi.
    let mut multi = deleted("0x1", "0x2");
    let part = TxnPart {
        op: "delete".to_owned(),
        path: "/lock/a".to_owned(),
        ..TxnPart::default()
    };
    (multi[1].op, multi[1].paths, multi[1].parts) = ("multi".to_owned(), vec![], vec![part]);
    assert_eq!(certain(&record(QUIET, multi)), [1, 3, 5]);
    // What it denies after it has answered its release is of no account.
    let late = edited(
        QUIET,
        "c1 ok release grant=g1 => c1 ok release grant=g1; c1 note lost grant=g1; c1 note exit",
    );
    assert_eq!(certain(&record(&late, deleted("0x1", "0x2"))), [1, 3, 5]);
}

#[test]
fn a_holder_that_may_have_held_no_more_is_observed() {
    let theft = || deleted("0x1", "0x2");
    for denied in [
        "c1 note lost grant=g1",
        "c1 note lost",
        "c1 note session session=0x1 state=expired",
        "c1 note session session=0x1 state=closed",
        "c1 ask confirm; c1 answer confirm holds=false",
        "c1 invoke write grant=g1; c1 failed write g1 not-held",
        "c1 note exit",
    ] {
        for before in ["c2 ask confirm", "c1 invoke release grant=g1"] {
            let text = edited(QUIET, &format!("{before} => {denied}; {before}"));
            observed(&record(&text, theft()), "c1 may have held no more by then");
        }
    }
    // Written before its answer to the release, and read between the two.
    let late = edited(
        QUIET,
        "c1 ok release grant=g1 => c1 note lost grant=g1; c1 ok release grant=g1",
    );
    observed(&record(&late, theft()), "c1 may have held no more by then");
    let unanswered = edited(
        QUIET,
        "c1 ok release grant=g1 => c1 info release grant=g1; c1 note exit",
    );
    observed(&record(&unanswered, theft()), "c1 may have held no more by then");
    let released = edited(QUIET, "zxid=30 => zxid=9");
    observed(&record(&released, theft()), "c1 may have given it back by then");
    let cut = Record {
        txnlog: Some(deleted("0x1", "0x2")),
        ..run("own", &edited(QUIET, "; c1 ok release grant=g1 => "))
    };
    let cut = Record {
        plan: record(QUIET, vec![]).plan,
        ..cut
    };
    assert!(
        check(&cut).anomalies.iter().all(|anomaly| anomaly.advisory),
        "the history ends before its release is answered"
    );
}

#[test]
fn who_deleted_it_has_to_be_another_client() {
    observed(
        &record(QUIET, deleted("0x1", "0x3")),
        "No client named the session that deleted it",
    );
    let second = edited(
        QUIET,
        "c2 ask confirm => c1 note session session=0x3 state=connected; c2 ask confirm",
    );
    observed(
        &record(&second, deleted("0x1", "0x3")),
        "c1 itself named the session that deleted it",
    );
    none(&record(QUIET, deleted("0x1", "0x1")), "its own session");
    none(
        &record(QUIET, deleted("0x1", "0x0001")),
        "its own session, written otherwise",
    );
    let mut helped = record(QUIET, deleted("0x1", "0x2"));
    helped.plan.workload.capabilities = Some(Capabilities {
        helpers: true,
        ..Capabilities::NONE
    });
    observed(&helped, "The recipe lets clients remove each other's znodes");
}

#[test]
fn no_other_end_of_a_znode_is_a_theft() {
    let closed = |op: &str| {
        vec![
            txn(10, "0x1", "create", "/lock/a"),
            txn(11, "0x1", op, "/lock/a"),
            txn(12, "0x2", "delete", "/lock/a"),
        ]
    };
    none(
        &record(QUIET, closed("closeSession")),
        "its creator's session was closed before",
    );
    none(&record(QUIET, closed("delete")), "it was gone");
    none(
        &record(
            QUIET,
            vec![txn(9, "0x1", "create", "/lock/a"), txn(11, "0x2", "delete", "/lock/a")],
        ),
        "another znode",
    );
    none(
        &record(
            QUIET,
            vec![txn(10, "0x1", "create", "/lock/b"), txn(11, "0x2", "delete", "/lock/b")],
        ),
        "another path",
    );
    none(
        &record(
            QUIET,
            vec![txn(10, "0x1", "create", "/lock/a"), txn(12, "0x2", "delete", "/lock/a")],
        ),
        "a transaction is missing",
    );
}

/// Its release names what it removed: that is another anomaly, and one deletion is one.
#[test]
fn a_deletion_that_a_release_names_is_an_unowned_release() {
    let text = edited(
        CONFIRMED,
        "c1 ask confirm => c2 invoke acquire grant=g2; c2 ok acquire grant=g2 path=/lock/b czxid=12 session=0x2; \
         c2 invoke release grant=g2; c2 ok release grant=g2 removed=10; c1 ask confirm",
    );
    let results = check(&record(&text, deleted("0x1", "0x2")));
    let kinds: Vec<&str> = results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect();
    assert!(
        kinds.contains(&"unowned-release") && !kinds.contains(&"stolen-znode"),
        "{kinds:?}"
    );
}

/// Members of a double barrier: the place of one is deleted while it is in the round.
const ENTERED: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2
    c1 invoke enter round=1 members=2; c2 invoke enter round=1 members=2
    c1 ok enter round=1 path=/barrier/r1/a czxid=10 session=0x1; c2 ok enter round=1 path=/barrier/r1/b czxid=9 session=0x2
    c2 ask confirm; c2 answer confirm holds=false zxid=30
    c1 invoke leave round=1; c1 ok leave round=1";

#[test]
fn a_place_in_a_round_may_be_stolen() {
    let judged = |text: &str| {
        let txns = vec![
            txn(9, "0x2", "create", "/barrier/r1/b"),
            txn(10, "0x1", "create", "/barrier/r1/a"),
            txn(11, "0x2", "delete", "/barrier/r1/a"),
        ];
        logged(run("double", text), txns)
    };
    assert_eq!(certain(&judged(ENTERED)), [1, 4, 7]);
    let early = edited(
        ENTERED,
        "c2 ask confirm => c1 note session session=0x1 state=expired; c2 ask confirm",
    );
    observed(&judged(&early), "c1 may have held no more by then");
    let left = edited(ENTERED, "zxid=30 => zxid=9");
    observed(&judged(&left), "c1 may have given it back by then");
}

#[test]
fn a_persistent_znode_of_a_holder_is_observed() {
    let made = |ephemeral: Option<bool>| {
        let create = Txn {
            ephemeral,
            ..txn(10, "0x1", "create", "/lock/a")
        };
        check(&record(QUIET, vec![create])).anomalies
    };
    let found = made(Some(false));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].kind == "persistent-contender" && found[0].advisory,
        "{found:#?}"
    );
    assert_eq!(found[0].witness, [3]);
    assert!(
        found[0]
            .why
            .contains("transaction 0xa created this znode as a persistent one"),
        "{}",
        found[0].why
    );
    assert!(made(Some(true)).is_empty() && made(None).is_empty());
}

/// A znode by which a client holds. Positions are those of events.
struct Place<'a> {
    read: usize,
    who: &'a str,
    czxid: i64,
    path: &'a str,
    session: Option<&'a str>,
    /// Where it was asked to end its hold.
    asked_back: Option<usize>,
    /// Where it denied that it holds, or its process ended, by the time at which it answered that.
    denied: Vec<usize>,
    /// The requests that confirm it, each with its answer.
    confirms: Vec<(usize, usize)>,
}

/// Deletions of holders' znodes by other sessions than their creators' and those that the holders name for them: where each grant was read, and whether every execution that fits the history has its client
/// hold by the znode, or until it is granted, when that goes.
///
/// An execution has a moment of the deletion, a moment at which the client held no more, and for each `confirm` one of its write and a later one of its
/// look, all between events or after the last. A deletion comes before an answer that names a later transaction. Belief ends after the last look of
/// a confirm that says that it holds, and after the release was sent if nothing was denied.
pub fn naive(record: &Record) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let place = |read: usize| {
        let (answer, who) = (&events[read], node(&events[read]));
        let name = answer.grant()?;
        let release = |event: &Event| event.f == "release" && event.grant() == Some(name);
        let denies = |event: &Event| {
            let says = event.f == "lost"
                || event
                    .error
                    .as_deref()
                    .is_some_and(|error| error.starts_with("not-held"));
            node(event) == who && (says && event.grant() == Some(name) || event.f == "exit")
        };
        let until = answered(events, &release);
        let disclaims = |&at: &usize| {
            let asked = sent(events, at).is_some_and(|sent| (read + 1..=until).contains(&sent));
            let event = &events[at];
            event.f == "confirm" && node(event) == who && event.holds() == Some(false) && asked
        };
        let denied = (read + 1..=until).filter(|&at| denies(&events[at]));
        Some(Place {
            read,
            who,
            czxid: answer.czxid()?,
            path: answer.path()?,
            session: answer.session(),
            asked_back: asked(events, &release),
            denied: denied.chain((read + 1..events.len()).filter(disclaims)).collect(),
            confirms: confirms(events, name),
        })
    };
    let granted = |&at: &usize| events[at].f == "acquire" && events[at].kind == EventType::Ok;
    judged(record, (0..events.len()).filter(granted).filter_map(place).collect())
}

/// The same of the places of members in rounds.
fn naive_members(record: &Record) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let place = |read: usize| {
        let (answer, who) = (&events[read], node(&events[read]));
        let entered = sent(events, read)?;
        let later = &events[entered..];
        let leaves = |event: &Event| matches!(event.f.as_str(), "leave" | "close") && node(event) == who;
        let until = entered + answered(later, &leaves);
        let over =
            |event: &Event| event.session() == answer.session() && matches!(event.state(), Some("expired" | "closed"));
        let denies = |event: &Event| node(event) == who && (event.f == "exit" || event.f == "session" && over(event));
        Some(Place {
            read,
            who,
            czxid: answer.czxid()?,
            path: answer.path()?,
            session: answer.session(),
            asked_back: asked(later, &leaves).map(|at| entered + at),
            denied: (read + 1..=until).filter(|&at| denies(&events[at])).collect(),
            confirms: vec![],
        })
    };
    let inside = |&at: &usize| events[at].f == "enter" && events[at].kind == EventType::Ok;
    judged(record, (0..events.len()).filter(inside).filter_map(place).collect())
}

fn asked(events: &[Event], ends: &dyn Fn(&Event) -> bool) -> Option<usize> {
    events
        .iter()
        .position(|event| ends(event) && event.kind == EventType::Invoke)
}

/// Where the first request that ends a hold was answered; the last event if it was not.
fn answered(events: &[Event], ends: &dyn Fn(&Event) -> bool) -> usize {
    let asked = asked(events, ends);
    let own = |at: &usize| ends(&events[*at]) && sent(events, *at) == asked && asked.is_some();
    let certain = |at: &usize| own(at) && matches!(events[*at].kind, EventType::Ok | EventType::Fail);
    (0..events.len()).find(certain).unwrap_or(events.len() - 1)
}

fn judged(record: &Record, places: Vec<Place<'_>>) -> BTreeSet<(usize, bool)> {
    let events = &record.history.events;
    let names = |event: &Event, session: &str| {
        let own = matches!(event.f.as_str(), "hello" | "session" | "acquire") && event.session() == Some(session);
        let all = event.sessions().into_iter().flatten();
        own || event.f == "quiesce" && all.filter_map(|one| one.as_str()).any(|one| one == session)
    };
    let mut found = BTreeSet::new();
    for [create, delete] in known_deletions(record) {
        let (creator, by) = (create.session.as_str(), delete.session.as_str());
        let clients: BTreeSet<&str> = events.iter().filter(|event| names(event, by)).map(node).collect();
        for place in places.iter().filter(|place| creator != by && place.session != Some(by)) {
            if place.czxid == create.zxid && place.path == delete.paths[0] {
                let other = !clients.is_empty() && !clients.contains(place.who);
                found.insert((place.read, other && !innocent(events, place, delete.zxid)));
            }
        }
    }
    found
}

/// Whether some execution has the client hold no more when its znode goes in a transaction. The moment `n` is that before event `n`.
fn innocent(events: &[Event], place: &Place<'_>, zxid: i64) -> bool {
    let named = |event: &Event| latest(&serde_json::to_value(&event.value).expect("a value"));
    let later = |event: &Event| event.kind == EventType::Ok && named(event) > Some(zxid);
    let first_later = events.iter().position(later).unwrap_or(events.len() + 1);
    let first_end = match place.denied.is_empty() {
        true => place.asked_back.map_or(events.len() + 1, |sent| sent + 1),
        false => 0,
    };
    let fits = |deletion: usize, end: usize| {
        place.confirms.iter().all(|&(sent, answered)| {
            let written = events[answered].zxid().expect("of its write");
            let ordered = |write: usize| {
                if written > zxid {
                    deletion <= write
                } else {
                    write <= deletion
                }
            };
            (sent + 1..=answered).any(|write| write < end && ordered(write))
        })
    };
    let mut moments =
        (first_end..=events.len() + 1).flat_map(|end| (0..=first_later).map(move |deletion| (deletion, end)));
    // Of a history that no execution fits nothing is certain.
    let possible = moments.clone().any(|(deletion, end)| fits(deletion, end));
    !possible || moments.any(|(deletion, end)| end <= deletion && fits(deletion, end))
}

/// The latest transaction that a value names, in whichever field.
fn latest(value: &Value) -> Option<i64> {
    let of_field = |(name, value): (&String, &Value)| match name.as_str() {
        "czxid" | "mzxid" | "zxid" if value.is_i64() => value.as_i64(),
        _ => latest(value),
    };
    match value {
        Value::Object(fields) => fields.iter().filter_map(of_field).max(),
        Value::Array(all) => all.iter().filter_map(latest).max(),
        _ => None,
    }
}

/// A double barrier with the ensemble's log: what each enter made, and deletions by whatever session. Most clients name sessions of their own.
pub fn with_log(seed: u64, mut record: Record) -> Record {
    let mut random = fastrand::Rng::with_seed(seed ^ 0x10c);
    let mut made = BTreeMap::new();
    for event in &mut record.history.events {
        let own = node(event).strip_prefix('c').map(|number| format!("0x{number}"));
        if let Some(session) = own.filter(|_| event.session().is_some() && random.u8(0..5) > 0) {
            let mut value: Value = serde_json::to_value(&event.value).expect("a value");
            value["session"] = json!(session);
            event.value = value.into();
        }
        if let ("enter", EventType::Ok, Some(czxid)) = (event.f.as_str(), event.kind, event.czxid()) {
            let path = format!("/barrier/m{czxid}");
            made.insert(czxid, (path.clone(), event.session().expect("its own").to_owned()));
            let mut value: Value = serde_json::to_value(&event.value).expect("a value");
            value["path"] = json!(path);
            event.value = value.into();
        }
    }
    let last = record.history.events.len() as i64 + 1;
    let mut txns = vec![];
    for zxid in 1..=last {
        let standing: Vec<_> = made.range(..zxid).map(|(_, (path, _))| path).collect();
        let session = format!("0x{}", random.u8(1..5));
        txns.push(match (made.get(&zxid), random.choice(&standing)) {
            (Some((path, session)), _) => Txn {
                ephemeral: [None, Some(true), Some(false)][random.usize(0..3)],
                ..txn(zxid, session, "create", path)
            },
            (None, Some(path)) if random.bool() => txn(zxid, &session, "delete", path),
            _ => txn(zxid, &session, "setData", "/x"),
        });
    }
    logged(record, txns)
}

#[test]
fn members_agree_with_the_brute_force() {
    let (mut certain, mut observed) = (0, 0);
    for seed in 0..crate::histories(10_000) {
        let record = with_log(seed, crate::queue::world::rounds(3 * seed + 1));
        assert_eq!(record.plan.workload.variant, "double");
        let results = check(&record);
        let place = |anomaly: &Anomaly| {
            let read = anomaly.witness.iter().find(|&&at| {
                record.history.events[at]
                    .path()
                    .is_some_and(|path| anomaly.why.contains(&format!("rests on {path}.")))
            });
            (*read.expect("the place"), !anomaly.advisory)
        };
        let found: BTreeSet<_> = of(&results, "stolen-znode").into_iter().map(place).collect();
        let naive = naive_members(&record);
        assert_eq!(found, naive, "seed {seed}\n{}", crate::spoilt::lines(&record));
        certain += naive.iter().filter(|(_, certain)| *certain).count() as u64;
        observed += naive.iter().filter(|(_, certain)| !*certain).count() as u64;
    }
    let all = crate::histories(10_000);
    assert!(
        certain > all / 100 && observed > all / 100,
        "{certain} and {observed} of {all}"
    );
}
