//! What a run of a group needs to be valid, and the znodes of its members.

use super::group;
use crate::expect::{edited, found, lacking, minimal_as, of_family, one, proven, unknown, valid};
use crate::script::txn;
use zooquake_checkers::check;
use zooquake_history::Record;

pub const TREE: &str = "m1@5/5:11,m2@6/8:22,m3@7/7:31";

pub const GOOD: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
    c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
    c1 note view n=1 session=0x1 group=m1@5/5:11
    c2 invoke register member=m2 value=21; c2 ok register path=/members/m2 czxid=6 session=0x2
    c2 note view n=1 session=0x2 group=m1@5/5:11,m2@6/6:21
    run recovered
    c3 invoke register member=m3 value=31; c3 ok register path=/members/m3 czxid=7 session=0x3
    c2 invoke update value=22; c2 ok update path=/members/m2 mzxid=8
    c1 invoke deregister; c1 ok deregister removed=5
    c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
    c1 note view n=2 session=0x1 group=m1@5/5:11,m2@6/8:22,m3@7/7:31
    run views
    c1 ask view; c2 ask view; c3 ask view
    c1 answer view n=2 session=0x1 group=m1@5/5:11,m2@6/8:22,m3@7/7:31 registered=m1@5
    c2 answer view n=2 session=0x2 group=m1@5/5:11,m2@6/8:22,m3@7/7:31 registered=m2@6
    c3 answer view n=2 session=0x3 group=m1@5/5:11,m2@6/8:22,m3@7/7:31 registered=m3@7
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1 znodes=/members/m1@5
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=/members/m2@6
    c3 ask quiesce; c3 answer quiesce sessions=0x3 znodes=/members/m3@7
    run done";

fn good(text: &str) -> Record {
    group(text, TREE)
}

#[test]
fn a_good_run_is_valid() {
    of_family(&valid(&good(GOOD)), "membership");
    // A notice that is read while a `view` is open is no answer to it.
    valid(&good(&edited(
        GOOD,
        "c2 answer view => c2 note view n=2 session=0x2 group=m1@5/5:11,m2@6/8:22,m3@7/7:31; c2 answer view",
    )));
}

#[test]
fn what_forbids_valid() {
    let shown = "m1@5/5:11,m2@6/8:22,m3@7/7:31";
    lacking(
        good,
        GOOD,
        &[
            (
                "c3 answer view n=2 => c3 answer view n=x",
                "a view of c3 that has no number",
            ),
            (
                "c3 answer view n=2 session=0x3 => c3 answer view n=2",
                "a view of c3 that names no session",
            ),
            (
                "m1@5/5:11,m2@6/6:21 => m1@5/5:11,m2:21",
                "a view of c2 that has a member without its `czxid` or `mzxid`",
            ),
            (
                "m1@5/5:11,m2@6/6:21 => m1@5/5:11,m1@5/5:11",
                "has members that cannot be read, or one path twice",
            ),
            ("c3 answer view => c3 note other", "c3 answered no `view`"),
            (
                "run audit => c1 invoke update value=19; run audit",
                "the update of c1 sent at",
            ),
            (
                "run audit => c1 invoke register member=m1 value=19; run audit",
                "the register of c1 sent at",
            ),
            (
                "run views => run recovered; run views",
                "after recovery no operation of c1, c2, c3 finished",
            ),
        ],
    );
    let unshown = [shown, "m1@5/5:11,m2@6/6:21", "m1@5/5:11"];
    let unshown = unshown
        .iter()
        .fold(GOOD.to_owned(), |text, members| text.replace(members, ""));
    unknown(
        &group(&unshown, ""),
        "no change of a member was shown by all other clients",
    );
    let fault = "run recovered => nemesis pause 1 begin target=c1; nemesis pause 1 on target=c1; nemesis pause 1 off target=c1 verified=true; \
                 run recovered | c3 invoke register member=m3 value=31; c3 ok register path=/members/m3 czxid=7 session=0x3 => \
                 c3 invoke update value=31; c3 ok update path=/members/m3 mzxid=7 | c1 invoke deregister; c1 ok deregister removed=5 => \
                 | run views => run views";
    let faulty = edited(GOOD, fault);
    let last = faulty
        .rfind("c1 invoke register member=m1 value=11;")
        .expect("it is there");
    let until = faulty[last..].find('\n').expect("a line") + last;
    let none = format!(
        "{}c1 invoke update value=11; c1 ok update path=/members/m1 mzxid=5{}",
        &faulty[..last],
        &faulty[until..]
    );
    unknown(&good(&none), "there was no progress after the last fault ended");
}

#[test]
fn a_member_that_nobody_names_is_an_orphan() {
    let nameless = edited(GOOD, "znodes=/members/m2@6 => znodes=");
    let anomaly = proven(&good(&nameless), "orphan-node");
    assert!(anomaly.why.contains("The znode /members/m2"), "{anomaly:#?}");
    found(&super::group_read(&nameless, [TREE, TREE, "m1@5/5:11,m3@7/7:31"]), &[]);
    // The tree before the views is none of the audit.
    let before = ["m1@5/5:11,m3@7/7:31", TREE, TREE];
    assert_eq!(check(&super::group_read(&nameless, before)).anomalies.len(), 1);
}

#[test]
fn a_registration_by_another_sessions_znode_is_foreign() {
    let logged = |text: &str, owner: &str| {
        let mut record = good(text);
        let owners = ["0x1", owner, "0x3"];
        let txns = (5..8)
            .zip(owners)
            .map(|(zxid, owner)| txn(zxid, owner, "create", &format!("/members/m{}", zxid - 4)));
        record.txnlog = Some(txns.collect());
        record
    };
    let foreign = logged(GOOD, "0x9");
    let anomaly = one(&foreign, "foreign-znode");
    minimal_as(&foreign, &anomaly, |other| {
        other.kind == anomaly.kind && !other.advisory
    });
    assert!(
        anomaly.why.contains("the registration of c2 (czxid 0x6)"),
        "{anomaly:#?}"
    );
    assert!(!anomaly.advisory);
    valid(&logged(GOOD, "0x2"));
    let unnamed = edited(GOOD, "c2 note hello session=0x2 => c2 note hello");
    let results = check(&logged(&unnamed, "0x9"));
    assert!(results.anomalies.iter().all(|anomaly| anomaly.advisory), "{results:#?}");
}

#[test]
fn a_registration_that_the_logs_do_not_have_is_doubt() {
    let mut record = good(GOOD);
    record.txnlog = Some(vec![
        txn(4, "0x1", "create", "/x"),
        txn(6, "0x2", "create", "/y"),
        txn(9, "0x2", "delete", "/x"),
    ]);
    unknown(&record, "evidence disagrees: the registration of c1 (czxid 0x5)");
}
