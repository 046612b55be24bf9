//! What clients of a user's own recipe cannot report, and what they leave out without having declared it.

use crate::expect::{found, kinds};
use crate::script::{self, changed, logged, txn};
use zooquake_checkers::{NotJudged, check};
use zooquake_history::{Record, Txn, plan::RecipeSource};

/// A run of one's own recipe of a family.
fn own(family: &str, text: &str) -> Record {
    changed(script::own(family, text), |record| {
        record.plan.workload.recipe = Some(RecipeSource::default());
    })
}

fn reasons(record: &Record) -> Vec<String> {
    let said = |reason: &String| reason.contains("did not declare in hello");
    check(record).reasons.into_iter().filter(said).collect()
}

fn left(record: &Record) -> Vec<(String, String)> {
    let parts = |NotJudged { check, why }| (check, why);
    check(record).not_judged.into_iter().map(parts).collect()
}

/// A write under an older grant after one under a newer.
const STALE: &str = "
    c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid=CZXID session=0x1
    c2 invoke acquire grant=g2; c2 ok acquire grant=g2 path=/lock/b czxid=4294967298 session=0x2
    c2 invoke write grant=g2; c2 ok write grant=g2 value=1
    c1 invoke write grant=g1; c1 ok write grant=g1 value=2";

/// The same where the first client cannot report the age of its grant.
fn ageless(hello: &str) -> Record {
    own("lock", &format!("{hello}\n{}", STALE.replace("CZXID", "null")))
}

/// The transactions of a new ensemble, in the order of their zxids.
fn log(all: &[(&str, &str, &str)]) -> Vec<Txn> {
    let txns = all.iter().zip(1_i64 << 32..);
    txns.map(|(&(session, op, path), before)| txn(before + 1, session, op, path))
        .collect()
}

const HELLO: &str = "c1 note hello pid=1 cannot=czxid";

#[test]
fn what_is_left_out_without_a_word_is_a_reason_that_names_client_and_field() {
    let record = ageless("");
    let wanted = "c1 gave no `czxid` with 1 of 2 answers to `acquire` or `elect`, the first at 0.002 s (event 1), and \
                  did not declare in hello that this cannot be given (\"cannot\":[\"czxid\"])";
    assert_eq!(reasons(&record), [wanted, wanted]);
    assert_eq!(left(&record), []);
    let built_in = changed(record, |built_in| built_in.plan.workload.recipe = None);
    assert_eq!(reasons(&built_in), [""; 0]);
}

#[test]
fn what_is_declared_is_not_judged_and_no_reason() {
    let record = ageless(HELLO);
    assert_eq!(reasons(&record), [""; 0]);
    found(&record, &["stale-holder"]);
    let why = "c1 cannot give the `czxid` of 1 of 2 answers; nor do the transaction logs contain it: ";
    let [stale, release] = &left(&record)[..] else {
        panic!("{:?}", left(&record));
    };
    assert_eq!(stale.0, "stale-write");
    let said = "writes under these grants convict only where they are interleaved with others";
    assert_eq!(stale.1, format!("{why}{said}"));
    assert_eq!(release.0, "unowned-release");
}

#[test]
fn a_declaration_of_another_client_or_of_something_else_excuses_nothing() {
    for hello in [
        "c2 note hello cannot=czxid",
        "c1 note hello cannot=session,beside",
        "c1 note hello cannot=everything",
    ] {
        assert_eq!(reasons(&ageless(hello)).len(), 2, "{hello}");
    }
}

#[test]
fn a_log_that_is_whole_tells_the_age_of_a_grant() {
    let one = ("0x1", "create", "/lock/a");
    let other = ("0x2", "create", "/lock/b");
    let judged = |log: Option<Vec<Txn>>| {
        let record = match log {
            Some(log) => logged(ageless(HELLO), log),
            None => ageless(HELLO),
        };
        (kinds(&check(&record)).join(" "), left(&record).len())
    };
    assert_eq!(
        judged(Some(log(&[one, other]))),
        ("stale-write stale-holder".to_owned(), 0)
    );
    let judged_not = ("stale-holder".to_owned(), 2);
    assert_eq!(judged(None), judged_not);
    let again = log(&[one, other, ("0x1", "delete", "/lock/a"), one]);
    assert_eq!(
        judged(Some(again)),
        judged_not,
        "which of the two it rests on is not known"
    );
    let hidden = changed(log(&[one, other, ("0x3", "multi", "")]), |txns| txns[2].paths.clear());
    assert_eq!(judged(Some(hidden)), judged_not, "a multi may have made it again");
    let gap = changed(log(&[one, other, other]), |txns| drop(txns.remove(1)));
    assert_eq!(judged(Some(gap)), judged_not, "what is missing may have");
    let cut = changed(log(&[one, other]), |txns| drop(txns.remove(0)));
    assert_eq!(judged(Some(cut)), judged_not);
}

/// Two grants that are given back.
const RELEASED: &str = "
    c1 invoke acquire grant=g1; c1 ok acquire grant=g1 path=/lock/a czxid=4294967297 session=0x1
    c1 invoke release grant=g1; c1 ok release grant=g1 removed=FIRST
    c1 invoke acquire grant=g2; c1 ok acquire grant=g2 path=/lock/b czxid=4294967299 session=0x1
    c1 invoke release grant=g2; c1 ok release grant=g2 removed=null";

#[test]
fn who_can_tell_what_it_removed_need_not_know_each_time() {
    let silent = own("lock", &RELEASED.replace("FIRST", "null"));
    assert_eq!(reasons(&silent).len(), 1);
    assert!(reasons(&silent)[0].starts_with("c1 gave no `removed` with 2 of 2 answers to `release` or `resign`"));
    let once = own("lock", &RELEASED.replace("FIRST", "4294967297"));
    assert_eq!(reasons(&once), [""; 0]);
    assert_eq!(left(&once)[0].0, "unowned-release");
    let (a, b) = ("/lock/a", "/lock/b");
    let txns = [a, b].map(|path| [("0x1", "create", path), ("0x1", "delete", path)]);
    let once = logged(once, log(&txns.concat()));
    assert_eq!(left(&once), [], "the logs show what it removed");
}

#[test]
fn a_session_that_is_not_told_leaves_the_owner_of_the_znode_unjudged() {
    let text = "c1 invoke elect grant=g1; c1 ok elect grant=g1 path=/election/a czxid=5 session=null";
    let record = own("election", &format!("c1 note hello cannot=session; {text}"));
    assert_eq!(reasons(&record), [""; 0]);
    assert_eq!(left(&record)[0].0, "foreign-znode");
    assert_eq!(reasons(&own("election", text)).len(), 1);
}

#[test]
fn an_item_that_was_not_named_before_it_was_taken() {
    let text = "
        c1 invoke dequeue; c1 note taking item=7; c1 ok dequeue item=7
        c1 invoke dequeue; c1 ok dequeue item=8";
    let reason = reasons(&own("queue", text)).join("");
    let told = "c1 gave no `taking` notice before 1 of 2 answers to `dequeue`";
    assert!(reason.starts_with(told) && reason.contains("(event 4)"), "{reason}");
    let found = reasons(&own("queue", &format!("c1 note hello cannot=taking; {text}")));
    assert_eq!(found, [""; 0]);
    let empty = "c1 invoke dequeue; c1 ok dequeue item=null; c1 invoke dequeue; c1 info dequeue";
    let found = reasons(&own("queue", empty));
    assert_eq!(found, [""; 0], "what was not taken need not be named");
}

#[test]
fn members_of_a_barrier_tell_their_znodes_and_sessions() {
    let text = "
        c1 invoke enter round=1 members=1; c1 ok enter round=1 czxid=null session=null
        c1 invoke leave round=1; c1 ok leave round=1 removed=null";
    let mut record = own("barrier", text);
    record.plan.workload.capabilities = Some(zooquake_history::plan::Capabilities::NONE);
    assert_eq!(reasons(&record).len(), 4);
    let declared = format!("c1 note hello cannot=czxid,session,removed\n{text}");
    let mut declared = own("barrier", &declared);
    declared.plan.workload.capabilities = record.plan.workload.capabilities;
    assert_eq!(reasons(&declared), [""; 0]);
    let checks: Vec<String> = left(&declared).into_iter().map(|(check, _)| check).collect();
    assert_eq!(
        checks,
        ["early-release", "early-release", "stolen-znode", "stuck-barrier"]
    );
}
