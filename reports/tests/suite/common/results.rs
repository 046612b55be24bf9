//! Results as a checker would give them, made by hand.

use super::Run;
use super::build::{Builder, MS};
use super::lock;
use serde_json::json;
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{Anomaly, Cause, Results, Verdict};
use zooquake_history::{
    Node, Plan, Record,
    plan::{AcceptedAnomaly, ClientPlan, ClusterPlan, Cycle, Target, Timing, Trigger, Window, Workload},
};
use zooquake_reports::Extras;

/// The run in which c3 writes too late.
pub fn invalid() -> Run {
    let (history, tags) = lock::sixty_seconds().finish();
    let tag = |name: &str| tags.iter().find(|(t, _)| *t == name).expect("tagged").1;
    let mut witness = vec![
        tag("late-work"),
        tag("rival-grant"),
        tag("rival-write"),
        tag("late-write"),
    ];
    witness.sort_unstable();
    let stale = Anomaly {
        kind: "stale-write".into(),
        property: "mutual exclusion".into(),
        advisory: false,
        accepted: true,
        witness,
        span: None,
        stuck: None,
        cause: None,
        why: "c3 was paused from 24.000 s on while it worked under an older grant. Its session expired, c5 was granted g900 \
              at 26.150 s and its write of 9001 was accepted at 26.460 s; yet the resource accepted c3's write at 27.430 s, \
              after the write of the newer grant. No order of these writes keeps the older grant's before the newer one's."
            .into(),
    };
    let overlap = Anomaly {
        kind: "stale-holder".into(),
        property: "mutual exclusion, as clients believe".into(),
        advisory: true,
        accepted: false,
        witness: vec![tag("rival-asks"), tag("rival-grant"), tag("late-write")],
        span: None,
        stuck: None,
        cause: None,
        why: "c3 and c5 both believed that they held from 26.150 s to 27.400 s; c3 was paused meanwhile.".into(),
    };
    let mut run = run(Verdict::Invalid, history);
    run.results.anomalies = vec![stale, overlap];
    run.spans();
    run
}

/// The same run, had the checkers found the pause to be the cause, with others that follow from it and a long proof.
pub fn caused() -> Run {
    let mut run = invalid();
    let frozen = run
        .record
        .history
        .events
        .iter()
        .position(|event| event.window() == Some(3));
    let [stale, overlap] = &mut run.results.anomalies[..] else {
        unreachable!("there are two");
    };
    stale.cause = Some(Cause {
        proven: true,
        window: Some(3),
        events: Vec::from_iter(frozen),
        sentence: "The pause of c3 outlasted its session, whose lock went to c5.".into(),
        ..Cause::default()
    });
    overlap.cause = Some(Cause {
        root: Some(0),
        ..Cause::default()
    });
    let mut long = stale.clone();
    (long.kind, long.accepted, long.cause) = ("lost-wakeup".into(), true, None);
    long.witness = (200..500).collect();
    run.results.anomalies.push(long);
    run.spans();
    run
}

/// The same run, had nothing been found.
pub fn valid() -> Run {
    let mut run = invalid();
    run.results.verdict = Verdict::Valid;
    run.results.anomalies.retain(|a| a.advisory);
    run.results.reasons = vec!["note: c4 did not answer a confirm at 46.1 s".into()];
    run
}

/// The same run, had no kill counted.
pub fn unknown() -> Run {
    let mut run = valid();
    run.results.verdict = Verdict::Unknown;
    run.results.anomalies.clear();
    run.results.reasons = vec![
        "no counting window of kill: window 1 hit c2 between two operations; window 5 never began".into(),
        "the ensemble did not recover within three attempts: the leader changed from n3 to n1 at 63.2 s".into(),
    ];
    run.results.windows[0].counts = false;
    run.results.windows[0].why = "c2 neither held nor waited nor worked".into();
    run
}

/// A run of `n` operations by ten clients.
pub fn many(n: usize) -> Run {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut b = Builder::default();
    for i in 0..n / 3 {
        let (who, at) = (
            format!("{}/{}", Node::client(i % 10 + 1), i % 10 + 1),
            i as u64 * 3_600_000 + rng.u64(0..900_000),
        );
        let (kind, accepted) = if i % 50 == 0 { ("fail", false) } else { ("ok", true) };
        let ms = |ns: u64| ns as f64 / MS as f64;
        b.tell(&format!(
            "{}-{} {who} acquire grant=g{i} timeout_ms=120000 -> ok grant=g{i} czxid={i} path=/lock/x-{i}
             {}-{} {who} write grant=g{i} value={i} work_ms=1 -> {kind} grant=g{i} value={i} accepted={accepted}
             {}-{} {who} release grant=g{i} -> ok grant=g{i} removed=null",
            ms(at.saturating_sub(rng.u64(0..30_000_000))),
            ms(at + 400_000),
            ms(at + 500_000),
            ms(at + 500_001 + rng.u64(0..2_000_000)),
            ms(at + 3_000_000),
            ms(at + 3_000_001 + rng.u64(0..300_000)),
        ));
    }
    let mut run = run(Verdict::Valid, b.finish().0);
    run.record.plan.cluster.clients = 10;
    run
}

fn run(verdict: Verdict, history: zooquake_history::History) -> Run {
    let results = Results {
        verdict,
        windows: windows(),
        checkers: [
            ("fencing".to_owned(), json!({"writes": 181})),
            ("mutex".to_owned(), json!({"grants": 97, "confirms": 4})),
        ]
        .into(),
        stats: [
            ("events".to_owned(), json!(history.events.len())),
            ("seconds".to_owned(), json!(67.1)),
        ]
        .into(),
        ..Results::default()
    };
    let extras = Extras {
        reproduce: vec![
            "zooquake check runs/20260301T021500-lock-predecessor-7".into(),
            "zooquake replay runs/20260301T021500-lock-predecessor-7".into(),
            "zooquake run lock/predecessor --faults kill,pause,partition --time 60s --seed 7".into(),
        ],
        run_name: "20260301T021500-lock-predecessor-7".into(),
        ..Extras::default()
    };
    Run {
        record: Record {
            plan: plan(),
            history,
            servers: Some(lock::servers()),
            ..Record::default()
        },
        results,
        extras,
    }
}

fn windows() -> Vec<WindowResult> {
    let rows = [
        ("kill", "c2", 8_100, 11_000, "its process was gone, while it worked"),
        (
            "partition",
            "n2",
            15_800,
            20_900,
            "pings were dropped, four acquires were in flight",
        ),
        (
            "pause",
            "c3",
            24_000,
            27_400,
            "its process was stopped, while it worked",
        ),
        (
            "pause",
            "n1",
            34_000,
            36_500,
            "its process was stopped, a write was in flight",
        ),
        (
            "kill",
            "",
            0,
            0,
            "never began: no client came to work for 200 ms after 40 s",
        ),
        ("partition", "c4", 45_200, 48_400, "pings were dropped, while it held"),
    ];
    let window = |(id, (fault, target, from, until, why)): (usize, (&str, &str, u64, u64, &str))| WindowResult {
        id,
        fault: fault.into(),
        target: target.into(),
        counts: until > 0,
        why: why.into(),
        from: (until > 0).then_some(from * MS),
        until: (until > 0).then_some(until * MS),
    };
    (1..).zip(rows).map(window).collect()
}

fn plan() -> Plan {
    let accepted = AcceptedAnomaly {
        anomaly: "stale-write".into(),
        faults: vec!["pause".into()],
        reason: "no fencing: a frozen holder does not see that its session has expired".into(),
        source: "ZooKeeper recipes and solutions, Locks".into(),
    };
    Plan {
        format: 1,
        seed: 7,
        workload: Workload {
            family: "lock".into(),
            variant: "predecessor".into(),
            promise: "The tutorial's lock: an ephemeral sequential znode that watches the one before it; promises that at most one client works at a time."
                .into(),
            contenders: vec!["/lock".into()],
            accepted: vec![accepted],
            ..Workload::default()
        },
        cluster: ClusterPlan { servers: 3, observers: 0, clients: 5, image: None, timing: Timing::default(), hosts: Vec::new() },
        time_ms: 60_000,
        faults: vec!["kill".into(), "pause".into(), "partition".into()],
        windows: vec![Window {
            id: 1,
            fault: "kill".into(),
            target: Target::Client,
            payload: None,
            trigger: Trigger::At { at_ms: 7_100 },
            duration_ms: 2_900,
            beside: false,
        }],
        clients: vec![ClientPlan { cycles: vec![Cycle { think_ms: 100, writes: vec![20, 400] }], ops: None }; 5],
        ..Plan::default()
    }
}
