//! Claims that their owners did not name.

use super::claimed;
use super::items::STORED;
use crate::expect::{none, proven};
use crate::script::{holding, standing};
use zooquake_history::{Record, evidence::Znode};

const AUDITED: &str = "
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1
    c2 ask quiesce; c2 answer quiesce sessions=0x2
    c3 ask quiesce; c3 answer quiesce sessions=0x3";

/// A claim of item 1 by a session stands in both readings of the tree.
fn claim(text: &str, owner: &str) -> Record {
    let claim = Znode {
        czxid: 7,
        ..holding("/taken/a-item-1", &format!(r#"{{"item":1,"owner":"{owner}"}}"#))
    };
    standing(claimed(text), vec![claim])
}

#[test]
fn a_claim_that_its_living_owner_does_not_know_is_an_orphan() {
    proven(&claim(AUDITED, "0x1"), "orphan-node");
    // The next consumer takes back what a dead owner left.
    none(&claim(AUDITED, "0x9"));
    // Q4: a claim on an item that is gone.
    let consumed = "c2 invoke dequeue; c2 ok dequeue item=1; c2 invoke acknowledge item=1; c2 ok acknowledge item=1";
    proven(&claim(&format!("{STORED}; {consumed}{AUDITED}"), "0x9"), "orphan-node");
}
