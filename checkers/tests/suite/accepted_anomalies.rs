//! What a variant is known to show is accepted only under a fault that was near.

use crate::ensemble::server_log_lines::sample;
use crate::expect::of_kind;
use crate::script::{in_time, lock, run, standing, threatened, znode};
use zooquake_checkers::{Anomaly, check};
use zooquake_history::{Record, plan::AcceptedAnomaly};

/// Seconds 10 to 13: a stale write.
const STALE: &str = "
    10 c1 acquire g1; 10.1 c1 granted g1 czxid=10
    11 c1 write g1
    11.1 c2 acquire g2; 11.2 c2 granted g2 czxid=20
    12 c2 write g2; 12.1 c2 wrote g2
    13 c1 wrote g1";

fn knows(record: Record, anomaly: &str) -> Record {
    let mut record = threatened(record, 1, "pause");
    record.plan.workload.accepted = vec![AcceptedAnomaly {
        anomaly: anomaly.to_owned(),
        faults: vec!["kill".to_owned(), "pause".to_owned()],
        reason: String::new(),
        source: String::new(),
    }];
    record
}

#[track_caller]
fn the(record: &Record, kind: &str) -> Anomaly {
    let results = check(record);
    (*of_kind(&results, kind)
        .first()
        .unwrap_or_else(|| panic!("{results:#?}")))
    .clone()
}

/// The history `text` with the events of a pause added in the order of time.
fn paused(text: &str, pause: &[(f64, &str)]) -> String {
    let pause = pause
        .iter()
        .map(|(time, rest)| format!("{time} nemesis pause 1 {rest}\n"));
    in_time(&format!("{text}\n{}", pause.collect::<String>()))
}

#[test]
fn a_fault_is_near_while_it_is_on_and_a_session_timeout_longer() {
    let on = "on target=c1 verified=true";
    let off = "off target=c1 verified=true";
    let unhealed = "off target=c1 verified=false";
    let whole = |from: f64, until: f64| vec![(from, "begin"), (from + 0.1, on), (until - 0.1, "heal"), (until, off)];
    for (pause, near) in [
        (whole(1.0, 5.0), false),
        // The first event of the witness is that of 10.1 s, and a session lasts 2 s.
        (whole(1.0, 8.0), false),
        (whole(1.0, 8.2), true),
        (whole(11.0, 12.0), true),
        (whole(60.0, 61.0), false),
        // Its effect may come before that is read.
        (vec![(12.5, "begin"), (13.5, on), (15.0, off)], true),
        (vec![(12.5, "begin"), (13.5, "skipped")], false),
        (vec![(1.0, "begin"), (2.0, "skipped")], false),
        // It was not seen to be healed.
        (vec![(1.0, "begin"), (1.1, on)], true),
        (vec![(1.0, "begin"), (1.1, on), (2.0, unhealed)], true),
        (vec![(1.0, "begin")], true),
    ] {
        let found = the(&knows(lock(&paused(STALE, &pause)), "stale-write"), "stale-write");
        assert_eq!(found.accepted, near, "{pause:?}");
        let named = found.why.contains("pause of c1 (window 1") || found.why.contains("pause (window 1");
        assert_eq!(named, near, "{}", found.why);
    }
    // Without any fault at all, if that is what is known.
    let mut without = knows(lock(STALE), "stale-write");
    assert!(!the(&without, "stale-write").accepted);
    without.plan.workload.accepted[0].faults = vec!["none".to_owned()];
    assert!(the(&without, "stale-write").accepted);
}

#[test]
fn what_is_known_under_a_fault_of_nodes_is_known_under_that_of_a_whole_host() {
    let text = paused(
        STALE,
        &[
            (11.0, "begin"),
            (11.1, "on target=n1,c1 verified=true"),
            (12.0, "off target=n1,c1 verified=true"),
        ],
    );
    for (fault, known) in [("host-pause", true), ("host-kill", true), ("host-partition", false)] {
        let text = text.replace("nemesis pause", &format!("nemesis {fault}"));
        let record = threatened(knows(lock(&text), "stale-write"), 1, fault);
        let found = the(&record, "stale-write");
        assert_eq!(found.accepted, known, "{fault}: {}", found.why);
    }
}

/// A pause of c2 that is seen healed.
fn pause(from: f64, until: f64) -> [(f64, &'static str); 3] {
    let on = "on target=c2 verified=true";
    [(from, "begin"), (from, on), (until, "off target=c2 verified=true")]
}

const STUCK: &str = "
    1 c1 acquire g1; 1.1 c1 granted g1 czxid=10; 1.2 c1 release g1; 1.3 c1 released g1
    20 c2 acquire g2
    30 run recovered
    60 run audit";

#[test]
fn what_is_found_at_the_end_came_about_from_its_first_event_to_recovery() {
    let accepted = |text: &str, from: f64, until: f64| {
        let record = knows(lock(&paused(text, &pause(from, until))), "lost-wakeup");
        the(&record, "lost-wakeup").accepted
    };
    assert!(!accepted(STUCK, 2.0, 5.0));
    assert!(accepted(STUCK, 22.0, 25.0));
    assert!(accepted(STUCK, 2.0, 19.0));
    // It was asked for only after recovery: any fault of the plan may have led to it.
    let late = STUCK
        .replace("    20 c2 acquire g2\n", "")
        .replace("60 run", "31 c2 acquire g2\n 60 run");
    assert!(accepted(&late, 2.0, 5.0));

    let lost = |enqueued: &str| {
        format!(
            "0.1 run ops; {enqueued}; 30 run recovered; 40 c3 ask confirm; 40.1 c3 answer confirm; 40.2 c3 invoke dequeue
             40.3 c3 ok dequeue item=null; 41 run drained"
        )
    };
    let told = |text: &str, from: f64, until: f64| {
        let record = knows(run("fifo", &paused(text, &pause(from, until))), "lost-item");
        the(&record, "lost-item").accepted
    };
    let early = lost("20 c1 invoke enqueue item=1; 20.1 c1 ok enqueue item=1");
    assert!(!told(&early, 2.0, 5.0));
    assert!(told(&early, 22.0, 25.0));
    let after = lost("32 c1 invoke enqueue item=1; 32.1 c1 ok enqueue item=1");
    assert!(told(&after, 2.0, 5.0));
}

/// An orphan is not older than the request of an older transaction.
#[test]
fn an_orphan_came_about_from_its_creation_to_recovery() {
    let text = "
        1 c1 acquire g1; 1.1 c1 granted g1 czxid=10; 1.2 c1 release g1; 1.3 c1 released g1
        20 c1 acquire g2; 20.1 c1 granted g2 czxid=20; 21 c1 release g2; 21.1 c1 released g2
        30 run recovered; 60 run audit
        61 c1 quiesce; 61 c2 quiesce; 62 c1 quiesced sessions=0x1; 62 c2 quiesced sessions=0x2";
    let orphan = |czxid: i64, from: f64, until: f64, zxids: &[(u64, i64)]| {
        let left = vec![znode("/lock/left", czxid, "0x2")];
        let mut record = knows(standing(lock(&paused(text, &pause(from, until))), left), "orphan-node");
        let sample = |&(second, zxid): &(u64, i64)| sample(1000 * second, "n1", "leader", zxid);
        record.servers = Some(zxids.iter().map(sample).collect());
        the(&record, "orphan-node").accepted
    };
    // Made after g2 was asked for, at 20 s.
    assert!(!orphan(25, 5.0, 10.0, &[]));
    assert!(orphan(25, 22.0, 25.0, &[]));
    // When after g1 it was is unknown.
    assert!(orphan(15, 5.0, 10.0, &[]));
    assert!(orphan(5, 0.1, 0.5, &[]));
    // The leader had not made it when it was asked after its answer at 14 s.
    assert!(!orphan(15, 5.0, 10.0, &[(14, 12), (15, 12)]));
    assert!(orphan(15, 5.0, 10.0, &[(15, 12)]));
    assert!(orphan(15, 5.0, 10.0, &[(14, 12), (15, 16)]));
    // Another epoch's leader may have been deposed.
    assert!(orphan((1 << 32) | 1, 22.0, 25.0, &[(26, 22), (27, 22)]));
}
