//! Claims that their owners do not know.

use super::items::STORED;
use super::told::{kinds, minimal, record};
use zooquake_checkers::check;
use zooquake_checkers::evidence::Znode;

const AUDITED: &str = "
    run audit
    c1 ask quiesce
    c1 answer quiesce sessions=0x1
    c2 ask quiesce
    c2 answer quiesce sessions=0x2
    c3 ask quiesce
    c3 answer quiesce sessions=0x3";

#[test]
fn a_claim_that_its_living_owner_does_not_know_is_an_orphan() {
    let claim = |owner: &str| Znode {
        path: "/taken/a-item-1".to_owned(),
        czxid: 7,
        data: format!(r#"{{"item":1,"owner":"{owner}"}}"#),
        ..Znode::default()
    };
    let with = |text: &str, znode: &Znode| {
        let mut record = record("claimed", text);
        let tree = crate::script::audited(&record.history, vec![znode.clone()], vec![znode.clone()]);
        record.tree = Some(tree);
        record
    };
    let owned = with(AUDITED, &claim("0x1"));
    let results = check(&owned);
    assert_eq!(kinds(&results), ["orphan-node"]);
    minimal(&owned, &results.anomalies[0]);
    // The next consumer takes back what a dead owner left.
    assert_eq!(kinds(&check(&with(AUDITED, &claim("0x9")))), [""; 0]);
    // Q4: a claim on an item that is gone.
    let gone = format!(
        "{STORED}\n c2 invoke dequeue\n c2 ok dequeue item=1\n c2 invoke acknowledge item=1\n c2 ok acknowledge item=1{AUDITED}"
    );
    let stale = with(&gone, &claim("0x9"));
    let results = check(&stale);
    assert_eq!(kinds(&results), ["orphan-node"]);
    minimal(&stale, &results.anomalies[0]);
}
