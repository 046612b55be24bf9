//! Registers, and foreign histories.

use super::told;
use crate::register::told as register;
use crate::search::judged::maps;
use zooquake_checkers::search::Kind;

#[test]
fn a_value_may_be_written_after_it_was_read() {
    let text = "c1 invoke read\n c1 ok read value=1\n c2 invoke write value=1\n c2 ok write value=1";
    let said = ["The write of 1 by c2 was only sent later"];
    told(
        &register::record("quorum-read", text),
        "not-linearizable",
        &said,
        &["Nobody ever"],
    );
}

#[test]
fn a_compare_and_set_may_find_what_only_itself_wrote() {
    let text = "c1 invoke cas from=5 to=5\n c1 ok cas from=5 to=5";
    let said = ["nothing but itself left what it found"];
    told(
        &register::record("quorum-read", text),
        "not-linearizable",
        &said,
        &["another", "All of these"],
    );
}

#[test]
fn two_compare_and_sets_may_both_find_nil_which_nobody_wrote() {
    let text = "c1 invoke cas from=null to=1\n c1 ok cas from=null to=1\n c2 invoke cas from=null to=2\n c2 ok cas from=null to=2";
    told(
        &register::record("quorum-read", text),
        "not-linearizable",
        &["was there once only"],
        &["written once"],
    );
}

#[test]
fn one_stale_read_is_one() {
    let text = "
        c1 invoke write value=1
        c1 ok write value=1 mzxid=11 session=0x1 server=n1
        c2 invoke read
        c2 ok read value=null mzxid=10 session=0x2 server=n2
        c2 invoke read
        c2 ok read value=null mzxid=10 session=0x2 server=n2";
    let said = ["1 more read of it went", "it was 1 acknowledged write behind"];
    told(&register::record("read", text), "stale-read", &said, &[]);
}

#[test]
fn operations_of_unknown_outcome_are_not_nothing() {
    let results = maps(
        Kind::MUTEX_STRICT,
        &["0 invoke release", "1 invoke release", "1 ok release", "0 info release"],
    );
    let why = &results.anomalies[0].why;
    assert!(why.contains("Before it nothing is known to have happened."), "{why}");
    let failed = [
        "0 invoke write 1",
        "0 ok write 1",
        "1 invoke write 0",
        "1 fail write 0",
        "2 invoke read nil",
        "2 ok read 0",
    ];
    let why = &maps(Kind::REGISTER, &failed).anomalies[0].why;
    assert!(!why.contains("everything else nobody knew"), "{why}");
}

/// The transaction that it names is that of what it wrote, and another request may have written that, too.
#[test]
fn a_compare_and_set_is_no_read_of_its_own_transaction() {
    let text = "
        c1 invoke write value=1
        c1 ok write value=1 mzxid=11 session=0x1
        c3 invoke write value=2
        c3 end write
        c2 invoke cas from=1 to=2
        c2 ok cas from=1 to=2 mzxid=12 session=0x2";
    let results = register::silent("read", text);
    let disagree = |reason: &String| reason.contains("evidence disagrees");
    assert!(!results.reasons.iter().any(disagree), "{:?}", results.reasons);
}

/// Its answer may be that to the request before.
#[test]
fn a_read_that_was_asked_for_twice_is_not_stale() {
    let text = "
        c1 invoke read
        c2 invoke write value=1
        c2 ok write value=1 mzxid=11 session=0x2
        c1 invoke read
        c1 ok read value=null mzxid=10 session=0x1 server=n1";
    register::silent("read", text);
}
