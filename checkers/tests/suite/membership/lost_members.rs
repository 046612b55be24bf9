//! Clients that take themselves for members by znodes that are gone, or cannot register.

use super::{asked, group, group_read};
use crate::expect::{explains, has_reason, innocent, none, proven};
use zooquake_checkers::check;
use zooquake_history::Record;

/// `c1` was member by a znode that is gone, and answers for ten seconds that it is.
fn lost() -> String {
    format!(
        "c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
         c2 invoke register member=m2 value=21; c2 ok register path=/members/m2 czxid=6 session=0x2
         run recovered; 20 run views
         {}
         50 run audit; run done",
        asked("c1", 21, 10, "n=3 session=0x1 group=m2@6/6:21 registered=m1@5"),
    )
}

fn record(text: &str) -> Record {
    group(text, "m2@6/6:21")
}

#[test]
fn a_client_that_takes_itself_for_a_member() {
    let anomaly = proven(&record(&lost()), "lost-member");
    explains(&anomaly, "at last by /members/m1 (czxid 0x5)");
    let table = "
        31 c1 ask view; => # less than the bound
        registered=m1@5 => registered=null # it knows
        registered=m1@5 => registered=m1@7 # younger than the reading: it may have been there for a moment
        registered=m1@5 => registered=m1 # its age is not known
        registered=m1@5 => registered=m2@6
        25 c1 ask view; => 24.5 c1 note session state=expired session=0x1; 25 c1 ask view;
        25 c1 ask view; => 24.5 c1 note exit; c1 note hello; 25 c1 ask view;
        25 c1 ask view; => 24.9 c1 ask view; 25 c1 ask view; # one is not answered
        25 c1 ask view; => 24.5 run stall ms=1500; 25 c1 ask view;
        run recovered; => ";
    innocent(record, &lost(), table);
    let once = lost().replace(
        "25 c1 ask view; c1 answer view n=3 session=0x1 group=m2@6/6:21 registered=m1@5",
        "25 c1 ask view; c1 answer view n=3 session=0x1 group=m2@6/6:21 registered=null",
    );
    none(&record(&once));
    // It stands in one of the readings.
    for readings in [
        ["m1@5/5:11,m2@6/6:21", "m2@6/6:21"],
        ["m2@6/6:21", "m1@5/5:11,m2@6/6:21"],
    ] {
        none(&group_read(&lost(), [readings[0], readings[1], readings[1]]));
    }
    // Registered anew by itself, with its value: the znode that it names is not that.
    let anew = lost().replace("group=m2@6/6:21", "group=m1@9/9:11,m2@6/6:21");
    let anomaly = proven(&group(&anew, "m1@9/9:11,m2@6/6:21"), "lost-member");
    explains(&anomaly, "is not younger than them");
}

/// The list of the group was read before `m1` registered anew, and `m3`, which was listed, as what it had been made
/// anew after that: a younger member in the reading does not show that `m1` was gone.
#[test]
fn a_reading_that_shows_a_younger_member_may_have_been_listed_earlier() {
    let anew = lost().replace("registered=m1@5", "registered=m1@7");
    let anew = anew.replace(
        "run recovered",
        "c3 invoke register member=m3 value=31; c3 end register; run recovered",
    );
    let shown = anew.replace("group=m2@6/6:21", "group=m2@6/6:21,m3@9/9:31");
    none(&group(&shown, "m2@6/6:21,m3@9/9:31"));
    let acknowledged = anew.replace("c3 end register", "c3 ok register path=/members/m3 czxid=9 session=0x3");
    let shown = acknowledged.replace("group=m2@6/6:21", "group=m2@6/6:21,m3@9/9:31");
    proven(&group(&shown, "m2@6/6:21,m3@9/9:31"), "lost-member");
}

#[test]
fn less_than_the_bound_is_a_reason() {
    let short = lost().replace("31 c1 ask view; c1 answer view", "31 c2 ask view; c2 answer view");
    has_reason(
        &check(&record(&short)),
        "c1 answered at 30.001 s that it is a member by /members/m1, a znode that is gone, for only 9.000 s",
    );
}

const STUCK: &str = "
    c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
    run recovered; 20 run views
    c1 ask view; c1 answer view n=3 session=0x1 group= registered=null
    c1 invoke register member=m1 value=12
    c1 ask view; c1 answer view n=3 session=0x1 group= registered=null
    31 run audit; run done";

fn empty(text: &str) -> Record {
    group(text, "")
}

#[test]
fn a_registration_that_does_not_finish() {
    let anomaly = proven(&empty(STUCK), "lost-member");
    explains(
        &anomaly,
        "c1 was sent `register` at 20.003 s and was not answered `ok` by 31.000 s",
    );
    let table = "
        31 run audit => 30 run audit # less than the bound
        31 run audit => 30.5 c1 ok register path=/members/m1 czxid=9 session=0x1; 31 run audit # it finished
        31 run audit => 25 c1 note exit; 31 run audit
        31 run audit => 25 run stall ms=1500; 31 run audit
        c1 ask view; c1 answer view n=3 session=0x1 group= registered=null => c1 ask view; c1 answer view n=3 session=0x1 group= registered=m1@9
        run recovered; => ";
    innocent(empty, STUCK, table);
    for end in ["30.5 c1 info register", "30.5 c1 fail register"] {
        proven(
            &empty(&STUCK.replace("31 run audit", &format!("{end}; 31 run audit"))),
            "lost-member",
        );
    }
    let again = "25 c1 fail register; c1 invoke register member=m1 value=13; 30.5 c1 fail register; 31 run audit";
    let refused = STUCK.replace("31 run audit", again);
    explains(
        &proven(&empty(&refused), "lost-member"),
        "was refused again and again until 30.500 s",
    );
    // It refuses since it is a member.
    let already = "30.5 c1 failed register g registered-already; 31 run audit";
    let mut record = empty(&STUCK.replace("31 run audit", already));
    let errors = record
        .history
        .events
        .iter_mut()
        .filter_map(|event| event.error.as_mut());
    errors.for_each(|error| *error = error.replace('-', " "));
    none(&record);
    has_reason(&check(&record), "it is not certain that the client was no member");
}
