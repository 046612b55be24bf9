use super::*;
use crate::explore::space::Space;
use crate::planning::spec::RunSpec;
use crate::run::simulation;
use futures_util::FutureExt;
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{Anomaly, Verdict};
use zooquake_history::plan::Trigger;

fn wanted() -> WantedAnomaly {
    WantedAnomaly {
        property: "mutual exclusion".into(),
        anomaly: "stale-write".into(),
        advisory: false,
    }
}

fn judged(anomaly: Option<(&str, bool)>, counts: bool) -> RunOutcome {
    let anomaly = anomaly.map(|(kind, advisory)| Anomaly {
        kind: kind.into(),
        property: "mutual exclusion".into(),
        advisory,
        accepted: true,
        witness: vec![0],
        span: None,
        stuck: None,
        cause: None,
        why: String::new(),
    });
    let window = WindowResult {
        id: 1,
        fault: "pause".into(),
        target: "c1".into(),
        counts,
        why: String::new(),
        from: None,
        until: None,
    };
    let results = Results {
        verdict: Verdict::Unknown,
        anomalies: anomaly.into_iter().collect(),
        windows: vec![window],
        ..Results::default()
    };
    RunOutcome::Judged {
        run: "run".into(),
        results: Box::new(results),
    }
}

fn played(script: Vec<RunOutcome>) -> Option<Confirmation> {
    let tries = [Strikes::Witness, Strikes::States].into_iter().cycle();
    let case = RunSpec::new("lock/fenced").case().unwrap().changed(|plan| Plan {
        replay_of: Some("sim".into()),
        ..plan
    });
    let tries = tries.map(|strikes| (strikes, case.clone())).take(script.len());
    let mut script = script.into_iter();
    let run = async |_| Ok(script.next().expect("no more tries than were asked for"));
    let wanted = wanted();
    let playing = play(tries, &wanted, Path::new("runs"), run);
    playing.now_or_never().expect("nothing to wait for").unwrap()
}

#[test]
fn it_ends_with_the_first_try_that_shows_the_same_anomaly() {
    let script = vec![
        judged(None, false),
        judged(Some(("stale-write", true)), true),
        judged(Some(("double-grant", false)), true),
        judged(Some(("stale-write", false)), true),
        judged(None, true),
    ];
    let confirmation = played(script).unwrap();
    let shown = ConfirmingTry {
        number: 4,
        strikes: Strikes::States,
        replay_of: "sim".into(),
        run: "runs/run".into(),
    };
    assert_eq!(
        (confirmation.tries, confirmation.struck, confirmation.confirmed),
        (4, 3, true)
    );
    assert_eq!(
        confirmation.to_string(),
        "confirmed in try 4, by the states of sim: runs/run"
    );
    assert_eq!(confirmation.shown, Some(shown));
}

#[test]
fn tries_that_were_not_judged_are_told_apart() {
    let failed = RunOutcome::Failed {
        run: None,
        error: "no space".into(),
    };
    let confirmation = played(vec![failed, judged(None, false)]).unwrap();
    assert_eq!(
        confirmation.to_string(),
        "not confirmed in 1 try; every window counts in 0; the harness failed in 1 try: no space"
    );
    assert_eq!(played(vec![judged(None, true), RunOutcome::Interrupted]), None);
}

#[test]
fn a_run_is_played_by_its_witness_and_by_its_states() {
    let space = Space {
        variant: "lock/predecessor".into(),
        servers: 3,
        clients: 3,
        ops: 6,
        windows: 1,
        faults: vec!["drop-reply".into()],
        seed: 100,
        ..Space::default()
    };
    let space = space.resolve().unwrap();
    let failing = |seed| {
        let record = simulation::record(&space.case(seed)).unwrap();
        let results = zooquake_checkers::check(&record);
        let wanted = WantedAnomaly::new(results.anomalies.iter().find(|anomaly| !anomaly.advisory)?);
        Some((record, wanted))
    };
    let (record, found) = (100..140).find_map(failing).expect("a failing schedule");
    let plans = cases(&record, &found, "sim").unwrap();
    let plans = plans.map(|(strikes, case)| (strikes, case.into_plan()));
    assert!(
        plans
            .iter()
            .all(|(_, plan)| plan.on == On::Docker && plan.replay_of.as_deref() == Some("sim"))
    );
    let is_moment = |plan: &Plan| {
        plan.windows
            .iter()
            .all(|window| matches!(window.trigger, Trigger::Op { .. }))
    };
    let moments = plans.map(|(strikes, plan)| (strikes, is_moment(&plan)));
    assert_eq!(moments, [(Strikes::Witness, true), (Strikes::States, false)]);
    assert!(cases(&record, &wanted(), "sim").is_err(), "it does not show that");
}
