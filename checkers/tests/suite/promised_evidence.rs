//! Evidence that is hidden, or that is promised and missing.

use crate::expect::{count, edited, found, has_reason, one};
use crate::grant_safety::OLD_WRITE;
use crate::script::{self, changed, event, history, lock, logged, txn, znode};
use serde_json::json;
use zooquake_checkers::{Verdict, check};
use zooquake_history::{
    EventType, Node, Record, ServerSample, ServerTxnLog, Txn, TxnPart, plan::RecipeSource, plan::Resource,
};

#[test]
fn what_stands_after_a_hidden_transaction_is_not_known() {
    let judged = |between: &[Txn], answer: &str, wanted: &[&str]| {
        let record = lock(&format!(
            "c1 acquire g1; c1 granted g1 czxid=10 path=/lock/one session=0x1
             c1 release g1; c1 released g1
             c3 confirm; c3 holds-not {answer}"
        ));
        let before = [
            txn(10, "0x1", "create", "/lock/one"),
            txn(11, "0x1", "delete", "/lock/one"),
            txn(12, "0x2", "create", "/lock/one"),
        ];
        let txns = [
            &before,
            between,
            &[txn(13 + between.len() as i64, "0x1", "delete", "/lock/one")],
        ]
        .concat();
        found(&logged(record, txns), wanted);
    };
    let hidden = |op: &str, session: &str| Txn {
        paths: vec![],
        ..txn(13, session, op, "")
    };
    let unowned = ["unowned-release"];
    judged(&[], "", &unowned);
    judged(
        &[hidden("error", "0x1"), txn(14, "0x3", "createSession", "")],
        "",
        &unowned,
    );
    judged(&[txn(13, "0x3", "multi", "/lock/two")], "", &[]);
    judged(&[hidden("multi", "0x1")], "", &[]);
    // Created again it is known again.
    judged(
        &[hidden("multi", "0x1"), txn(14, "0x2", "create", "/lock/one")],
        "",
        &unowned,
    );
    // The creator's session ended, whether its znodes are listed or not; or whose session ended is unknown.
    judged(&[txn(13, "0x2", "closeSession", "/lock/one")], "", &[]);
    judged(&[hidden("closeSession", "0x2")], "", &[]);
    judged(&[hidden("closeSession", "0x0")], "", &[]);
    judged(&[txn(13, "0x3", "closeSession", "/lock/two")], "", &unowned);
    // The log lacks a transaction in between, or only after all.
    judged(&[txn(14, "0x3", "create", "/lock/two")], "", &[]);
    judged(&[], "zxid=35", &unowned);
    // A multi whose parts are listed deletes it by one of them, and hides nothing.
    let multi = |op: &str, path: &str, zxid: i64| Txn {
        paths: Vec::new(),
        parts: vec![TxnPart {
            op: op.to_owned(),
            path: path.to_owned(),
            ..TxnPart::default()
        }],
        servers: vec!["n1".to_owned()],
        ..txn(zxid, "0x1", "multi", "")
    };
    for (between, wanted) in [
        (multi("setData", "/lock/two", 13), &unowned[..]),
        (multi("error", "", 13), &unowned[..]),
        (multi("delete", "/lock/one", 13), &unowned[..]),
        (multi("create", "/lock/one", 13), &[]),
    ] {
        judged(&[between], "", wanted);
    }
}

#[test]
fn what_one_server_alone_had_logged_may_never_have_been() {
    let by = |servers: &[&str], txn: Txn| Txn {
        servers: servers.iter().map(|&name| name.to_owned()).collect(),
        ..txn
    };
    let text = "c1 acquire g1; c1 granted g1 czxid=10 path=/lock/one session=0x1; c1 release g1; c1 released g1";
    let judged = |deleted: &[&str], later: &[&str], wanted: &[&str]| {
        let all = ["n1", "n2", "n3"];
        let txns = vec![
            by(&all, txn(10, "0x1", "create", "/lock/one")),
            by(&all, txn(11, "0x1", "delete", "/lock/one")),
            by(&all, txn(12, "0x2", "create", "/lock/one")),
            by(deleted, txn(13, "0x1", "delete", "/lock/one")),
            by(later, txn(14, "0x1", "error", "")),
        ];
        let record = logged(lock(text), txns);
        found(
            &changed(record, |record| record.server_txnlogs = Some(Vec::new())),
            wanted,
        );
    };
    let unowned = ["unowned-release"];
    judged(&["n1", "n3"], &[], &unowned);
    // An observer has no vote.
    judged(&["n1", "n4"], &[], &[]);
    judged(&[], &["n3"], &[]);
    // A later one of its epoch that was committed shows it.
    judged(&["n1"], &["n1", "n2"], &unowned);
}

#[test]
fn evidence_that_the_plan_promises_and_nobody_gives_is_unknown() {
    let mut fenced = lock(OLD_WRITE);
    assert_eq!(count(&check(&fenced), "gave no token"), 0, "it is not fenced");
    fenced.plan.workload.fenced = true;
    one(&fenced, "stale-write");
    has_reason(&check(&fenced), "2 of 2 grants gave no token");
    fenced.history = history(&edited(
        OLD_WRITE,
        "czxid=10 => czxid=10 token=10 | czxid=20 => czxid=20 token=20",
    ));
    assert_eq!(count(&check(&fenced), "gave no token"), 0);
    fenced.plan.workload.fenced = false;
    one(&fenced, "stale-write");
    let last = fenced
        .history
        .events
        .iter_mut()
        .rfind(|event| event.f == "write")
        .unwrap();
    last.kind = EventType::Fail;
    last.value = json!({ "grant": "g1", "value": 1, "token": 10, "accepted": false }).into();
    last.error = Some("refused: token 10 is lower than 20".into());
    found(&fenced, &[]);
    assert_eq!(count(&check(&fenced), "the resource refused"), 0, "it is built-in");
    fenced.plan.workload.recipe = Some(RecipeSource::default());
    has_reason(&check(&fenced), "the resource refused 1 write by their tokens");
    fenced.plan.workload.fenced = true;
    assert_eq!(
        count(&check(&fenced), "the resource refused"),
        0,
        "that is what tokens are for"
    );
    let mut inside = lock(&edited(OLD_WRITE, "c2 wrote g2 => c2 wrote g2 mzxid=25"));
    assert_eq!(count(&check(&inside), "mzxid"), 0, "the resource is outside");
    inside.plan.workload.resource = Resource::Zookeeper;
    has_reason(&check(&inside), "1 of 2 accepted writes gave no transaction");
}

/// A grant by a client that names its session, in a run whose servers' logs were read.
fn own(family: &str, txns: Option<Vec<Txn>>) -> Record {
    let first = 1_i64 << 32 | 1;
    let text = format!(
        "c1 note hello session=0x1; c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid={first} session=0x1
         c1 ask confirm; c1 answer confirm zxid={}; run done",
        first + 2
    );
    let mut record = script::own(family, &text);
    record.logs = Some(Vec::new());
    record.txnlog = txns;
    let (index, kind) = (record.history.events.len(), EventType::Info);
    let confinement = event(index, 1 << 40, "run", None, kind, "confinement", json!({}));
    record.history.events.push(confinement);
    record
}

/// So many transactions of the first epoch.
fn first_epoch(count: i64) -> Vec<Txn> {
    let all = (1..=count).map(|counter| txn(1 << 32 | counter, "0x1", "setData", "/x"));
    let mut all: Vec<Txn> = all.collect();
    if let Some(first) = all.first_mut() {
        (first.op, first.paths) = ("create".to_owned(), vec!["/lock/a".to_owned()]);
    }
    all
}

const INCOMPLETE: &str = "foreign-znode and stolen-znode need them complete";

fn incomplete(record: &Record) -> usize {
    let results = check(record);
    assert_ne!(results.verdict, Verdict::Invalid);
    count(&results, INCOMPLETE)
}

#[test]
fn logs_that_lack_a_transaction_are_a_reason_where_nothing_else_convicts() {
    for family in ["lock", "rwlock", "semaphore", "election"] {
        assert_eq!(incomplete(&own(family, None)), 1, "{family}: gone");
        assert_eq!(incomplete(&own(family, Some(vec![]))), 1, "{family}: empty");
    }
    let judged = |txns: Vec<Txn>| incomplete(&own("lock", Some(txns)));
    assert_eq!(judged(first_epoch(3)), 0);
    assert_eq!(
        judged(first_epoch(2)),
        1,
        "it ends before the transaction of the confirm"
    );
    assert_eq!(judged(first_epoch(4)[1..].to_vec()), 1, "its beginning is lost");
    assert_eq!(judged(changed(first_epoch(5), |gap| drop(gap.remove(2)))), 1);
    let second = |counter: i64| txn(2 << 32 | counter, "0x1", "setData", "/x");
    assert_eq!(judged([first_epoch(3), vec![second(1), second(2)]].concat()), 0);
    assert_eq!(
        judged([first_epoch(3), vec![second(2)]].concat()),
        1,
        "the beginning of an epoch"
    );
    assert_eq!(
        judged([first_epoch(2), vec![second(1)]].concat()),
        1,
        "the end of an epoch"
    );
    // Neither a history alone nor one of clients that name no session has anything to lose.
    assert_eq!(incomplete(&changed(own("lock", None), |alone| alone.logs = None)), 0);
    let foreign = changed(own("lock", None), |foreign| drop(foreign.history.events.pop()));
    assert_eq!(incomplete(&foreign), 0, "no ensemble of the recorder's own ran");
    let unnamed = "c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid=7; run done";
    let unnamed = changed(own("lock", None), |record| record.history = history(unnamed));
    assert_eq!(incomplete(&unnamed), 0);
    for family in ["register", "counter", "queue", "commit"] {
        assert_eq!(incomplete(&own(family, None)), 0, "{family}");
    }
}

#[test]
fn what_the_tree_a_lost_reply_and_the_servers_name_is_in_complete_logs() {
    let complete = || own("lock", Some(first_epoch(3)));
    let mut tree = complete();
    let reading = &mut tree.tree.as_mut().expect("a tree").readings[1];
    reading.znodes.push(znode("/lock/a", 1 << 32 | 4, "0x1"));
    assert_eq!(incomplete(&tree), 1);
    let mut lost = complete();
    let applied = json!({"window": 1, "phase": "on", "evidence": {"outcome": "applied", "zxid": 1_i64 << 32 | 4}});
    lost.history.events[0].value = applied.into();
    assert_eq!(incomplete(&lost), 1);
    for (zxid, lacks) in [(1 << 32 | 3, 0), (1 << 32 | 4, 1), (2 << 32, 0), (2 << 32 | 1, 1)] {
        let sample = ServerSample {
            server: "n2".to_owned(),
            zxid,
            ..ServerSample::default()
        };
        let sampled = changed(complete(), |sampled| sampled.servers = Some(vec![sample]));
        assert_eq!(incomplete(&sampled), lacks, "{zxid:x}");
    }
}

#[test]
fn the_logs_of_a_majority_of_the_voters_are_to_be_read_whole() {
    for (whole, lacks) in [
        ([true, true, true], 0),
        ([true, false, true], 0),
        ([false, true, false], 1),
    ] {
        let mut record = own("lock", Some(first_epoch(3)));
        let log = |(number, whole): (usize, bool)| ServerTxnLog {
            server: Node::server(number).to_string(),
            voter: true,
            whole,
            problem: (!whole).then(|| "its file is damaged".to_owned()),
            transactions: 3,
            ..ServerTxnLog::default()
        };
        record.server_txnlogs = Some((1..).zip(whole).map(log).collect());
        assert_eq!(incomplete(&record), lacks, "{whole:?}");
        if lacks == 1 {
            has_reason(
                &check(&record),
                "the transaction logs of 1 of 3 voters were read whole, and of no majority: not all of n1",
            );
        }
        record.server_txnlogs.as_mut().expect("logs").truncate(1);
        assert_eq!(incomplete(&record), 1, "nothing of two of three");
    }
}

/// A log of a server that was read whole, and what of it does not count.
fn whole_log(server: &str, transactions: usize, differs: Vec<Txn>) -> ServerTxnLog {
    ServerTxnLog {
        server: server.to_owned(),
        voter: true,
        whole: true,
        transactions,
        differs,
        ..ServerTxnLog::default()
    }
}

#[test]
fn a_log_that_has_no_transaction_counts_towards_no_majority() {
    for (transactions, lacks) in [([3, 3, 0], 0), ([3, 0, 0], 1)] {
        let mut record = own("lock", Some(first_epoch(3)));
        let log = |(number, count): (usize, usize)| whole_log(&Node::server(number).to_string(), count, Vec::new());
        record.server_txnlogs = Some((1..).zip(transactions).map(log).collect());
        assert_eq!(incomplete(&record), lacks, "{transactions:?}");
    }
}

#[test]
fn nothing_rests_on_a_zxid_at_which_no_majority_logged_the_same() {
    let second = 1_i64 << 32 | 2;
    let another = |session: &str| txn(second, session, "create", "/lock/b");
    let all = |txn: Txn| Txn {
        servers: ["n1", "n2", "n3"].map(String::from).to_vec(),
        ..txn
    };
    let record = |txns: Vec<Txn>, differs: [Vec<Txn>; 3]| {
        let mut record = own("lock", Some(txns.into_iter().map(all).collect()));
        let logs = (1..).zip(differs);
        let logs = logs.map(|(number, differs)| whole_log(&Node::server(number).to_string(), 3, differs));
        record.server_txnlogs = Some(logs.collect());
        record
    };
    let diverging = |record: &Record| {
        let anomalies = check(record).anomalies;
        assert!(anomalies.iter().all(|anomaly| anomaly.kind == "diverging-logs"));
        anomalies.first().map(|anomaly| anomaly.why.clone()).unwrap_or_default()
    };
    // A majority logged the same.
    let mut counts = first_epoch(3);
    counts[1].servers = vec!["n2".into(), "n3".into()];
    let two = changed(record(counts, [vec![another("0xdead")], vec![], vec![]]), |two| {
        two.txnlog.as_mut().expect("a log")[1].servers.remove(0);
    });
    assert_eq!(count(&check(&two), INCOMPLETE), 0);
    let why = diverging(&two);
    assert!(
        why.contains(
            "under zxid 0x100000002: n1 the create of /lock/b by the session 0xdead; n2, n3 the setData of /x"
        ),
        "{why}"
    );
    // Each of them another one: there is none that counts.
    let mut none = first_epoch(3);
    none.remove(1);
    let none = record(none, ["0x1", "0x2", "0x3"].map(|session| vec![another(session)]));
    assert_eq!(count(&check(&none), INCOMPLETE), 1);
    has_reason(
        &check(&none),
        "the transaction logs of n1 and n2 and n3 differ at 0x100000002",
    );
    assert!(!diverging(&none).is_empty());
    // The same in logs of which one alone was read whole.
    let torn = changed(none, |torn| {
        for log in torn.server_txnlogs.iter_mut().flatten().skip(1) {
            log.whole = false;
        }
    });
    assert_eq!(diverging(&torn), "");
    assert_eq!(incomplete(&torn), 1);
}
