//! What a run needs to be valid, and what each lack says.

use crate::script::{history, record, txn, window};
use zooquake_checkers::plan::Accepted;
use zooquake_checkers::{Record, Results, Verdict, check};

/// A pause of the holder, then progress, recovery and an audit.
const GOOD: &str = "
    0.5 run ops
    1 c1 acquire g1
    1.1 c1 granted g1 czxid=10 path=/lock/a
    1.2 c1 write g1
    1.3 nemesis pause 1 begin
    1.4 nemesis pause 1 on target=c1 verified=true
    2.4 nemesis pause 1 heal
    2.5 nemesis pause 1 off target=c1 verified=true
    2.6 c1 not-held g1
    3 c2 acquire g2
    3.2 c2 granted g2 czxid=20 path=/lock/b
    3.3 c1 acquire g3
    3.4 c2 release g2
    3.5 c2 released g2 removed=20
    3.6 c1 granted g3 czxid=30 path=/lock/c
    3.7 c1 release g3
    3.8 c1 released g3 removed=30
    4 run recovered
    4.1 c1 acquire g4
    4.15 c1 granted g4 czxid=40 path=/lock/d
    4.2 c1 release g4
    4.25 c1 released g4 removed=40
    4.3 c2 acquire g5
    4.35 c2 granted g5 czxid=50 path=/lock/e
    4.4 c2 release g5
    4.45 c2 released g5 removed=50
    5 run audit
    6 c1 quiesce
    6 c2 quiesce
    7 c1 quiesced sessions=0x1
    7 c2 quiesced sessions=0x2
    8 run done";

fn paused(text: &str) -> Record {
    let mut record = record(text);
    record.plan.faults = vec!["pause".to_owned()];
    record.plan.windows = vec![window(1, "pause")];
    record
}

#[track_caller]
fn unknown(record: &Record, reason: &str) -> Results {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Unknown, "{results:#?}");
    assert!(
        results.reasons.iter().any(|text| text.contains(reason)),
        "{reason:?} is not in {:#?}",
        results.reasons
    );
    results
}

#[test]
fn a_run_that_lacks_nothing_is_valid() {
    let results = check(&paused(GOOD));
    assert_eq!(results.verdict, Verdict::Valid, "{results:#?}");
    assert!(
        results.reasons.iter().all(|reason| reason.starts_with("note: ")),
        "{:?}",
        results.reasons
    );
    assert!(results.windows[0].counts);
    assert_eq!(results.windows[0].target, "c1");
    assert_eq!(
        (results.windows[0].from, results.windows[0].until),
        (Some(1_400_000_000), Some(2_500_000_000))
    );
    assert_eq!(results.stats["hand_over_max_ms"], 200.0);
    assert_eq!(results.stats["next_grant_after_window_ms"]["1"], 700.0);
    assert_eq!(results.stats["ops"]["acquire"]["ok"], 5);
    assert_eq!(results.checkers["stale-write"]["looked_at"], 0);
}

#[test]
fn each_lack_is_unknown_with_its_reason() {
    let without = |part: &str| paused(&GOOD.replace(part, ""));
    unknown(&without("4 run recovered"), "not seen to recover");
    unknown(&without("8 run done"), "did not reach its end");
    unknown(&without("7 c1 quiesced sessions=0x1"), "c1 answered no quiesce");
    unknown(
        &paused(&GOOD.replace("8 run done", "7.5 run interrupted\n 8 run done")),
        "interrupted at 7.500 s",
    );
    unknown(
        &paused(&GOOD.replace("5 run audit", "4.5 c1 exit\n 5 run audit")),
        "c1 ended after recovery",
    );
    unknown(
        &paused(&GOOD.replace("4 run recovered", "4 run not-recovered no-leader")),
        "no-leader",
    );
    let mut bare = paused(GOOD);
    bare.tree = None;
    unknown(&bare, "tree was not read");
    let mut once = paused(GOOD);
    once.tree.as_mut().expect("a tree").readings.pop();
    unknown(&once, "of the znode tree there is 1 reading, and not 2");
    let mut damaged = paused(GOOD);
    damaged.damage.push("history.jsonl, line 3: cut off".to_owned());
    unknown(&damaged, "cut off");
    let mut foreign = paused(GOOD);
    foreign.plan.workload.family = "tea".to_owned();
    unknown(&foreign, "\"tea\"");
    unknown(
        &Record {
            plan: paused(GOOD).plan,
            ..Record::default()
        },
        "no events",
    );
}

#[test]
fn each_kind_of_fault_needs_a_window_that_counts() {
    let mut both = paused(GOOD);
    both.plan.faults.push("kill".to_owned());
    unknown(&both, "no window of kill counts (none was planned)");
    both.plan.windows.push(window(2, "kill"));
    unknown(&both, "window 2: it never began");
    unknown(
        &paused(&GOOD.replace("1.4 nemesis pause 1 on target=c1 verified=true", "")),
        "never seen to take effect",
    );
    unknown(
        &paused(&GOOD.replacen("verified=true", "verified=false", 1)),
        "its effect was not verified",
    );
    unknown(
        &paused(&GOOD.replace("target=c1", "target=c2")),
        "c2 neither held, waited nor worked",
    );
    unknown(
        &paused(&GOOD.replace(
            "1.4 nemesis pause 1 on target=c1 verified=true",
            "1.4 nemesis pause 1 skipped",
        )),
        "it never began",
    );
}

#[test]
fn a_kill_counts_by_what_its_victim_did_before() {
    let kill = GOOD
        .replace("pause", "kill")
        .replace("target=c1", "target=c2")
        .replace("2.6 c1 not-held g1\n    3 c2 acquire", "2.3 c2 acquire")
        .replace(
            "2.4 nemesis kill 1 heal\n    2.5 nemesis kill 1 off target=c2 verified=true",
            "",
        );
    let kill = kill.replace(
        "3.2 c2",
        "2.4 nemesis kill 1 heal\n 2.5 nemesis kill 1 off target=c2 verified=true\n 2.6 c1 not-held g1\n 3.2 c2",
    );
    let mut record = paused(&kill);
    record.plan.faults = vec!["kill".to_owned()];
    record.plan.windows = vec![window(1, "kill")];
    unknown(&record, "c2 neither held, waited nor worked");
    record.plan.windows = vec![window(1, "pause")];
    assert!(check(&record).windows[0].counts, "a pause that an acquire meets counts");
}

#[test]
fn a_fault_on_servers_needs_somebody_in_flight() {
    assert!(check(&paused(&GOOD.replace("target=c1", "target=n1,n2"))).windows[0].counts);
    let idle = GOOD
        .replace("2.6 c1 not-held g1", "")
        .replace("1.3 nemesis", "1.25 c1 not-held g1\n 1.3 nemesis");
    unknown(
        &paused(&idle.replace("target=c1", "target=n1,n2")),
        "no operation was in flight",
    );
}

#[test]
fn there_must_be_progress_after_the_last_fault() {
    let (last, audit) = (GOOD.find("4.1 c1"), GOOD.find("5 run audit"));
    let last = &GOOD[last.expect("the last operations")..audit.expect("an audit")];
    let late = GOOD
        .replace(last, "")
        .replace(
            "2.4 nemesis pause 1 heal\n    2.5 nemesis pause 1 off target=c1 verified=true",
            "",
        )
        .replace(
            "4 run recovered",
            "3.9 nemesis pause 1 heal\n 3.95 nemesis pause 1 off target=c1 verified=true\n 4 run recovered",
        );
    unknown(&paused(&late), "no progress after the last fault ended at 3.950 s");
    let idle =
        "0 run recovered\n 1 run audit\n 2 c1 quiesce\n 2 c2 quiesce\n 3 c1 quiesced\n 3 c2 quiesced\n 4 run done";
    unknown(&record(idle), "no progress");
}

#[test]
fn remarks_leave_the_verdict_alone() {
    let mut hazard = paused(GOOD);
    hazard.plan.cluster.timing.session_ms = 1000;
    let results = check(&hazard);
    assert_eq!(results.verdict, Verdict::Valid);
    for word in ["hazard", "no transaction log"] {
        assert!(
            results.reasons.iter().any(|reason| reason.contains(word)),
            "{:?}",
            results.reasons
        );
    }
}

#[test]
fn evidence_that_disagrees_forbids_valid() {
    let mut record = paused(GOOD);
    let create = |zxid, path| txn(zxid, "0x1", "create", path);
    record.txnlog = Some(vec![
        create(10, "/lock/a"),
        create(20, "/lock/b"),
        create(30, "/lock/c"),
        create(40, "/lock/d"),
        create(50, "/lock/e"),
    ]);
    assert_eq!(check(&record).verdict, Verdict::Valid);
    // Of what the log does not reach it says nothing.
    record.txnlog = Some(vec![
        create(20, "/lock/b"),
        create(30, "/lock/c"),
        create(40, "/lock/d"),
        create(50, "/lock/e"),
    ]);
    assert_eq!(check(&record).verdict, Verdict::Valid);
    record.txnlog = Some(vec![
        create(10, "/lock/a"),
        create(20, "/lock/x"),
        create(30, "/lock/c"),
    ]);
    unknown(&record, "evidence disagrees: grant g2 of c2");
    record.txnlog = Some(vec![create(10, "/lock/a"), create(30, "/lock/c")]);
    unknown(&record, "no such transaction");
}

#[test]
fn an_accepted_anomaly_is_still_one_and_names_its_faults() {
    let text = GOOD.replace("2.6 c1 not-held g1", "").replace(
        "3.4 c2 release g2",
        "3.3 c2 write g2\n 3.35 c2 wrote g2\n 3.36 c1 wrote g1\n 3.4 c2 release g2",
    );
    let mut record = paused(&text);
    record.history = history(
        &text
            .replace("3.3 c1 acquire g3", "")
            .replace("3.6 c1 granted", "3.55 c1 acquire g3\n 3.6 c1 granted"),
    );
    let accepted = |fault: &str| {
        let faults = vec![fault.to_owned()];
        vec![Accepted {
            anomaly: "stale-write".into(),
            faults,
            reason: String::new(),
            source: String::new(),
        }]
    };
    for (fault, accepts) in [("pause", true), ("none", true), ("kill", false)] {
        record.plan.workload.accepted = accepted(fault);
        let results = check(&record);
        assert_eq!(results.verdict, Verdict::Invalid);
        assert_eq!(results.anomalies[0].kind, "stale-write");
        assert_eq!(results.anomalies[0].accepted, accepts, "{fault}");
        assert!(
            results.anomalies[0]
                .why
                .contains("pause of c1 (window 1, 1.400 s to 2.500 s)"),
            "{}",
            results.anomalies[0].why
        );
    }
}
