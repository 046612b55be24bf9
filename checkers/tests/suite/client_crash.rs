//! Clients of a user's own recipe whose processes end by themselves.

mod random;

use crate::expect::{count, edited, minimal_as, of_kind, one_by, proven};
use crate::script::{changed, own, txn};
use zooquake_checkers::check;
use zooquake_history::{Record, plan::RecipeSource};

/// A run of one's own lock, whose clients may end once in a window. The logs show that session 0x1 was closed after the
/// write of the `confirm` that was sent at 5 s.
fn record(text: &str) -> Record {
    let text = format!("{text}; 5.0 c2 ask confirm; c2 answer confirm zxid=7; 9.0 run done");
    let mut record = own("lock", &text);
    record.plan.workload.recipe = Some(RecipeSource {
        max_restarts: 1,
        ..RecipeSource::default()
    });
    let writes = (2..8).map(|zxid| txn(zxid, "0x2", "setData", "/zooquake/scratch/c2"));
    let all = [txn(1, "0x1", "createSession", "/")].into_iter().chain(writes);
    record.txnlog = Some(all.chain([txn(8, "0x1", "closeSession", "/")]).collect());
    record
}

fn crashes(record: &Record) -> Vec<Vec<usize>> {
    let results = check(record);
    let found = of_kind(&results, "client-crash").into_iter();
    found.map(|anomaly| anomaly.witness.clone()).collect()
}

/// The reasons that leave it open whether a session had ended.
fn open(record: &Record) -> usize {
    count(&check(record), "whether a session of it had ended before is not known")
}

const DIED: &str = "c1 note hello session=0x1; 4.0 c1 note exit by_itself=true";

#[test]
fn a_death_that_nothing_excuses_convicts_and_shows_the_end_of_the_log() {
    let mut record = record(DIED);
    record.client_logs.insert(
        "c1".to_owned(),
        vec!["Traceback".to_owned(), "KeyError: 'x'".to_owned()],
    );
    let anomaly = proven(&record, "client-crash");
    let found = (anomaly.property.as_str(), &anomaly.witness[..]);
    assert_eq!(found, ("the client stays up", &[1][..]));
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
    let built_in = changed(record(DIED), |built_in| built_in.plan.workload.recipe = None);
    assert_eq!(crashes(&built_in), [[0; 0]; 0]);
}

#[test]
fn a_fault_on_or_ended_less_than_two_session_timeouts_before_excuses_it() {
    for (healed, convicts) in [
        ("0.3 nemesis pause 1 off verified=true", 1),
        ("1.0 nemesis pause 1 off verified=true", 0),
        // It was never seen healed, or never was on.
        ("", 0),
        ("0.3 nemesis pause 1 skipped", 1),
    ] {
        let hello = "0.1 c1 note hello session=0x1; 0.2 nemesis pause 1 begin";
        let record = record(&format!("{hello}; {healed}; 4.9 c1 note exit by_itself=true"));
        assert_eq!(crashes(&record).len(), convicts, "{healed}");
    }
}

#[test]
fn an_expired_session_excuses_it_and_one_that_it_closed_itself_does_not() {
    for (notices, convicts) in [
        ("1.0 c1 note session session=0x1 state=expired", 0),
        // Long ago, and not so long ago.
        (
            "0.5 c1 note session session=0x1 state=expired; 0.6 c1 note session session=0x3 state=connected",
            1,
        ),
        (
            "2.5 c1 note session session=0x1 state=expired; 2.6 c1 note session session=0x3 state=connected",
            0,
        ),
        ("3.9 c1 note session session=0x1 state=closed", 1),
        ("3.9 c1 note session session=0x1 state=disconnected", 1),
    ] {
        let record = record(&edited(DIED, &format!("4.0 c1 => {notices}; 4.9 c1")));
        assert_eq!((crashes(&record).len(), open(&record)), (convicts, 0), "{notices}");
    }
}

#[test]
fn where_nothing_tells_whether_its_session_had_expired_it_is_unknown() {
    let without = changed(record(DIED), |without| without.txnlog = None);
    assert_eq!((crashes(&without).len(), open(&without)), (0, 1));
    // Logs that begin late, have a gap, or end before the transaction that an answer names.
    for kept in [1..8, 0..6] {
        let mut short = record(DIED);
        short.txnlog = short.txnlog.map(|txns| txns[kept.clone()].to_vec());
        assert_eq!((crashes(&short).len(), open(&short)), (0, 1), "{kept:?}");
    }
    let gap = changed(record(DIED), |gap| drop(gap.txnlog.as_mut().unwrap().remove(3)));
    assert_eq!((crashes(&gap).len(), open(&gap)), (0, 1));
    let unnamed = record(&DIED.replace("session=0x1", "session=null"));
    assert_eq!((crashes(&unnamed).len(), open(&unnamed)), (0, 1));
    let earlier = record(&DIED.replace("4.0", "5.5"));
    let found = (crashes(&earlier).len(), open(&earlier));
    assert_eq!(found, (0, 1), "it may have been closed since");
    let never = changed(record(DIED), |never| drop(never.txnlog.as_mut().unwrap().pop()));
    assert_eq!((crashes(&never).len(), open(&never)), (1, 0), "it was never closed");
    let found = crashes(&record("4.0 c1 note exit by_itself=true"));
    assert_eq!(found, [[0]], "it had not begun");
}

/// The witness convicts in the same way, and without any event of it nothing does: more deaths than allowed need their
/// window, whose absence leaves others without an excuse.
fn minimal(record: &Record, anomaly: &zooquake_checkers::Anomaly) {
    let in_one = |why: &str| why.contains(" in one window of ");
    minimal_as(record, anomaly, |other| {
        other.kind == anomaly.kind && in_one(&other.why) == in_one(&anomaly.why)
    });
}

#[test]
fn more_deaths_in_one_window_than_it_may_be_started_again() {
    let twice = "0.1 nemesis pause 1 begin; 1.0 c1 note exit by_itself=true; 2.0 c1 note exit by_itself=true";
    let often = record(&format!("{twice}; 2.1 c2 note exit by_itself=true"));
    let anomaly = one_by(&often, "client-crash", &[0, 1, 2]);
    minimal(&often, &anomaly);
    assert!(
        anomaly.why.starts_with(
            "The process of c1 ended by itself 2 times in one window of pause, from 1.000 s to 2.000 s; it may be started again 1 \
             time in one."
        ),
        "{}",
        anomaly.why
    );
    let healed = edited(twice, "2.0 c1 => 1.5 nemesis pause 1 off verified=true; 2.0 c1");
    assert_eq!(crashes(&record(&healed)), [[0; 0]; 0], "one in it, and one soon after");
}

#[test]
fn a_process_whose_engine_is_lost_has_not_died() {
    let deaths = "0.3 c1 note hello session=0x1; 4.5 c1 note exit by_itself=true";
    for (text, convicts) in [
        (format!("{deaths}; 4.6 run unreachable engine; 4.7 run unreachable"), 0),
        // It answered by then.
        (format!("0.1 run unreachable engine; 0.2 run unreachable; {deaths}"), 1),
        (deaths.to_owned(), 1),
    ] {
        assert_eq!(crashes(&record(&text)).len(), convicts, "{text}");
    }
}
