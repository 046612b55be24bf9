//! Members that nobody made, and views that went back in time.

use super::group;
use crate::expect::{explains, guilty, has_reason, innocent, proven, proven_by};
use crate::script::{changed, logged, txn};
use zooquake_checkers::check;
use zooquake_history::Record;

const SHOWN: &str = "
    c1 invoke register member=m1 value=11
    c1 ok register path=/members/m1 czxid=5 session=0x1
    c2 note view n=1 session=0x2 group=m1@5/5:11";

fn alone(text: &str) -> Record {
    group(text, "")
}

#[test]
fn a_value_that_nobody_had_been_asked_for() {
    let phantom = SHOWN.replace(":11", ":12");
    proven_by(&alone(&phantom), "phantom-member", &[2]);
    let table = "
        m1@5/5:12 => m1@5/5:11
        c2 note => c3 invoke update value=12; c2 note # it is asked for, and may have been written
        c2 note => c3 invoke update value=12; c3 fail update; c2 note # who registers anew does so with what it was asked for last
        c2 note => c3 invoke update; c2 note # its value cannot be read
        c1 invoke register member=m1 value=11 => # what it was asked for is not known
        :12 => # so is what was shown
        m1@5/5:12 => ";
    innocent(alone, &phantom, table);
    let later = format!("{phantom}; c3 invoke register member=m3 value=12");
    explains(&proven(&alone(&later), "phantom-member"), "was sent only at 0.004 s");
    let answer = phantom.replace("c2 note view", "c2 ask view; c2 answer view");
    proven_by(&alone(&answer), "phantom-member", &[3]);
    has_reason(&check(&alone(&phantom.replace(":12", ""))), "a member without a value");
}

/// Transactions of the first epoch, of which the fifth created the member.
fn complete(text: &str, path: &str) -> Record {
    let epoch = 1_i64 << 32;
    let text = text.replace("@5/5", &format!("@{}/{}", epoch + 5, epoch + 5));
    let text = text.replace("czxid=5", &format!("czxid={}", epoch + 5));
    let txns = (1..=6).map(|counter| txn(epoch + counter, "0x1", "create", path));
    logged(alone(&text), txns.collect())
}

#[test]
fn a_znode_that_no_transaction_of_complete_logs_created() {
    let text = SHOWN.replace("c1 ok register path=/members/m1 czxid=5", "c1 ok register czxid=null");
    proven_by(&complete(&text, "/members/m9"), "phantom-member", &[2]);
    innocent(|text| complete(text, "/members/m1"), &text, "c2 => c2");
    let logs = |text: &str| complete(text, "/members/m9");
    innocent(logs, &text, "m1@5/5:11 => m1:11 # no czxid");
    let cut = |text: &str| changed(logs(text), |cut| drop(cut.txnlog.as_mut().expect("logs").remove(2)));
    innocent(cut, &text, "c2 => c2 # the logs lack a transaction");
    let short = |text: &str| changed(logs(text), |short| short.txnlog.as_mut().expect("logs").truncate(4));
    innocent(short, &text, "c2 => c2 # they end before the znode was made");
}

const VALUES: &str = "
    c1 invoke register member=m1 value=11
    c1 invoke update value=12
    c2 note view n=1 session=0x2 group=m1@5/7:12
    c2 note view n=2 session=0x2 group=m1@5/5:11";

#[test]
fn an_older_value_after_a_newer_one() {
    proven_by(&alone(VALUES), "view-regression", &[2, 3]);
    let table = "
        n=2 session=0x2 => n=2 session=0x3 # another session, at a server that lags
        c2 note view n=2 => c2 note exit; c2 note hello; c2 note view n=2 # another process
        n=2 => n=0 # it was shown before, or not: its number is lower
        n=2 => n=1 # the number has been used
        n=2 session=0x2 =>
        c2 note view n=2 => c3 note view n=2 # another client
        m1@5/5:11 => m1@5/7:12
        m1@5/5:11 => m1@5/9:12 # states between may be missed
        m1@5/5:11 => m2@4/5:11 # another path
        m1@5/5:11 => m1@8/8:12 # registered anew with its value
        m1@5/5:11 => m1:11 # its age is not known
        m1@5/5:11 => m1@5/5:11,m1@5/7:12 # one path twice: which is shown is not known
        c2 note view n=2 session=0x2 group=m1@5/5:11 => c2 note view n=2 session=0x2 group=null";
    innocent(alone, VALUES, table);
    let table = "
        m1@5/5:11 => m1@4/4:11 # an older znode
        m1@5/5:11 => m1@/5:11 # without a czxid, by the mzxid
        c2 note view n=2 => c2 ask view; c2 answer view n=2
        c2 note view n=2 => c2 note view n=7
        c2 note view n=2 => c2 note session state=connected session=0x2; c2 note view n=2 # the session was found again";
    guilty(alone, "view-regression", VALUES, table);
    let odd = check(&alone(&VALUES.replace("n=2", "n=0")));
    has_reason(&odd, "a lower number than a notice before it");
    has_reason(
        &check(&alone(&VALUES.replace("n=2", "n=1"))),
        "other members than another view of that number",
    );
}

/// An answer names the view that its client shows by then, which a later notice may have overtaken.
#[test]
fn an_answer_that_a_notice_overtook_is_ordered_by_its_number() {
    let overtaken = "
        c1 invoke register member=m1 value=11; c1 invoke update value=12
        c2 note view n=1 session=0x2 group=m1@5/5:11
        c2 ask view
        c2 note view n=2 session=0x2 group=m1@5/7:12
        c2 answer view n=1 session=0x2 group=m1@5/5:11";
    innocent(alone, overtaken, "c2 => c2");
}

const AWAY: &str = "
    c1 invoke register member=m1 value=11
    c2 note view n=1 session=0x2 group=m1@5/5:11
    c2 note view n=2 session=0x2 group=
    c2 note view n=3 session=0x2 group=m1@5/5:11";

#[test]
fn a_member_that_was_left_out_and_is_shown_again() {
    proven_by(&alone(AWAY), "view-regression", &[1, 2, 3]);
    let table = "
        n=2 session=0x2 group= => n=2 session=0x2 group=null # it knows that it knows nothing
        n=2 session=0x2 group= => n=2 session=0x2 # what it shows cannot be read
        n=2 session=0x2 group= => n=2 session=0x3 group= # another session leaves nothing out in this one
        n=2 session=0x2 group= => n=2 session=0x2 group=m1:11 # that may be the same znode
        n=3 session=0x2 group=m1@5/5:11 => n=3 session=0x2 group=m1@9/9:11 # registered anew with its value
        n=3 session=0x2 group=m1@5/5:11 => n=3 session=0x2 group=m1:11 # it may have been
        n=1 session=0x2 group=m1@5/5:11 => n=1 session=0x2 group=null # it was not there before
        n=3 => n=2 | n=2 => n=3 # another order of notices and numbers is doubt";
    innocent(alone, AWAY, table);
    let last = "n=3 session=0x2 group=m1@5/5:11";
    let newer = AWAY.replace(last, "n=3 session=0x2 group=m1@5/8:11");
    proven_by(&alone(&newer), "view-regression", &[1, 2, 3]);
}
