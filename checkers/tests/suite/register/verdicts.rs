//! What a run of a register needs to be valid.

use super::told::{held, record};
use zooquake_checkers::families::FAMILIES;
use zooquake_checkers::{Record, Verdict, check};

const GOOD: &str = "
    run ops
    c1 invoke write value=1
    c1 ok write value=1 mzxid=11 session=0x1 server=n1
    c2 invoke cas from=1 to=2
    c2 ok cas from=1 to=2 mzxid=12 session=0x2 server=n2
    c3 invoke cas from=1 to=3
    c3 fail cas
    c3 invoke read
    c3 ok read value=2 mzxid=12 session=0x3 server=n3
    run recovered
    c1 invoke cas from=1 to=5
    c1 fail cas
    c2 invoke cas from=1 to=4
    c2 fail cas
    c3 invoke read
    c3 ok read value=2 mzxid=12 session=0x3 server=n3
    run audit
    run done";

fn good(variant: &str) -> Record {
    held(record(variant, GOOD), "2", 12)
}

#[track_caller]
fn unknown(record: &Record, reason: &str) {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Unknown, "{results:#?}");
    let said = results.reasons.iter().any(|text| text.contains(reason));
    assert!(said, "{:?}", results.reasons);
}

#[test]
fn a_run_with_progress_and_recovery_is_valid() {
    for variant in ["quorum-read", "sync-read", "read"] {
        let results = check(&good(variant));
        assert_eq!(results.verdict, Verdict::Valid, "{results:#?}");
        let family = FAMILIES
            .iter()
            .find(|family| family.name == "register")
            .expect("it is there");
        for checker in results.checkers.keys() {
            assert!(family.checkers.contains(&checker.as_str()), "{checker}");
        }
    }
    let results = check(&good("read"));
    assert_eq!(results.stats["read_max_ms"], 1.0);
    assert_eq!(
        (&results.stats["stale_reads"], &results.stats["ops"]["cas"]["fail"]),
        (&0.into(), &3.into())
    );
}

#[test]
fn a_run_without_progress_or_tree_is_unknown() {
    for (from, to) in [("c3 ok read", "c3 info read"), ("c1 ok write", "c1 fail write")] {
        let text = GOOD.replace(from, to).replace("c2 ok cas", "c2 fail cas");
        unknown(
            &record(
                "read",
                &text.replace("value=2 mzxid=12 session=0x3", "value=null mzxid=9"),
            ),
            "there was no progress",
        );
    }
    let mut blind = good("read");
    blind.tree = None;
    unknown(&blind, "what the register held at last was not looked at");
}

#[test]
fn what_is_pending_after_recovery_says_too_little() {
    let hangs = GOOD.replace("run audit", "c1 invoke read\n run audit");
    unknown(&record("read", &hangs), "the read of c1 sent at");
}

#[test]
fn what_cannot_be_read_is_said() {
    unknown(
        &record("read", &GOOD.replacen("c3 ok read value=2", "c3 ok read", 1)),
        "the values of 1 operation could not be read",
    );
}

#[test]
fn a_tree_without_a_register_that_can_be_read_is_unknown() {
    let record = good("quorum-read");
    assert_eq!(check(&record).verdict, Verdict::Valid);
    unknown(
        &held(record.clone(), "two", 12),
        "in 2 readings of the znode tree /register has no value that can be read",
    );
    let mut once = record.clone();
    once.tree.as_mut().expect("a tree").readings[1].znodes.clear();
    unknown(&once, "in 1 reading of the znode tree /register has no value");
    // What the history tells still convicts.
    let stale = super::told::record(
        "quorum-read",
        &GOOD.replace("read value=2 mzxid=12", "read value=1 mzxid=11"),
    );
    assert_eq!(check(&stale).verdict, Verdict::Invalid);
}

#[test]
fn answers_without_sessions_and_transactions_are_unknown() {
    let mut record = good("read");
    for event in &mut record.history.events {
        if let Some(value) = event.value.as_object_mut() {
            value.remove("mzxid");
        }
    }
    unknown(&record, "whether sessions went back in time was not judged");
}
