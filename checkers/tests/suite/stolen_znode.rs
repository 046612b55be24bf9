//! Znodes of holders that another client deleted.

pub mod every_execution;
pub mod members;

use crate::expect::{edited, minimal_as, one};
use crate::script::{logged, own, run, txn};
use zooquake_checkers::check;
use zooquake_history::{Record, Txn, TxnPart, plan::Capabilities};

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
    logged(own("lock", text), txns)
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
        plan: record(QUIET, vec![]).plan,
        txnlog: Some(deleted("0x1", "0x2")),
        ..run("own", &edited(QUIET, "; c1 ok release grant=g1 => "))
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
