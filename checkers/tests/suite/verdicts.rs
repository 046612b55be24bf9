//! What a run needs to be valid, and the reason that each lack gives.

use crate::expect::{edited, explains, has_reason, lacking, unknown, valid};
use crate::script::{changed, history, lock, threatened, txn, window};
use zooquake_checkers::{Verdict, check};
use zooquake_history::{Record, plan::AcceptedAnomaly};

/// A pause of the holder, then progress, recovery and an audit.
const GOOD: &str = "
    0.5 run ops
    1 c1 acquire g1; 1.1 c1 granted g1 czxid=10 path=/lock/a; 1.2 c1 write g1
    1.3 nemesis pause 1 begin
    1.4 nemesis pause 1 on target=c1 verified=true
    2.4 nemesis pause 1 heal
    2.5 nemesis pause 1 off target=c1 verified=true
    2.6 c1 not-held g1
    3 c2 acquire g2; 3.2 c2 granted g2 czxid=20 path=/lock/b
    3.3 c1 acquire g3
    3.4 c2 release g2; 3.5 c2 released g2 removed=20
    3.6 c1 granted g3 czxid=30 path=/lock/c
    3.7 c1 release g3; 3.8 c1 released g3 removed=30
    4 run recovered
    4.1 c1 acquire g4; 4.15 c1 granted g4 czxid=40 path=/lock/d; 4.2 c1 release g4; 4.25 c1 released g4 removed=40
    4.3 c2 acquire g5; 4.35 c2 granted g5 czxid=50 path=/lock/e; 4.4 c2 release g5; 4.45 c2 released g5 removed=50
    5 run audit
    6 c1 quiesce; 6 c2 quiesce
    7 c1 quiesced sessions=0x1; 7 c2 quiesced sessions=0x2
    8 run done";

fn paused(text: &str) -> Record {
    threatened(lock(text), 1, "pause")
}

#[test]
fn a_run_that_lacks_nothing_is_valid() {
    let results = valid(&paused(GOOD));
    let notes = results.reasons.iter().all(|reason| reason.starts_with("note: "));
    assert!(notes, "{:?}", results.reasons);
    let window = &results.windows[0];
    assert!(window.counts);
    assert_eq!(window.target, "c1");
    assert_eq!((window.from, window.until), (Some(1_400_000_000), Some(2_500_000_000)));
    assert_eq!(results.stats["hand_over_max_ms"], 200.0);
    assert_eq!(results.stats["next_grant_after_window_ms"]["1"], 700.0);
    assert_eq!(results.stats["ops"]["acquire"]["ok"], 5);
    assert_eq!(results.checkers["stale-write"]["looked_at"], 0);
}

#[test]
fn each_lack_is_unknown_with_its_reason() {
    lacking(
        paused,
        GOOD,
        &[
            ("4 run recovered =>", "not seen to recover"),
            ("8 run done =>", "did not reach its end"),
            ("7 c1 quiesced sessions=0x1 =>", "c1 answered no quiesce"),
            (
                "8 run done => 7.5 run interrupted; 8 run done",
                "interrupted at 7.500 s",
            ),
            ("5 run audit => 4.5 c1 exit; 5 run audit", "c1 ended after recovery"),
            ("4 run recovered => 4 run not-recovered no-leader", "no-leader"),
        ],
    );
    unknown(&changed(paused(GOOD), |bare| bare.tree = None), "tree was not read");
    let once = changed(paused(GOOD), |once| {
        drop(once.tree.as_mut().expect("a tree").readings.pop())
    });
    unknown(&once, "of the znode tree there is 1 reading, and not 2");
    let damaged = changed(paused(GOOD), |damaged| {
        damaged.damage.push("history.jsonl, line 3: cut off".to_owned())
    });
    unknown(&damaged, "cut off");
    let foreign = changed(paused(GOOD), |foreign| foreign.plan.workload.family = "tea".to_owned());
    unknown(&foreign, "\"tea\"");
    let empty = changed(paused(GOOD), |empty| (empty.history, empty.tree) = Default::default());
    unknown(&empty, "no events");
}

#[test]
fn each_kind_of_fault_needs_a_window_that_counts() {
    let mut both = paused(GOOD);
    both.plan.faults.push("kill".to_owned());
    unknown(&both, "no window of kill counts (none was planned)");
    both.plan.windows.push(window(2, "kill"));
    unknown(&both, "window 2: it never began");
    lacking(
        paused,
        GOOD,
        &[
            (
                "1.4 nemesis pause 1 on target=c1 verified=true =>",
                "never seen to take effect",
            ),
            (
                "on target=c1 verified=true => on target=c1 verified=false",
                "its effect was not verified",
            ),
            ("target=c1 => target=c2", "c2 neither held, waited nor worked"),
            ("1 on target=c1 verified=true => 1 skipped", "it never began"),
        ],
    );
}

#[test]
fn a_kill_counts_by_what_its_victim_did_before() {
    let kill = edited(
        GOOD,
        "pause => kill | target=c1 => target=c2 | 2.6 c1 not-held g1 => | 3 c2 acquire g2 => 2.3 c2 acquire g2 \
         | 2.4 nemesis kill 1 heal => | 2.5 nemesis kill 1 off target=c2 verified=true => \
         | 3.2 c2 => 2.4 nemesis kill 1 heal; 2.5 nemesis kill 1 off target=c2 verified=true; 2.6 c1 not-held g1; 3.2 c2",
    );
    let mut record = threatened(lock(&kill), 1, "kill");
    unknown(&record, "c2 neither held, waited nor worked");
    record.plan.windows = vec![window(1, "pause")];
    assert!(check(&record).windows[0].counts, "a pause that an acquire meets counts");
}

#[test]
fn a_pause_counts_by_what_its_victim_did_once_frozen() {
    let answered = |answer: &str, later: &str| {
        let edits = format!("2.6 c1 not-held g1 => {later} | 1.4 nemesis => 1.35 c1 {answer} g1; 1.4 nemesis");
        check(&paused(&edited(GOOD, &edits)))
    };
    let idle = answered("not-held", "");
    assert_eq!((idle.verdict, idle.windows[0].counts), (Verdict::Unknown, false));
    assert_eq!(idle.windows[0].why, "verified, but c1 neither held, waited nor worked");
    let held = answered("wrote", "2.6 c1 release g1; 2.7 c1 released g1 removed=10");
    assert_eq!(
        (held.verdict, held.windows[0].counts),
        (Verdict::Valid, true),
        "{:?}",
        held.reasons
    );
    assert!(
        held.windows[0].why.starts_with("verified, and c1 held"),
        "{}",
        held.windows[0].why
    );
}

#[test]
fn a_fault_on_servers_needs_somebody_in_flight() {
    assert!(check(&paused(&GOOD.replace("target=c1", "target=n1,n2"))).windows[0].counts);
    let idle = "2.6 c1 not-held g1 => | 1.3 nemesis => 1.25 c1 not-held g1; 1.3 nemesis | target=c1 => target=n1,n2";
    lacking(paused, GOOD, &[(idle, "no operation was in flight")]);
}

#[test]
fn a_whole_hosts_servers_are_felt_by_the_clients_elsewhere() {
    // The client on the host is idle, and one elsewhere is not.
    let idle = "2.6 c1 not-held g1 => | 1.3 nemesis => 1.25 c1 not-held g1; 1.3 nemesis";
    let elsewhere = format!("{idle} | 1.4 nemesis => 1.35 c2 acquire g9; 1.4 nemesis | target=c1 => target=n1,c1");
    let window = check(&paused(&edited(GOOD, &elsewhere))).windows[0].clone();
    assert!(
        window.counts && window.why.contains("of c2 was in flight"),
        "{}",
        window.why
    );
    let alone = format!("{idle} | 1.4 nemesis => 1.35 c2 acquire g9; 1.4 nemesis");
    assert!(!check(&paused(&edited(GOOD, &alone))).windows[0].counts);
}

#[test]
fn there_must_be_progress_after_the_last_fault() {
    let (last, audit) = (GOOD.find("4.1 c1"), GOOD.find("5 run audit"));
    let last = &GOOD[last.expect("the last operations")..audit.expect("an audit")];
    let late = edited(
        &GOOD.replace(last, ""),
        "2.4 nemesis pause 1 heal => | 2.5 nemesis pause 1 off target=c1 verified=true => \
         | 4 run recovered => 3.9 nemesis pause 1 heal; 3.95 nemesis pause 1 off target=c1 verified=true; 4 run recovered",
    );
    unknown(&paused(&late), "no progress after the last fault ended at 3.950 s");
    let idle = "0 run recovered; 1 run audit; 2 c1 quiesce; 2 c2 quiesce; 3 c1 quiesced; 3 c2 quiesced; 4 run done";
    unknown(&lock(idle), "no progress");
}

#[test]
fn remarks_leave_the_verdict_alone() {
    let results = valid(&changed(paused(GOOD), |hazard| {
        hazard.plan.cluster.timing.session_ms = 1000
    }));
    has_reason(&results, "hazard");
    has_reason(&results, "no transaction log");
}

#[test]
fn evidence_that_disagrees_forbids_valid() {
    let logged = |creates: &[(i64, &str)]| {
        let create = |&(zxid, path): &(i64, &str)| txn(zxid, "0x1", "create", path);
        let txns = creates.iter().map(create).collect();
        changed(paused(GOOD), |record| record.txnlog = Some(txns))
    };
    let all = [
        (10, "/lock/a"),
        (20, "/lock/b"),
        (30, "/lock/c"),
        (40, "/lock/d"),
        (50, "/lock/e"),
    ];
    valid(&logged(&all));
    // The log proves nothing about what it does not reach.
    valid(&logged(&all[1..]));
    let record = logged(&[all[0], (20, "/lock/x"), all[2]]);
    unknown(&record, "evidence disagrees: grant g2 of c2");
    unknown(&logged(&[all[0], all[2]]), "no such transaction");
}

#[test]
fn an_accepted_anomaly_is_still_one_and_names_its_faults() {
    let late = "3.4 c2 release g2 => 3.3 c2 write g2; 3.35 c2 wrote g2; 3.36 c1 wrote g1; 3.4 c2 release g2";
    let text = edited(GOOD, &format!("2.6 c1 not-held g1 => | {late}"));
    let mut record = paused(&text);
    let asked_later = "3.3 c1 acquire g3 => | 3.6 c1 granted => 3.55 c1 acquire g3; 3.6 c1 granted";
    record.history = history(&edited(&text, asked_later));
    for (fault, accepts) in [("pause", true), ("none", true), ("kill", false)] {
        record.plan.workload.accepted = vec![AcceptedAnomaly {
            anomaly: "stale-write".into(),
            faults: vec![fault.to_owned()],
            reason: String::new(),
            source: String::new(),
        }];
        let results = check(&record);
        assert_eq!(results.verdict, Verdict::Invalid);
        assert_eq!(results.anomalies[0].kind, "stale-write");
        assert_eq!(results.anomalies[0].accepted, accepts, "{fault}");
        explains(&results.anomalies[0], "pause of c1 (window 1, 1.400 s to 2.400 s)");
    }
}
