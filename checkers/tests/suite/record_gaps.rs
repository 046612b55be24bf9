//! Records that lack what their plan promises: files, samples, servers; and clients that the plan does not have.

use crate::expect::{has_reason, kinds, lacks_reason, valid};
use crate::script::{changed, event, history, in_time, logged, record, txn};
use serde_json::json;
use zooquake_checkers::{Verdict, check};
use zooquake_history::plan::{On, Plan, Scene, Step};
use zooquake_history::{EventType, Node, Provenance, Record, ServerLog, ServerSample, ServerTxnLog, plan::Act};

/// The first transaction of an epoch.
const FIRST: i64 = (1 << 32) + 1;

/// A lock of two clients, recovered and audited, of which the record has all that its plan names.
fn whole() -> Record {
    let text = format!(
        "0 run ops; 0.1 c1 note hello session=0x1; 0.1 c2 note hello session=0x2
         1 c1 acquire g1; 1.1 c1 granted g1 path=/lock/a session=0x1 czxid={}; 1.2 c1 write g1; 1.3 c1 wrote g1
         1.4 c1 release g1; 1.5 c1 released g1
         2 run recover; 2.1 c1 quiesce; 2.1 c2 quiesce; 2.2 c1 quiesced sessions=0x1; 2.2 c2 quiesced sessions=0x2
         2.3 run recovered
         3 c1 acquire g2; 3.1 c1 granted g2 path=/lock/b session=0x1 czxid={}; 3.2 c1 release g2; 3.3 c1 released g2
         4 c2 acquire g3; 4.1 c2 granted g3 path=/lock/c session=0x2 czxid={}; 4.2 c2 release g3; 4.3 c2 released g3
         20 run audit; 20.1 c1 quiesce; 20.1 c2 quiesce; 20.2 c1 quiesced sessions=0x1; 20.2 c2 quiesced sessions=0x2",
        FIRST + 2,
        FIRST + 4,
        FIRST + 6
    );
    let txns = [
        ("0x1", "createSession", ""),
        ("0x2", "createSession", ""),
        ("0x1", "create", "/lock/a"),
        ("0x1", "delete", "/lock/a"),
        ("0x1", "create", "/lock/b"),
        ("0x1", "delete", "/lock/b"),
        ("0x2", "create", "/lock/c"),
        ("0x2", "delete", "/lock/c"),
    ];
    let txns: Vec<_> = (FIRST..)
        .zip(txns)
        .map(|(zxid, (session, op, path))| changed(txn(zxid, session, op, path), |txn| txn.servers = servers(3)))
        .collect();
    let (first, last, transactions) = (FIRST, FIRST + 7, txns.len());
    let mut record = logged(
        record("lock", "protected", &["/lock"], 2, history(&in_time(&text))),
        txns,
    );
    let confinement = event(0, 0, "run", None, EventType::Info, "confinement", json!({}));
    record.history.events.insert(0, confinement);
    crate::script::number(&mut record.history.events);
    record.tree = Some(crate::script::audited(&record.history, vec![], vec![]));
    record.server_txnlogs = Some(
        servers(3)
            .into_iter()
            .map(|server| ServerTxnLog {
                server,
                voter: true,
                whole: true,
                first,
                last,
                transactions,
                ..ServerTxnLog::default()
            })
            .collect(),
    );
    let samples = (0..21).flat_map(|second| servers(3).into_iter().map(move |server| sample(second, &server)));
    record.servers = Some(samples.collect());
    record.logs = Some(servers(3).iter().map(|server| ServerLog::read(server, b"")).collect());
    record.provenance = Some(serde_json::from_value::<Provenance>(json!({})).unwrap());
    record.plan = record.plan.of_new_run();
    with_missing(record)
}

fn servers(number: usize) -> Vec<String> {
    (1..=number).map(|n| Node::server(n).to_string()).collect()
}

fn sample(second: u64, server: &str) -> ServerSample {
    ServerSample {
        time: second * 1_000_000_000,
        server: server.to_owned(),
        mode: if server == "n1" { "leader" } else { "follower" }.to_owned(),
        epoch: 1,
        zxid: FIRST + i64::try_from(second / 4).unwrap(),
        version: String::new(),
    }
}

/// The record with the names of what its plan names and it does not have.
fn with_missing(mut record: Record) -> Record {
    record.missing = record.files_without_content();
    record
}

fn without(change: impl FnOnce(&mut Record)) -> Record {
    with_missing(changed(whole(), change))
}

/// The same as a record of an older version.
fn of_format_1(mut record: Record) -> Record {
    (record.plan.format, record.plan.record) = (1, Vec::new());
    with_missing(record)
}

#[track_caller]
fn unknown_by(record: &Record, reason: &str) {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Unknown, "{results:#?}");
    let with: Vec<&String> = results
        .reasons
        .iter()
        .filter(|said| !said.starts_with("note: "))
        .collect();
    assert_eq!(with, [reason], "{results:#?}");
}

#[test]
fn a_record_with_all_that_its_plan_names_lacks_nothing() {
    let named = whole().plan.record;
    assert_eq!(
        named,
        [
            "provenance.json",
            "tree.json",
            "txnlog.jsonl",
            "txnlogs.json",
            "servers.jsonl",
            "logs/n1.log",
            "logs/n2.log",
            "logs/n3.log"
        ]
    );
    lacks_reason(&valid(&whole()), "missing");
    let older = of_format_1(without(|record| {
        (record.servers, record.server_txnlogs, record.provenance) = (None, None, None);
        record.logs = Some(Vec::new());
    }));
    valid(&older);
}

#[test]
fn a_missing_file_by_which_a_checker_convicts_is_unknown() {
    let sampled = "two-ensemble-leaders and ensemble-epoch-regression";
    unknown_by(
        &without(|record| record.servers = None),
        &format!("servers.jsonl is missing, which the plan names: {sampled} need it"),
    );
    let logged = "foreign-znode, stolen-znode and diverging-logs need";
    unknown_by(
        &without(|record| record.server_txnlogs = None),
        &format!("txnlogs.json is missing, which the plan names: {logged} it"),
    );
    unknown_by(
        &without(|record| (record.server_txnlogs, record.txnlog) = (None, None)),
        &format!("txnlog.jsonl, txnlogs.json are missing, which the plan names: {logged} them"),
    );
    unknown_by(
        &without(|record| drop(record.logs.as_mut().unwrap().remove(1))),
        "logs/n2.log is missing, which the plan names: lesser-vote-won needs it",
    );
    let tree = check(&without(|record| record.tree = None));
    assert_eq!(tree.verdict, Verdict::Unknown);
    has_reason(&tree, "tree.json is missing, which the plan names: ");
    lacks_reason(&tree, "the znode tree was not read");
}

#[test]
fn a_missing_file_on_which_no_verdict_rests_is_a_remark() {
    let results = valid(&without(|record| record.provenance = None));
    has_reason(
        &results,
        "note: provenance.json is missing, which the plan names; no verdict rests on that",
    );
}

#[test]
fn what_a_family_has_no_other_checker_for_convicts_by_the_logs_all_the_same() {
    let record = without(|record| {
        record.plan.workload.family = "register".to_owned();
        record.server_txnlogs = None;
    });
    has_reason(
        &check(&record),
        "txnlogs.json is missing, which the plan names: diverging-logs needs it",
    );
}

#[test]
fn a_record_without_its_end_misses_no_file() {
    let cut = without(|record| {
        record.history.events.pop();
        (record.servers, record.tree, record.txnlog, record.server_txnlogs) = (None, None, None, None);
    });
    let results = check(&cut);
    has_reason(&results, "the run did not reach its end");
    has_reason(&results, "the znode tree was not read");
    lacks_reason(&results, "is missing");
}

#[test]
fn logs_without_what_was_read_of_each_do_not_pass_for_those_of_an_older_version() {
    // Logged by one voter alone, a transaction is none that certainly took effect.
    let deleted = |record: &mut Record| {
        let txns = record.txnlog.as_mut().unwrap();
        txns[3].session = "0x2".to_owned();
    };
    let stolen = without(deleted);
    assert!(!kinds(&check(&stolen)).is_empty(), "another client deleted the znode");
    let missed = without(|record| {
        deleted(record);
        record.server_txnlogs = None;
        record.history.events.pop();
    });
    has_reason(
        &check(&missed),
        "txnlogs.json, which states what was read of each server's log, was not read",
    );
}

#[test]
fn samples_that_are_missing_at_an_end_are_unknown() {
    let sampled = |from: u64, until: u64| {
        without(|record| {
            let within = |sample: &ServerSample| (from..=until).contains(&(sample.time / 1_000_000_000));
            record.servers.as_mut().unwrap().retain(within);
        })
    };
    let need = "two-ensemble-leaders and ensemble-epoch-regression need them";
    unknown_by(
        &sampled(6, 20),
        &format!(
            "servers.jsonl lacks samples at its beginning (n1 is sampled from 6.000 s on, n2 is sampled from 6.000 s on, n3 is \
             sampled from 6.000 s on, and the run began at 0.000 s): {need}"
        ),
    );
    unknown_by(
        &sampled(0, 9),
        &format!(
            "servers.jsonl lacks samples at its end (n1 is sampled until 9.000 s, n2 is sampled until 9.000 s, n3 is sampled \
             until 9.000 s, and the run went on until 20.200 s): {need}"
        ),
    );
    valid(&sampled(2, 18));
    valid(&of_format_1(sampled(0, 9)));
    // A server that is slow to answer is sampled less often, and late.
    let slow = without(|record| {
        let often = |sample: &ServerSample| sample.server != "n3" || (sample.time / 1_000_000_000) % 5 == 4;
        record.servers.as_mut().unwrap().retain(often);
    });
    valid(&slow);
}

#[test]
fn servers_and_clients_that_only_the_plan_or_only_the_record_has_are_unknown() {
    let more = without(|record| record.plan.cluster.servers = 5);
    let unlogged =
        "txnlogs.json has nothing of n4, n5, which the plan has: what a majority of the voters logged is not known";
    unknown_by(&of_format_1(more.clone()), unlogged);
    let results = check(&more);
    assert_eq!(results.verdict, Verdict::Unknown);
    has_reason(&results, unlogged);
    has_reason(&results, "servers.jsonl has nothing of n4, n5, which the plan has");
    let fewer = without(|record| record.plan.cluster.servers = 1);
    has_reason(
        &check(&fewer),
        "servers.jsonl names n2, n3, which the plan does not have",
    );
    let clients = without(|record| record.plan.cluster.clients = 1);
    for record in [clients.clone(), of_format_1(clients)] {
        unknown_by(
            &record,
            "the history has operations of c2, which the plan does not have",
        );
    }
}

#[test]
fn a_run_of_scenes_has_the_logs_of_the_servers_that_each_starts() {
    let start = |servers: &[usize]| Step {
        act: Act::Start,
        servers: servers.iter().copied().map(Node::server).collect(),
    };
    let mut plan = Plan {
        scenes: vec![Scene {
            name: "one".to_owned(),
            steps: vec![start(&[2, 1]), start(&[1])],
            winner: Node::server(1),
            rule: String::new(),
        }],
        ..Plan::default()
    };
    (plan.workload.family, plan.cluster.servers) = ("ensemble".to_owned(), 3);
    let plan = plan.of_new_run();
    assert_eq!(
        plan.record,
        ["provenance.json", "servers.jsonl", "logs/one/n1.log", "logs/one/n2.log"]
    );
    let done = event(0, 0, "run", None, EventType::Info, "phase", json!("done"));
    let mut record = Record {
        plan,
        ..Record::default()
    };
    let played = event(
        1,
        0,
        "scene",
        None,
        EventType::Info,
        "step",
        json!({ "scene": "one", "step": 1 }),
    );
    record.history.events.extend([done, played]);
    record.scenes.insert("one".to_owned(), vec![ServerLog::read("n1", b"")]);
    let results = check(&with_missing(record));
    has_reason(
        &results,
        "logs/one/n2.log is missing, which the plan names: lesser-vote-won needs it",
    );
    has_reason(&results, "servers.jsonl is missing, which the plan names");
    lacks_reason(&results, "which the plan does not have");
}

#[test]
fn a_network_has_its_messages() {
    let plan = Plan {
        on: On::Network,
        ..Plan::default()
    };
    assert_eq!(plan.of_new_run().record, ["provenance.json", "messages.jsonl"]);
}
