//! What members' values are by the transaction logs: views, updates that were lost, and updates that were undone.

use super::{group, group_read};
use crate::expect::{edited, explains, guilty, innocent, none, proven, proven_by};
use crate::script::{changed, logged, txn};
use zooquake_history::{Record, Txn};

const EPOCH: i64 = 1 << 32;

/// The `%5` of a text as the fifth transaction of the first epoch.
fn numbered(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let end = part.find(|of: char| !of.is_ascii_digit()).unwrap_or(part.len());
        let number: i64 = part[..end].parse().expect("a number");
        format!("{all}{}{}", EPOCH + number, &part[end..])
    })
}

/// `create 0x1 11; setData 0x1 12`: the transactions on c1's entry from the first of the epoch on.
fn written(text: &str, log: &str) -> Record {
    let txns = log.split(';').zip(1..).map(|(line, counter)| {
        let mut words = line.split_whitespace();
        let mut next = || words.next().expect("a word").to_owned();
        let (op, session, data) = (next(), next(), next());
        Txn {
            data: Some(data),
            ..txn(EPOCH + counter, &session, &op, "/members/m1")
        }
    });
    logged(group(&numbered(text), ""), txns.collect())
}

const LOG: &str = "create 0x1 11; setData 0x1 12";

const SHOWN: &str = "
    c1 invoke register member=m1 value=11
    c1 ok register path=/members/m1 czxid=%1 session=0x1
    c1 invoke update value=12
    c1 ok update path=/members/m1 mzxid=%2
    c2 note view n=1 session=0x2 group=m1@%1/%2:12";

#[test]
fn a_value_that_its_transaction_did_not_write() {
    let record = |text: &str| written(text, LOG);
    none(&record(SHOWN));
    let wrong = SHOWN.replace("m1@%1/%2:12", "m1@%1/%2:11");
    explains(
        &proven_by(&record(&wrong), "phantom-member", &[4]),
        "transaction 0x100000002 wrote the value 12",
    );
    let nobody = SHOWN.replace("m1@%1/%2:12", "m1@%1/%3:12");
    let three = |text: &str| written(text, &format!("{LOG}; setACL 0x1 -"));
    explains(
        &proven_by(&three(&nobody), "phantom-member", &[4]),
        "no transaction 0x100000003 wrote that znode",
    );
    // Another form of the value, in one write of the path: nothing is compared.
    for other in ["create 0x1 v11; setData 0x1 12", "create 0x1 11; setData 0x1 0xc"] {
        none(&written(&wrong, other));
    }
    let old = |text: &str| changed(record(text), |old| old.txnlog.as_mut().expect("logs")[1].data = None);
    innocent(old, &wrong, "c2 => c2 # a record of an older version has no data");
}

#[test]
fn an_update_that_no_transaction_wrote() {
    let record = |text: &str| written(text, "create 0x1 11; setData 0x1 10");
    let alone = edited(
        SHOWN,
        "c2 note view n=1 session=0x2 group=m1@%1/%2:12 => c3 invoke register member=m3 value=10",
    );
    let found = proven_by(&record(&alone), "lost-update", &[2, 3]);
    explains(&found, "transaction 0x100000002 wrote the value 10");
    innocent(|text| written(text, LOG), &alone, "c1 => c1");
    let table = "
        mzxid=%2 => mzxid=null # no transaction wrote it
        mzxid=%2 => mzxid=%1";
    guilty(record, "lost-update", &alone, table);
    let table = "
        ok update path=/members/m1 mzxid=%2 => info update
        c1 invoke update value=12 => # what it was asked for is not known
        path=/members/m1 mzxid=%2 => mzxid=%2";
    innocent(record, &alone, table);
    // The transaction wrote it, though the znode was created with it.
    none(&written(
        &edited(&alone, "mzxid=%2 => mzxid=%1"),
        "create 0x1 12; setData 0x1 10",
    ));
}

#[test]
fn a_member_that_writes_an_older_value_over_a_newer_one() {
    let text = "
        c1 note hello session=0x1
        c1 invoke register member=m1 value=11
        c1 ok register path=/members/m1 czxid=%1 session=0x1
        c1 invoke update value=12
        c1 ok update path=/members/m1 mzxid=%2";
    let undone = "create 0x1 11; setData 0x1 12; setData 0x1 11";
    let record = |text: &str| written(text, undone);
    explains(
        &proven_by(&record(text), "undone-update", &[0, 1, 3, 4]),
        "wrote 11: a value",
    );
    let table = "
        ok register path=/members/m1 czxid=%1 session=0x1 => info register # its end is unknown, and it was written twice
        ok update path=/members/m1 mzxid=%2 => ok update path=/members/m1 mzxid=%2; c1 invoke update value=13";
    guilty(record, "undone-update", text, table);
    let table = "
        hello session=0x1 => hello | czxid=%1 session=0x1 => czxid=%1 # an intruder's
        c1 note hello => c2 note hello # another client names that session, too
        ok update path=/members/m1 mzxid=%2 => info update
        ok update path=/members/m1 mzxid=%2 => ok update path=/members/m1 mzxid=%2; c1 invoke update value=11 # it was asked for again
        c1 invoke update value=12 => c1 invoke update value=11; c1 info update; c1 invoke update value=12 # that may come late
        c1 invoke register member=m1 value=11 => c1 invoke register member=m1";
    innocent(record, text, table);
    // A write of unknown end comes once, at any time.
    let unknown = edited(
        text,
        "ok register path=/members/m1 czxid=%1 session=0x1 => info register",
    );
    none(&written(&unknown, "create 0x1 9; setData 0x1 12; setData 0x1 11"));
    // A znode that is made anew in a later session of the client's.
    let anew = format!("{text}; c1 note session session=0x3 state=connected");
    proven(
        &written(&anew, "create 0x1 11; setData 0x1 12; create 0x3 11"),
        "undone-update",
    );
    none(&written(&anew, "create 0x1 11; setData 0x1 12; create 0x3 12"));
    none(&written(text, "create 0x1 11; setData 0x1 12; setData 0x1 x11"));
}

/// Without logs the tree shows what a znode was created with, and by whom.
#[test]
fn a_member_that_is_made_anew_with_an_older_value_in_the_tree() {
    let text = "
        c1 note hello session=0x1
        c1 invoke register member=m1 value=11
        c1 ok register path=/members/m1 czxid=5 session=0x1
        c1 invoke update value=12
        c1 ok update path=/members/m1 mzxid=7";
    let shown = |tree: &'static str| move |text: &str| group_read(text, ["", "", tree]);
    explains(
        &proven_by(&shown("m1@9/9:11")(text), "undone-update", &[1, 2, 3, 4]),
        "The tree shows /members/m1 as it was created later, by transaction 0x9",
    );
    let table = "
        ok register path=/members/m1 czxid=5 session=0x1 => info register # that may come late
        mzxid=7 => mzxid=null # which transaction wrote it is not known
        mzxid=7 => mzxid=10 # it came later
        hello session=0x1 => hello | czxid=5 session=0x1 => czxid=5 # somebody else's session
        c1 note hello => c2 note hello # another client names that session, too
        ok update path=/members/m1 mzxid=7 => info update
        c1 invoke update value=12 => c1 invoke update value=11; c1 info update; c1 invoke update value=12 # that may come late";
    innocent(shown("m1@9/9:11"), text, table);
    for innocent in ["m1@9/9:12", "m1@9/9:13", "m1@9/9:v11", "m1@5/9:11", "m1@5/7:12"] {
        none(&shown(innocent)(text));
    }
}

/// Nothing but the value is wrong, while nothing changes.
#[test]
fn a_view_that_goes_on_to_name_a_transaction_for_another_value() {
    let text = format!(
        "c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
         c1 invoke update value=12; c1 ok update path=/members/m1 mzxid=7
         run recovered; 20 run views
         {}
         50 run audit; run done",
        super::asked("c3", 21, 10, "n=3 session=0x3 registered=null group=m1@5/7:11"),
    );
    let with = |tree: &'static str| group_read(&text, [tree; 3]);
    explains(
        &proven(&with("m1@5/7:12"), "stale-view"),
        "has another value than mzxid 0x7, which it names, has in the tree",
    );
    none(&with("m1@5/7:11"));
    none(&with("m1@5/7:v12"));
}
