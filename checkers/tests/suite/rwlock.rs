//! Read-write locks: what readers do under shared grants, and silence on the innocent twins.

use crate::script::{audited, kinds, record, znode};
use zooquake_checkers::analysis::Analysis;
use zooquake_checkers::{Record, Results, check};
use zooquake_history::operation::Mode;

/// A reader whose hold has ended at the ensemble reads on beside a writer.
const READS_ON: &str = "
    c1 acquire g1 mode=shared
    c1 granted g1 czxid=10
    c2 acquire g2
    c2 granted g2 czxid=20
    c1 confirm
    c2 confirm
    c2 holds g2
    c1 read g1
    c1 has-read g1";

fn rwlock(text: &str) -> Record {
    let mut record = record(text);
    record.plan.workload.family = "rwlock".to_owned();
    record
}

#[track_caller]
fn found(text: &str, wanted: &[&str]) -> Results {
    let results = check(&rwlock(text));
    assert_eq!(kinds(&results), wanted, "{results:#?}");
    results
}

#[test]
fn a_reader_that_reads_on_beside_a_writer_is_stale_and_convicts_nobody() {
    let results = found(READS_ON, &["stale-holder"]);
    let stale = &results.anomalies[0];
    assert!(stale.advisory && stale.why.contains("a read sent at"), "{}", stale.why);
    assert_eq!(stale.witness, [1, 3, 5, 6, 7, 8]);
    found(&READS_ON.replace("acquire g2", "acquire g2 mode=shared"), &[]);
    found(&READS_ON.replace("c1 has-read g1", "c1 failed read g1 not-held"), &[]);
}

#[test]
fn a_confirm_that_was_sent_before_the_writer_s_grant_was_read_convicts_nobody() {
    let confirmed = READS_ON
        .replace("c1 read g1", "c1 holds g1")
        .replace("c1 has-read g1", "");
    found(&confirmed, &["double-grant"]);
    let before = confirmed
        .replace("    c1 confirm\n", "")
        .replace("c2 granted", "c1 confirm\n c2 granted");
    found(&before, &[]);
}

#[test]
fn a_read_that_is_refused_ends_the_hold() {
    let waits = "
        0.1 c1 acquire g1 mode=shared
        0.2 c1 granted g1
        0.3 c1 read g1
        1 run recovered
        2 c2 acquire g2
        22 run audit";
    found(waits, &[]);
    let refused = waits.replace("1 run", "0.4 c1 unknown read g1\n 1 run");
    found(&refused, &[]);
    let ended = waits.replace("1 run", "0.4 c1 failed read g1 not-held\n 1 run");
    assert!(
        found(&ended, &["lost-wakeup"]).anomalies[0]
            .why
            .contains("nobody held the lock in a way")
    );
}

#[test]
fn a_read_under_a_grant_that_nobody_asked_for_is_a_reason() {
    let reason = |text: &str| {
        let results = found(text, &[]);
        let about = |reason: &String| reason.contains("a `read` under grant");
        results.reasons.iter().any(about)
    };
    assert!(reason("c1 read g7\n c1 has-read g7"));
    assert!(reason(
        "c1 acquire g7\n c1 failed acquire g7\n c1 read g7\n c1 has-read g7"
    ));
    assert!(!reason(
        "c1 acquire g7 mode=shared\n c1 granted g7\n c1 read g7\n c1 has-read g7"
    ));
}

#[test]
fn a_reader_s_znode_that_nobody_names_is_an_orphan() {
    let mut record =
        rwlock("c1 hello session=0x1\nrun recovered\nrun audit\nc1 quiesce\nc1 quiesced sessions=0x1\nrun done");
    record.plan.workload.contenders = vec!["/rwlock".to_owned()];
    let left = znode("/rwlock/x-read-1", 10, "0x1");
    record.tree = Some(audited(&record.history, vec![left.clone()], vec![left]));
    assert_eq!(kinds(&check(&record)), ["orphan-node"]);
}

#[test]
fn a_hold_tells_its_mode() {
    let modes = |text: &str| {
        let record = rwlock(text);
        let holds = Analysis::new(&record).holds();
        holds.iter().map(|hold| hold.mode).collect::<Vec<_>>()
    };
    assert_eq!(modes(READS_ON), [Some(Mode::Shared), Some(Mode::Exclusive)]);
    let unread = READS_ON.replace("mode=shared", "mode=odd");
    assert_eq!(modes(&unread), [None, Some(Mode::Exclusive)]);
}
