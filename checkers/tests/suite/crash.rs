//! Clients of a user's own recipe whose processes end by themselves.

mod random;

use crate::queue::told;
use crate::script::txn;
use zooquake_checkers::plan::Recipe;
use zooquake_checkers::{Record, check};

/// A run of one's own lock, whose clients may end once in a window. The logs show that session 0x1 was closed after the write of the
/// `confirm` that was sent at 5 s.
fn record(text: &str) -> Record {
    let text = format!("{text}\n5.0 c2 ask confirm\nc2 answer confirm zxid=7");
    let mut record = told::record("own", &text);
    record.plan.workload.family = "lock".to_owned();
    record.plan.workload.recipe = Some(Recipe {
        max_restarts: 1,
        ..Recipe::default()
    });
    record.txnlog = Some(vec![
        txn(1, "0x1", "createSession", "/"),
        txn(7, "0x2", "setData", "/zooquake/scratch/c2"),
        txn(8, "0x1", "closeSession", "/"),
    ]);
    record
}

fn crashes(record: &Record) -> Vec<Vec<usize>> {
    let crash = |anomaly: &&zooquake_checkers::Anomaly| anomaly.kind == "client-crash";
    let found = check(record).anomalies;
    found
        .iter()
        .filter(crash)
        .map(|anomaly| anomaly.witness.clone())
        .collect()
}

/// The reasons that leave it open whether a session had ended.
fn open(record: &Record) -> usize {
    let said = |reason: &&String| reason.contains("whether a session of it had ended before is not known");
    check(record).reasons.iter().filter(said).count()
}

const DIED: &str = "c1 note hello session=0x1
    4.0 c1 note exit by_itself=true";

#[test]
fn a_death_that_nothing_excuses_convicts_and_shows_the_end_of_the_log() {
    let mut record = record(DIED);
    record.client_logs.insert(
        "c1".to_owned(),
        vec!["Traceback".to_owned(), "KeyError: 'x'".to_owned()],
    );
    let anomaly = told::only_of(&record, "client-crash");
    told::minimal(&record, &anomaly);
    assert_eq!(
        (anomaly.property.as_str(), &anomaly.witness[..]),
        ("the client stays up", &[1][..])
    );
    assert_eq!(
        anomaly.why,
        "The process of c1 ended by itself at 4.000 s, 3.999 s after its hello. No fault was on then or had ended less than two \
         session timeouts before, and no session of it had expired. The last lines of its log: Traceback | KeyError: 'x' No fault \
         was on, or had ended less than one session timeout before."
    );
}

#[test]
fn a_kill_and_a_built_in_client_are_none() {
    assert_eq!(crashes(&record(&DIED.replace(" by_itself=true", ""))), [[0; 0]; 0]);
    let mut built_in = record(DIED);
    built_in.plan.workload.recipe = None;
    assert_eq!(crashes(&built_in), [[0; 0]; 0]);
}

#[test]
fn a_fault_on_or_ended_less_than_two_session_timeouts_before_excuses_it() {
    let with = |healed: &str| {
        let hello = "0.1 c1 note hello session=0x1";
        let begun = "0.2 nemesis note pause window=1 phase=begin";
        crashes(&record(&format!(
            "{hello}\n{begun}\n{healed}\n4.9 c1 note exit by_itself=true"
        )))
        .len()
    };
    let healed = |at: &str| format!("{at} nemesis note pause window=1 phase=off verified=true");
    assert_eq!(with(&healed("0.3")), 1);
    assert_eq!(with(&healed("1.0")), 0);
    assert_eq!(with(""), 0, "it was never seen healed");
    assert_eq!(
        with("0.3 nemesis note pause window=1 phase=skipped"),
        1,
        "it never was on"
    );
}

#[test]
fn an_expired_session_excuses_it_and_one_that_it_closed_itself_does_not() {
    let with = |notices: &str| {
        let record = record(&DIED.replace("4.0", "4.9").replace('\n', &format!("\n{notices}\n")));
        (crashes(&record).len(), open(&record))
    };
    let notice =
        |at: &str, state: &str, session: &str| format!("{at} c1 note session session={session} state={state}\n");
    assert_eq!(with(&notice("1.0", "expired", "0x1")), (0, 0));
    let connected = notice("0.6", "connected", "0x3");
    assert_eq!(
        with(&(notice("0.5", "expired", "0x1") + &connected)),
        (1, 0),
        "long ago"
    );
    assert_eq!(
        with(&(notice("2.5", "expired", "0x1") + &notice("2.6", "connected", "0x3"))),
        (0, 0)
    );
    assert_eq!(with(&notice("3.9", "closed", "0x1")), (1, 0));
    assert_eq!(with(&notice("3.9", "disconnected", "0x1")), (1, 0));
}

#[test]
fn where_nothing_tells_whether_its_session_had_expired_it_is_unknown() {
    let mut without = record(DIED);
    without.txnlog = None;
    assert_eq!((crashes(&without).len(), open(&without)), (0, 1));
    let unnamed = record(&DIED.replace("session=0x1", "session=null"));
    assert_eq!((crashes(&unnamed).len(), open(&unnamed)), (0, 1));
    let earlier = record(&DIED.replace("4.0", "5.5"));
    assert_eq!(
        (crashes(&earlier).len(), open(&earlier)),
        (0, 1),
        "it may have been closed since"
    );
    let mut never = record(DIED);
    never.txnlog.as_mut().unwrap().pop();
    assert_eq!((crashes(&never).len(), open(&never)), (1, 0), "it was never closed");
    assert_eq!(
        crashes(&record("4.0 c1 note exit by_itself=true")),
        [[0]],
        "it had not begun"
    );
}

/// The witness convicts in the same way, and without any event of it nothing does: more deaths than allowed need their window, whose
/// absence leaves others without an excuse.
fn minimal(record: &Record, anomaly: &zooquake_checkers::Anomaly) {
    let in_one = |why: &str| why.contains(" in one window of ");
    told::minimal_as(record, anomaly, |other| {
        other.kind == anomaly.kind && in_one(&other.why) == in_one(&anomaly.why)
    });
}

#[test]
fn more_deaths_in_one_window_than_it_may_be_started_again() {
    let window = "0.1 nemesis note pause window=1 phase=begin";
    let twice = format!("{window}\n1.0 c1 note exit by_itself=true\n2.0 c1 note exit by_itself=true");
    let often = record(&format!("{twice}\n2.1 c2 note exit by_itself=true"));
    let anomaly = told::only_of(&often, "client-crash");
    assert_eq!(anomaly.witness, [0, 1, 2]);
    minimal(&often, &anomaly);
    assert!(
        anomaly.why.starts_with(
            "The process of c1 ended by itself 2 times in one window of pause, from 1.000 s to 2.000 s; it may be started again 1 \
             time in one."
        ),
        "{}",
        anomaly.why
    );
    let healed = twice.replace(
        "\n2.0",
        "\n1.5 nemesis note pause window=1 phase=off verified=true\n2.0",
    );
    assert_eq!(crashes(&record(&healed)), [[0; 0]; 0], "one in it, and one soon after");
}
