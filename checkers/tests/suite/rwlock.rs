//! Read-write locks: what readers do under shared grants, and silence on the innocent twins.

use crate::expect::{count, edited, explains, found, innocent, none, one, one_by};
use crate::script::{changed, lock, standing, znode};
use zooquake_checkers::analysis::Analysis;
use zooquake_history::Record;
use zooquake_history::operation::Mode;

/// A reader whose hold has ended at the ensemble reads on beside a writer.
const READS_ON: &str = "
    c1 acquire g1 mode=shared; c1 granted g1 czxid=10
    c2 acquire g2; c2 granted g2 czxid=20
    c1 confirm; c2 confirm; c2 holds g2
    c1 read g1; c1 has-read g1";

fn rwlock(text: &str) -> Record {
    changed(lock(text), |record| record.plan.workload.family = "rwlock".to_owned())
}

#[test]
fn a_reader_that_reads_on_beside_a_writer_is_stale_and_convicts_nobody() {
    let stale = one_by(&rwlock(READS_ON), "stale-holder", &[1, 3, 5, 6, 7, 8]);
    assert!(stale.advisory);
    explains(&stale, "a read sent at");
    let table = "
        acquire g2 => acquire g2 mode=shared
        c1 has-read g1 => c1 failed read g1 not-held";
    innocent(rwlock, READS_ON, table);
}

#[test]
fn a_confirm_that_was_sent_before_the_writer_s_grant_was_read_convicts_nobody() {
    let confirmed = edited(READS_ON, "c1 read g1 => c1 holds g1 | c1 has-read g1 =>");
    one(&rwlock(&confirmed), "double-grant");
    let table = "c1 confirm => | c2 granted => c1 confirm; c2 granted";
    innocent(rwlock, &confirmed, table);
}

#[test]
fn a_read_that_is_refused_ends_the_hold() {
    let waits = "
        0.1 c1 acquire g1 mode=shared; 0.2 c1 granted g1; 0.3 c1 read g1
        1 run recovered
        2 c2 acquire g2
        22 run audit";
    none(&rwlock(waits));
    innocent(rwlock, waits, "1 run => 0.4 c1 unknown read g1; 1 run");
    let ended = edited(waits, "1 run => 0.4 c1 failed read g1 not-held; 1 run");
    explains(&one(&rwlock(&ended), "lost-wakeup"), "nobody held the lock in a mode");
}

#[test]
fn a_read_under_a_grant_that_nobody_asked_for_is_a_reason() {
    for (asked, reasons) in [
        ("", 1),
        ("c1 acquire g7; c1 failed acquire g7", 1),
        ("c1 acquire g7 mode=shared; c1 granted g7", 0),
    ] {
        let results = none(&rwlock(&format!("{asked}; c1 read g7; c1 has-read g7")));
        assert_eq!(count(&results, "a `read` under grant"), reasons, "{asked}");
    }
}

#[test]
fn a_reader_s_znode_that_nobody_names_is_an_orphan() {
    let mut record =
        rwlock("c1 hello session=0x1; run recovered; run audit; c1 quiesce; c1 quiesced sessions=0x1; run done");
    record.plan.workload.contenders = vec!["/rwlock".to_owned()];
    let judged = standing(record, vec![znode("/rwlock/x-read-1", 10, "0x1")]);
    found(&judged, &["orphan-node"]);
}

#[test]
fn a_hold_tells_its_mode() {
    for (mode, told) in [("shared", Some(Mode::Shared)), ("odd", None)] {
        let record = rwlock(&READS_ON.replace("mode=shared", &format!("mode={mode}")));
        let holds = Analysis::new(&record).holds();
        let modes: Vec<Option<Mode>> = holds.iter().map(|hold| hold.mode).collect();
        assert_eq!(modes, [told, Some(Mode::Exclusive)]);
    }
}
