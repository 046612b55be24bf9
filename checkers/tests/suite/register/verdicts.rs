//! What a run of a register needs to be valid.

use super::{VARIANTS, held, plain, quorum};
use crate::expect::{edited, lacking, of_family, unknown, valid};
use crate::script::{changed, run};
use zooquake_checkers::{Verdict, check};
use zooquake_history::Record;

const GOOD: &str = "
    run ops
    c1 invoke write value=1; c1 ok write value=1 mzxid=11 session=0x1 server=n1
    c2 invoke cas from=1 to=2; c2 ok cas from=1 to=2 mzxid=12 session=0x2 server=n2
    c3 invoke cas from=1 to=3; c3 fail cas
    c3 invoke read; c3 ok read value=2 mzxid=12 session=0x3 server=n3
    run recovered
    c1 invoke cas from=1 to=5; c1 fail cas
    c2 invoke cas from=1 to=4; c2 fail cas
    c3 invoke read; c3 ok read value=2 mzxid=12 session=0x3 server=n3
    run audit; run done";

fn good(variant: &str) -> Record {
    held(run(variant, GOOD), "2", 12)
}

#[test]
fn a_run_with_progress_and_recovery_is_valid() {
    for variant in VARIANTS {
        of_family(&valid(&good(variant)), "register");
    }
    let stats = check(&good("read")).stats;
    assert_eq!(stats["read_max_ms"], 1.0);
    let found = (&stats["stale_reads"], &stats["ops"]["cas"]["fail"]);
    assert_eq!(found, (&0.into(), &3.into()));
}

#[test]
fn what_a_run_lacks_is_said() {
    let idle = "c2 ok cas => c2 fail cas | value=2 mzxid=12 session=0x3 => value=null mzxid=9";
    lacking(
        plain,
        GOOD,
        &[
            (&format!("c3 ok read => c3 info read | {idle}"), "there was no progress"),
            (
                &format!("c1 ok write => c1 fail write | {idle}"),
                "there was no progress",
            ),
            ("run audit => c1 invoke read; run audit", "the read of c1 sent at"),
            (
                "run recovered => c3 invoke read; c3 ok read mzxid=12 session=0x3 server=n3; run recovered",
                "the values of 1 operation could not be read",
            ),
        ],
    );
    let blind = changed(good("read"), |blind| blind.tree = None);
    unknown(&blind, "what the register held at last was not looked at");
    let mut bare = good("read");
    let events = bare.history.events.iter_mut();
    let values = events.filter_map(|event| event.value.as_object_mut());
    values.for_each(|fields| drop(fields.remove("mzxid")));
    unknown(&bare, "whether sessions went back in time was not judged");
}

#[test]
fn a_tree_without_a_register_that_can_be_read_is_unknown() {
    let mut once = good("quorum-read");
    valid(&once);
    let reason = "in 2 readings of the znode tree /register has no value that can be read";
    unknown(&held(once.clone(), "two", 12), reason);
    once.tree.as_mut().expect("a tree").readings[1].znodes.clear();
    unknown(&once, "in 1 reading of the znode tree /register has no value");
    // The history alone still convicts.
    let stale = quorum(&edited(GOOD, "read value=2 mzxid=12 => read value=1 mzxid=11"));
    assert_eq!(check(&stale).verdict, Verdict::Invalid);
}
