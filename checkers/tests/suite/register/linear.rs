//! Orders that do not fit, each beside its nearest innocent twin.

use super::told::{only, record, silent};
use zooquake_checkers::check;

const KIND: &str = "not-linearizable";

const STALE: &str = "
    c1 invoke write value=1
    c1 ok write value=1
    c2 invoke write value=2
    c2 ok write value=2
    c3 invoke read
    c3 ok read value=1 server=n3";

#[test]
fn a_value_that_was_overwritten_does_not_come_back() {
    let found = only("quorum-read", STALE, KIND);
    assert_eq!(found.witness, [1, 2, 3, 4, 5]);
    assert!(found.why.contains("the read of 1 by c3 through n3"), "{}", found.why);
    // Sent before the write of 2 was acknowledged, or that one's end is unknown, or the writes overlap.
    let overlaps = STALE
        .replace("c3 invoke read\n", "")
        .replace("c2 ok", "c3 invoke read\n c2 ok");
    for twin in [
        overlaps,
        STALE.replace("c2 ok write value=2", "c2 info write value=2"),
        STALE
            .replace("c1 ok write value=1\n", "")
            .replace("c3 invoke", "c1 ok write value=1\n c3 invoke"),
        STALE.replace("value=1 server", "value=2 server"),
    ] {
        silent("quorum-read", &twin);
    }
    // Nothing is promised of plain reads without a session's own write.
    silent("read", STALE);
    silent("sync-read", STALE);
}

#[test]
fn a_plain_read_is_shown_what_its_sessions_last_write_had_seen() {
    let own = STALE.replace(
        "c3 invoke read",
        "c3 invoke write value=3\n c3 ok write value=3 session=0x3\n c3 invoke read",
    );
    let own = own.replace("server=n3", "session=0x3");
    assert_eq!(only("read", &own, KIND).witness, [1, 2, 3, 4, 5, 6, 7]);
    only("sync-read", &own, KIND);
    // Of another session, of unknown outcome, or sent before the write of 2 was acknowledged.
    silent("read", &own.replace("value=1 session=0x3", "value=1 session=0x4"));
    silent("read", &own.replace("c3 ok write value=3 session=0x3\n", ""));
    let early = own
        .replace("c3 invoke write value=3\n", "")
        .replace("c2 ok", "c3 invoke write value=3\n c2 ok");
    silent("read", &early);
}

#[test]
fn nil_does_not_come_back() {
    let text = "
        c1 invoke write value=1
        c1 ok write value=1
        c2 invoke read
        c2 ok read value=null";
    assert_eq!(only("quorum-read", text, KIND).witness, [1, 2, 3]);
    silent("quorum-read", &text.replace("c1 ok", "c1 info"));
    silent("quorum-read", &text.replace("c1 ok", "c1 fail"));
    // Once it was read it happened.
    let seen = text.replace(
        "c1 ok write value=1",
        "c1 info write value=1\n c3 invoke read\n c3 ok read value=1",
    );
    assert_eq!(only("quorum-read", &seen, KIND).witness, [3, 4, 5]);
}

#[test]
fn nobody_reads_what_nobody_sent() {
    let text = "
        c1 invoke write value=1
        c1 fail write value=1
        c2 invoke read
        c2 ok read value=1";
    for variant in ["quorum-read", "sync-read", "read"] {
        let found = only(variant, text, KIND);
        assert_eq!(
            (found.witness.as_slice(), found.property.as_str()),
            (&[3][..], "nothing is made up")
        );
        silent(variant, &text.replace("c1 fail", "c1 info"));
        // It may be what could not be read.
        silent(
            variant,
            &text
                .replace("c1 fail write value=1", "c1 info write")
                .replace("value=1\n", "\n"),
        );
        let late = "c2 invoke read\n c2 ok read value=1\n c1 invoke write value=1\n c1 ok write value=1";
        assert_eq!(only(variant, late, KIND).witness, [1]);
    }
}

const FORK: &str = "
    c1 invoke write value=1
    c1 ok write value=1
    c2 invoke cas from=1 to=2
    c3 invoke cas from=1 to=3
    c2 ok cas from=1 to=2
    c3 ok cas from=1 to=3";

#[test]
fn only_one_takes_a_value_away() {
    for variant in ["quorum-read", "read"] {
        assert_eq!(only(variant, FORK, KIND).witness, [4, 5]);
        silent(variant, &FORK.replace("c3 ok", "c3 info"));
        silent(variant, &FORK.replace("c3 ok", "c3 fail"));
        silent(variant, &FORK.replace("from=1 to=3", "from=2 to=3"));
    }
    let seen = FORK.replace(
        "c3 ok cas from=1 to=3",
        "c3 info cas from=1 to=3\n c1 invoke read\n c1 ok read value=3",
    );
    assert_eq!(only("read", &seen, KIND).witness, [3, 4, 7]);
}

#[test]
fn compare_and_sets_do_not_lead_round_in_a_circle() {
    let text = "
        c1 invoke cas from=2 to=1
        c2 invoke cas from=1 to=2
        c1 ok cas from=2 to=1
        c2 ok cas from=1 to=2";
    assert_eq!(only("read", text, KIND).witness, [2, 3]);
    silent("read", &text.replace("from=2 to=1", "from=null to=1"));
}

/// The positive control of durability: an acknowledged write is gone, and the value before it is set anew.
#[test]
fn an_acknowledged_write_does_not_vanish_before_a_compare_and_set() {
    let text = "
        c1 invoke write value=1
        c1 ok write value=1
        c2 invoke write value=2
        c2 ok write value=2
        c3 invoke cas from=1 to=3
        c3 ok cas from=1 to=3";
    for variant in ["quorum-read", "sync-read", "read"] {
        assert_eq!(only(variant, text, KIND).witness, [1, 2, 3, 4, 5]);
        silent(variant, &text.replace("c2 ok", "c2 info"));
        silent(variant, &text.replace("c2 ok", "c2 fail"));
        silent(variant, &text.replace("from=1 to=3", "from=2 to=3"));
    }
}

#[test]
fn what_compare_and_sets_led_to_stands_together() {
    let text = "
        c1 invoke write value=1
        c1 ok write value=1
        c3 invoke cas from=1 to=2
        c2 invoke write value=9
        c2 ok write value=9
        c3 ok cas from=1 to=2
        c2 invoke read
        c2 ok read value=2";
    // Between the write of 1 and the read of 2 there was no room for another value.
    assert_eq!(only("quorum-read", text, KIND).witness, [1, 3, 4, 5, 6, 7]);
    // Unlinked, or with 9 before 1, or after 2.
    silent("quorum-read", &text.replace("cas from=1 to=2", "write value=2"));
    silent(
        "quorum-read",
        &text.replace("c2 ok write value=9", "c2 info write value=9"),
    );
    let overlaps = text
        .replace("c1 ok write value=1\n", "")
        .replace("c2 ok", "c1 ok write value=1\n c2 ok");
    silent("quorum-read", &overlaps);
    let unknown = text.replace("c3 ok", "c3 info");
    assert_eq!(only("quorum-read", &unknown, KIND).witness, [1, 2, 3, 4, 6, 7]);
    silent("quorum-read", &unknown.replace("c2 ok read value=2", "c2 info read"));
}

#[test]
fn a_witness_has_answers_of_one_process_without_the_requests_between_them() {
    let text = "
        c2 invoke cas from=1 to=2
        c1 invoke write value=1
        c1 ok write value=1
        c1 invoke write value=3
        c1 ok write value=3
        c3 invoke cas from=3 to=4
        c3 ok cas from=3 to=4 session=0x3
        c3 invoke read
        c3 ok read value=2 session=0x3";
    // Between the answer to the write of 3 and the compare-and-set from it, no other value was there.
    assert_eq!(only("sync-read", text, KIND).witness, [0, 2, 4, 5, 6, 7, 8]);
    // Also where another process was answered twice.
    let twice = format!("{text}\n c4 invoke read\n c4 ok read value=4\n c4 ok read value=4");
    assert_eq!(only("sync-read", &twice, KIND).witness, [0, 2, 4, 5, 6, 7, 8]);
    silent("sync-read", &text.replace("value=2 session", "value=4 session"));
}

#[test]
fn a_contradiction_of_a_process_that_does_not_pair_names_no_other_processes_events() {
    // The number of the process of c2, which was not asked, is the position of the request of c3.
    let text = "
        c1 invoke write value=1
        c1 ok write value=1
        c3 invoke cas from=2 to=3
        c2 ok cas from=null to=2
        c3 ok cas from=2 to=3";
    let found = only("quorum-read", text, KIND);
    assert_eq!(found.witness, [1, 2, 3, 4]);
    assert!(
        found
            .why
            .contains("before the compare-and-set from 2 to 3 by c3 was sent"),
        "{}",
        found.why
    );
    silent("quorum-read", &text.replace("        c3 ok cas from=2 to=3", ""));
}

#[test]
fn a_chain_is_not_walked_backwards() {
    let text = "
        c1 invoke write value=1
        c2 invoke cas from=1 to=2
        c3 invoke read
        c3 ok read value=2
        c1 ok write value=1
        c3 invoke read
        c3 ok read value=1";
    assert_eq!(only("quorum-read", text, KIND).witness, [1, 3, 5, 6]);
    silent("quorum-read", &text.replace("c3 ok read value=1", "c3 ok read value=2"));
}

#[test]
fn a_value_written_twice_is_left_out_and_said_so() {
    let text = format!("{STALE}\n c1 invoke write value=1\n c1 ok write value=1");
    let results = silent("quorum-read", &text);
    let said = |reason: &String| reason.contains("1 value may have been written more than once");
    assert!(results.reasons.iter().any(said), "{:?}", results.reasons);
    // What is told of other values is judged all the same.
    let other =
        format!("{text}\n c2 invoke cas from=2 to=5\n c2 ok cas from=2 to=5\n c2 invoke read\n c2 ok read value=2");
    assert_eq!(only("quorum-read", &other, KIND).witness, [9, 10, 11]);
}

#[test]
fn only_the_first_of_many_are_told() {
    let mut text = String::new();
    for value in 1..=40 {
        text += &format!("c1 invoke write value={value}\n c1 ok write value={value}\n");
        text += "c2 invoke read\n c2 ok read value=null\n c2 invoke read\n";
        text += &format!("c2 ok read value={}\n", 100 + value);
    }
    let results = check(&record("quorum-read", &text));
    assert_eq!(results.anomalies.len(), 10);
    let said = |reason: &String| reason.starts_with("note: ") && reason.contains("more contradictions");
    assert!(results.reasons.iter().any(said), "{:?}", results.reasons);
}
