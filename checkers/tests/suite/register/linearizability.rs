//! Orders that do not fit, each beside its nearest innocent twin.

use super::{VARIANTS, plain, quorum};
use crate::expect::{edited, explains, has_reason, innocent, none, proven, proven_by};
use crate::script::run;
use zooquake_checkers::check;
use zooquake_history::Record;

/// Wants just one order that does not fit, proven by these events.
#[track_caller]
fn wrong(record: &Record, witness: &[usize]) {
    proven_by(record, "not-linearizable", witness);
}

const STALE: &str = "
    c1 invoke write value=1; c1 ok write value=1
    c2 invoke write value=2; c2 ok write value=2
    c3 invoke read; c3 ok read value=1 server=n3";

#[test]
fn a_value_that_was_overwritten_does_not_come_back() {
    let found = proven_by(&quorum(STALE), "not-linearizable", &[1, 2, 3, 4, 5]);
    explains(&found, "the read of 1 by c3 through n3");
    let table = "
        c3 invoke read => | c2 ok => c3 invoke read; c2 ok # sent before the write of 2 was acknowledged
        c2 ok write value=2 => c2 info write value=2
        c1 ok write value=1 => | c3 invoke => c1 ok write value=1; c3 invoke # the writes overlap
        value=1 server => value=2 server";
    innocent(quorum, STALE, table);
    // Nothing is promised of plain reads without a session's own write.
    none(&plain(STALE));
    none(&run("sync-read", STALE));
}

#[test]
fn a_plain_read_is_shown_what_its_sessions_last_write_had_seen() {
    let own = "c3 invoke write value=3; c3 ok write value=3 session=0x3";
    let edits = format!("c3 invoke read => {own}; c3 invoke read | server=n3 => session=0x3");
    let own = edited(STALE, &edits);
    wrong(&plain(&own), &[1, 2, 3, 4, 5, 6, 7]);
    proven(&run("sync-read", &own), "not-linearizable");
    let table = "
        value=1 session=0x3 => value=1 session=0x4
        c3 ok write value=3 session=0x3 => # of unknown outcome
        c3 invoke write value=3 => | c2 ok => c3 invoke write value=3; c2 ok # sent before the write of 2 was acknowledged";
    innocent(plain, &own, table);
}

#[test]
fn nil_does_not_come_back() {
    let text = "c1 invoke write value=1; c1 ok write value=1; c2 invoke read; c2 ok read value=null";
    wrong(&quorum(text), &[1, 2, 3]);
    innocent(quorum, text, "c1 ok => c1 info\n c1 ok => c1 fail");
    // Once it was read it happened.
    let seen = "c1 ok write value=1 => c1 info write value=1; c3 invoke read; c3 ok read value=1";
    wrong(&quorum(&edited(text, seen)), &[3, 4, 5]);
}

#[test]
fn nobody_reads_what_nobody_sent() {
    let text = "c1 invoke write value=1; c1 fail write value=1; c2 invoke read; c2 ok read value=1";
    for variant in VARIANTS {
        let register = |text: &str| run(variant, text);
        let found = proven(&register(text), "not-linearizable");
        let told = (&found.witness[..], found.property.as_str());
        assert_eq!(told, (&[3][..], "nothing is made up"));
        let table = "
            c1 fail => c1 info
            c1 invoke write value=1 => c1 invoke write | c1 fail write value=1 => c1 info write # it may be what could not be read";
        innocent(register, text, table);
        let late = "c2 invoke read; c2 ok read value=1; c1 invoke write value=1; c1 ok write value=1";
        wrong(&register(late), &[1]);
    }
}

const FORK: &str = "
    c1 invoke write value=1; c1 ok write value=1
    c2 invoke cas from=1 to=2; c3 invoke cas from=1 to=3
    c2 ok cas from=1 to=2; c3 ok cas from=1 to=3";

#[test]
fn only_one_takes_a_value_away() {
    for variant in ["quorum-read", "read"] {
        wrong(&run(variant, FORK), &[4, 5]);
        let table = "
            c3 ok => c3 info
            c3 ok => c3 fail
            from=1 to=3 => from=2 to=3";
        innocent(|text| run(variant, text), FORK, table);
    }
    let seen = "c3 ok cas from=1 to=3 => c3 info cas from=1 to=3; c1 invoke read; c1 ok read value=3";
    wrong(&plain(&edited(FORK, seen)), &[3, 4, 7]);
}

#[test]
fn compare_and_sets_do_not_lead_round_in_a_circle() {
    let text = "
        c1 invoke cas from=2 to=1; c2 invoke cas from=1 to=2
        c1 ok cas from=2 to=1; c2 ok cas from=1 to=2";
    wrong(&plain(text), &[2, 3]);
    innocent(plain, text, "from=2 to=1 => from=null to=1");
}

/// The positive control of durability: an acknowledged write is gone, and the value before it is set anew.
#[test]
fn an_acknowledged_write_does_not_vanish_before_a_compare_and_set() {
    let text = "
        c1 invoke write value=1; c1 ok write value=1
        c2 invoke write value=2; c2 ok write value=2
        c3 invoke cas from=1 to=3; c3 ok cas from=1 to=3";
    for variant in VARIANTS {
        wrong(&run(variant, text), &[1, 2, 3, 4, 5]);
        let table = "
            c2 ok => c2 info
            c2 ok => c2 fail
            from=1 to=3 => from=2 to=3";
        innocent(|text| run(variant, text), text, table);
    }
}

#[test]
fn what_compare_and_sets_led_to_stands_together() {
    let text = "
        c1 invoke write value=1; c1 ok write value=1
        c3 invoke cas from=1 to=2
        c2 invoke write value=9; c2 ok write value=9
        c3 ok cas from=1 to=2
        c2 invoke read; c2 ok read value=2";
    // Between the write of 1 and the read of 2 there was no room for another value.
    wrong(&quorum(text), &[1, 3, 4, 5, 6, 7]);
    let table = "
        cas from=1 to=2 => write value=2 # unlinked
        c2 ok write value=9 => c2 info write value=9
        c1 ok write value=1 => | c2 ok => c1 ok write value=1; c2 ok # with 9 before 1, or after 2
        c3 ok => c3 info | c2 ok read value=2 => c2 info read";
    innocent(quorum, text, table);
    wrong(&quorum(&edited(text, "c3 ok => c3 info")), &[1, 2, 3, 4, 6, 7]);
}

#[test]
fn a_witness_has_answers_of_one_process_without_the_requests_between_them() {
    let text = "
        c2 invoke cas from=1 to=2
        c1 invoke write value=1; c1 ok write value=1
        c1 invoke write value=3; c1 ok write value=3
        c3 invoke cas from=3 to=4; c3 ok cas from=3 to=4 session=0x3
        c3 invoke read; c3 ok read value=2 session=0x3";
    let sync = |text: &str| run("sync-read", text);
    // Between the answer to the write of 3 and the compare-and-set from it, no other value was there.
    wrong(&sync(text), &[0, 2, 4, 5, 6, 7, 8]);
    // Also where another process was answered twice.
    let twice = format!("{text}; c4 invoke read; c4 ok read value=4; c4 ok read value=4");
    wrong(&sync(&twice), &[0, 2, 4, 5, 6, 7, 8]);
    innocent(sync, text, "value=2 session => value=4 session");
}

#[test]
fn a_contradiction_of_a_process_that_does_not_pair_names_no_other_processes_events() {
    // The number of the process of c2, which was not asked, is the position of the request of c3.
    let text = "
        c1 invoke write value=1; c1 ok write value=1
        c3 invoke cas from=2 to=3
        c2 ok cas from=null to=2
        c3 ok cas from=2 to=3";
    let found = proven_by(&quorum(text), "not-linearizable", &[1, 2, 3, 4]);
    explains(&found, "before the compare-and-set from 2 to 3 by c3 was sent");
    innocent(quorum, text, "c3 ok cas from=2 to=3 =>");
}

#[test]
fn a_chain_is_not_walked_backwards() {
    let text = "
        c1 invoke write value=1
        c2 invoke cas from=1 to=2
        c3 invoke read; c3 ok read value=2
        c1 ok write value=1
        c3 invoke read; c3 ok read value=1";
    wrong(&quorum(text), &[1, 3, 5, 6]);
    innocent(quorum, text, "c3 ok read value=1 => c3 ok read value=2");
}

#[test]
fn a_value_written_twice_is_left_out_and_said_so() {
    let text = format!("{STALE}; c1 invoke write value=1; c1 ok write value=1");
    has_reason(&none(&quorum(&text)), "1 value may have been written more than once");
    // Operations on other values are judged all the same.
    let other = format!("{text}; c2 invoke cas from=2 to=5; c2 ok cas from=2 to=5; c2 invoke read; c2 ok read value=2");
    wrong(&quorum(&other), &[9, 10, 11]);
}

#[test]
fn only_the_first_of_many_are_told() {
    let one = |value: usize| {
        format!(
            "c1 invoke write value={value}; c1 ok write value={value}
             c2 invoke read; c2 ok read value=null; c2 invoke read; c2 ok read value={}\n",
            100 + value
        )
    };
    let results = check(&quorum(&(1..=40).map(one).collect::<String>()));
    assert_eq!(results.anomalies.len(), 10);
    let said = |reason: &String| reason.starts_with("note: ") && reason.contains("more contradictions");
    assert!(results.reasons.iter().any(said), "{:?}", results.reasons);
}
