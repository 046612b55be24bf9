//! Registers, and foreign histories.

use super::told;
use crate::expect::{lacks_reason, none};
use crate::register::{plain, quorum};
use crate::search::judged::maps;
use zooquake_checkers::search::ModelKind;

#[test]
fn what_convicts_a_register_is_said_as_it_was() {
    for (text, said, unsaid) in [
        // A value may be written after it was read.
        (
            "c1 invoke read; c1 ok read value=1; c2 invoke write value=1; c2 ok write value=1",
            "The write of 1 by c2 was only sent later",
            &["Nobody ever"][..],
        ),
        // A compare-and-set may find what only itself wrote.
        (
            "c1 invoke cas from=5 to=5; c1 ok cas from=5 to=5",
            "nothing but itself left what it found",
            &["another", "All of these"],
        ),
        // Two compare-and-sets may both find nil, which nobody wrote.
        (
            "c1 invoke cas from=null to=1; c1 ok cas from=null to=1; c2 invoke cas from=null to=2; c2 ok cas from=null to=2",
            "was there once only",
            &["written once"],
        ),
    ] {
        told(&quorum(text), "not-linearizable", &[said], unsaid);
    }
}

#[test]
fn one_stale_read_is_one() {
    let text = "
        c1 invoke write value=1; c1 ok write value=1 mzxid=11 session=0x1 server=n1
        c2 invoke read; c2 ok read value=null mzxid=10 session=0x2 server=n2
        c2 invoke read; c2 ok read value=null mzxid=10 session=0x2 server=n2";
    let said = ["1 more read of it went", "it was 1 acknowledged write behind"];
    told(&plain(text), "stale-read", &said, &[]);
}

#[test]
fn operations_of_unknown_outcome_are_not_nothing() {
    let results = maps(
        ModelKind::MUTEX_STRICT,
        "0 invoke release; 1 release -> nil; 0 info release",
    );
    let why = &results.anomalies[0].why;
    assert!(why.contains("Before it nothing is known to have happened."), "{why}");
    let failed = "0 write 1 -> 1; 1 invoke write 0; 1 fail write 0; 2 read -> 0";
    let why = &maps(ModelKind::REGISTER, failed).anomalies[0].why;
    assert!(!why.contains("every other operation had an unknown outcome"), "{why}");
}

/// The transaction that it names is that of what it wrote, and another request may have written that, too.
#[test]
fn a_compare_and_set_is_no_read_of_its_own_transaction() {
    let text = "
        c1 invoke write value=1; c1 ok write value=1 mzxid=11 session=0x1
        c3 invoke write value=2; c3 end write
        c2 invoke cas from=1 to=2; c2 ok cas from=1 to=2 mzxid=12 session=0x2";
    lacks_reason(&none(&plain(text)), "evidence disagrees");
}

/// Its answer may be that to the request before.
#[test]
fn a_read_that_was_asked_for_twice_is_not_stale() {
    let text = "
        c1 invoke read
        c2 invoke write value=1; c2 ok write value=1 mzxid=11 session=0x2
        c1 invoke read; c1 ok read value=null mzxid=10 session=0x1 server=n1";
    none(&plain(text));
}
