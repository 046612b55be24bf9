//! Views that go on to differ from the tree when nothing changes any more.

use super::{asked, group, group_in_calm, group_read};
use crate::expect::{explains, explains_all, has_reason, innocent, none, one, proven, unknown};
use crate::script::changed;
use zooquake_checkers::check;
use zooquake_history::Record;

const TREE: &str = "m1@5/7:12,m2@6/6:21";

/// Two members, of which `c3` shows this for so many seconds.
fn shown_for(seconds: u64, members: &str) -> String {
    format!(
        "c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
         c2 invoke register member=m2 value=21; c2 ok register path=/members/m2 czxid=6 session=0x2
         c3 invoke register member=m3 value=31; c3 ok register path=/members/m3 czxid=4 session=0x3
         c3 invoke deregister; c3 ok deregister
         c1 invoke update value=12; c1 ok update path=/members/m1 mzxid=7
         run recovered; 20 run views
         {}
         50 run audit; run done",
        asked("c3", 21, seconds, &format!("n=3 session=0x3 registered=null {members}")),
    )
}

fn shown(members: &str) -> String {
    shown_for(10, &format!("group={members}"))
}

fn record(text: &str) -> Record {
    group(text, TREE)
}

#[test]
fn a_view_that_differs_for_the_bound_of_liveness() {
    for (members, told) in [
        ("m1@5/7:12", "/members/m2 (czxid 0x6) is missing"),
        (
            "m1@5/5:11,m2@6/6:21",
            "has an old value, of mzxid 0x5, where the tree has that of mzxid 0x7",
        ),
        ("m1@5/7:12,m2@6/6:21,m3@4/4:31", "/members/m3 (czxid 0x4) is dead"),
        (
            "m1@3/3:11,m2@6/6:21",
            "/members/m1 (czxid 0x5) is missing, /members/m1 (czxid 0x3) is dead",
        ),
        ("", "/members/m1 (czxid 0x5) is missing, /members/m2"),
        ("null", "it shows nothing, though there are members"),
        // Of a user's own recipe, which cannot give more than the path and the value.
        ("m1:12", "/members/m2 (czxid 0x6) is missing"),
        ("m1:11,m2:21", "/members/m1 has an old value"),
    ] {
        let anomaly = proven(&record(&shown(members)), "stale-view");
        explains_all(&anomaly, &[told, "for 10.000 s, c3 was asked 11 times"]);
    }
}

#[test]
fn what_does_not_differ_for_certain() {
    for members in [
        TREE,
        "m1:12,m2:21",
        // What is younger may have come and gone between the readings.
        "m1@5/7:12,m2@6/6:21,m3@8/8:31",
        // Without its age a znode may be that one, or younger.
        "m1@5/7:12,m2@6/6:21,m3:31",
        // Newer than the tree is no old value.
        "m1@5/9:12,m2@6/6:21",
    ] {
        none(&record(&shown(members)));
    }
    has_reason(
        &check(&record(&shown("m1@5/7:12,m2@6/6:21,m3@8/8:31"))),
        "it cannot be compared with the tree",
    );
}

/// The czxid of the last znode that was made, which is dead, is above that of each member; but the tree was read after
/// an update had been answered that is later.
#[test]
fn an_answer_before_the_reading_may_prove_what_is_dead() {
    let text = shown("m1@5/9:12,m2@6/6:21,m3@8/8:31").replace("mzxid=7", "mzxid=9");
    let text = text.replace("czxid=4", "czxid=8");
    let tree = "m1@5/9:12,m2@6/6:21";
    let anomaly = proven(&group(&text, tree), "stale-view");
    assert!(anomaly.witness.contains(&9), "the answer to the update: {anomaly:#?}");
    // That answer came after the tree had been read: the reading may have seen the update, and not the member.
    let late = text.replace("c1 invoke update value=12; c1 ok update path=/members/m1 mzxid=9", "");
    let late = late.replace(
        "20 run views",
        "20 run views; c1 invoke update value=12; c1 ok update path=/members/m1 mzxid=9",
    );
    // The answer to its own register proves it still: the tree was read after that.
    let anomaly = proven(&group(&late, tree), "stale-view");
    assert!(anomaly.witness.contains(&5), "the answer to the register: {anomaly:#?}");
    let unnamed = late.replace(
        "c3 ok register path=/members/m3 czxid=8 session=0x3",
        "c3 info register",
    );
    none(&group(&unnamed, tree));
}

#[test]
fn a_spell_that_does_not_last_or_is_broken_convicts_nobody() {
    let text = shown("m1@5/7:12");
    let table = "
        31 c3 ask view; => # less than the bound
        25 c3 ask view; => 24.5 c3 note view n=4 session=0x3 group=m1@5/7:12,m2@6/6:21; 25 c3 ask view; # it showed all for a moment
        25 c3 ask view; => 24.5 c3 note session state=connected session=0x3; 25 c3 ask view; # its connection was away
        25 c3 ask view; => 24.5 c3 note exit; c3 note hello; 25 c3 ask view; # it was killed
        50 run audit => 40 c3 note exit; 50 run audit # it was killed later
        25 c3 ask view; c3 answer view n=3 session=0x3 => 25 c3 ask view; c3 answer view n=3 session=0x4 # a new session may lag
        25 c3 ask view; => 24.5 c3 ask view; c3 note view; 25 c3 ask view; # one write failed
        25 c3 ask view; => 24.9 c3 ask view; 25 c3 ask view; # one is not answered
        25 c3 ask view; => 24.5 run stall ms=1500; 25 c3 ask view;
        run recovered => nemesis pause 1 begin target=c1; nemesis pause 1 on target=c1; run recovered # a fault is not healed
        run recovered; =>
        50 run audit; => # the bound is not seen to its end
        21 c3 ask view => 21 run recover; run recovered; c3 ask view # recovery begun anew";
    innocent(record, &text, table);
    let longer = shown_for(30, "group=m1@5/7:12").replace("50 run audit", "60 run audit");
    let slow = longer
        .replace("c2 ok register", "3.5 c2 ok register")
        .replace("c3 ok register", "6 c3 ok register");
    explains(&one(&record(&slow), "stale-view"), "The bound is 24.9");
    innocent(
        record,
        &slow,
        "40 c3 ask view; => 39.5 c3 note view n=4 session=0x3 group=m1@5/7:12,m2@6/6:21; 40 c3 ask view;",
    );
}

#[test]
fn a_group_that_changed_between_the_readings_is_not_compared() {
    let text = shown("m1@5/7:12");
    for second in [
        "m1@5/7:12",
        "m1@5/7:12,m2@8/8:21",
        "m1@5/8:12,m2@6/6:21",
        "m1@5/7:12,m2@6/6:21,m3@9/9:31",
    ] {
        let record = group_read(&text, [TREE, second, second]);
        none(&record);
        has_reason(
            &check(&record),
            "the group was not the same in the readings of the tree around the views",
        );
    }
    let late = changed(record(&text), |late| {
        drop(late.tree.as_mut().expect("a tree").readings.remove(0))
    });
    unknown(
        &late,
        "the tree was not read before and after clients were asked for their views",
    );
}

/// What the last changes hide: a member that left is shown in the calm before them.
#[test]
fn a_view_that_differs_in_the_calm() {
    let text = |shown: &str, seconds: u64| {
        format!(
            "c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
             c2 invoke register member=m2 value=21; c2 ok register path=/members/m2 czxid=6 session=0x2
             c2 invoke deregister; c2 ok deregister
             c1 invoke update value=12; c1 ok update path=/members/m1 mzxid=7
             run recovered; 20 run calm
             {}
             34 run final
             c2 invoke register member=m2 value=22; c2 ok register path=/members/m2 czxid=8 session=0x2
             35 run views
             {}
             50 run audit; run done",
            asked(
                "c3",
                21,
                seconds,
                &format!("n=3 session=0x3 registered=null group={shown}")
            ),
            asked("c3", 36, 1, "n=4 session=0x3 registered=null group=m1@5/7:12,m2@8/8:22"),
        )
    };
    let (calm, end) = ("m1@5/7:12", "m1@5/7:12,m2@8/8:22");
    let dead = "m1@5/7:12,m2@6/6:21";
    let anomaly = proven(&group_in_calm(&text(dead, 10), [calm; 2], end), "stale-view");
    explains_all(
        &anomaly,
        &["/members/m2 (czxid 0x6) is dead", "for 10.000 s, c3 was asked 11 times"],
    );
    has_reason(
        &none(&group_in_calm(&text(dead, 9), [calm; 2], end)),
        "the last view of c3, answered at 30.001 s, is not that of the tree: /members/m2 (czxid 0x6) is dead, for only 9.000 s",
    );
    // Nothing is asked of a group that changed.
    let right = none(&group_in_calm(&text(calm, 10), [calm; 2], end)).reasons;
    let changed = none(&group_in_calm(&text(dead, 10), [calm, "m1@5/8:12"], end)).reasons;
    let of_c3 = |reasons: &[String]| reasons.iter().filter(|reason| reason.contains("c3 ")).count();
    assert_eq!(of_c3(&changed), of_c3(&right));
}

#[test]
fn what_is_stale_for_less_than_the_bound_is_not_valid() {
    has_reason(
        &check(&record(&shown_for(8, "group=m1@5/7:12"))),
        "the last view of c3, answered at 29.001 s, is not that of the tree: /members/m2 (czxid 0x6) is missing, for only 8.000 s of \
         the 10.000 s after which that convicts",
    );
    let silent = shown_for(8, "group=m1@5/7:12").replace("c3 answer view", "c3 note other");
    has_reason(
        &check(&record(&silent)),
        "c3 answered no `view` between the readings of the tree",
    );
}
