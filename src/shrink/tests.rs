use super::*;
use crate::explore::space::Space;
use std::time::Duration;

fn space(variant: &str, faults: &[&str]) -> Space {
    Space {
        variant: variant.into(),
        servers: 3,
        clients: 5,
        ops: 8,
        windows: 3,
        faults: faults.iter().map(|fault| fault.to_string()).collect(),
        seed: 1,
        ..Space::default()
    }
}

/// The first schedule that fails, and its anomaly.
fn failing(space: &Space) -> (Plan, Wanted) {
    let workload = space.workload().unwrap();
    let fails = |seed| {
        let plan = space.plan(&workload, seed);
        let results = zooquake_checkers::check(&simulated::record(&plan).unwrap());
        let found = results.anomalies.into_iter().find(|anomaly| !anomaly.advisory)?;
        Some((plan, Wanted::of(&found)))
    };
    (0..200).find_map(fails).expect("a failing schedule")
}

#[test]
fn a_failure_is_kept_by_a_plan_that_is_short_enough_to_read() {
    for (variant, faults) in [("lock/predecessor", ["drop-reply"]), ("semaphore/counted", ["kill"])] {
        let (plan, wanted) = failing(&space(variant, &faults));
        let stop = AtomicBool::new(false);
        let until = Instant::now() + Duration::from_secs(600);
        let mut shrinker = Shrinker::new(wanted.clone(), until, &stop);
        assert!(shrinker.find(&plan, 0).unwrap(), "{variant} fails as it did");
        let before = Size::of(&shrinker.best.as_ref().unwrap().1);
        let (shrunk, tried) = shrinker.shrink().unwrap();
        let (small, record) = shrunk.unwrap();
        let after = Size::of(&record);
        assert!(
            after.operations < before.operations && after.windows <= 1,
            "{variant}: {before:?} {after:?}"
        );
        assert!(after.operations <= 12 && after.clients < 5, "{variant}: {after:?}");
        assert!(tried > 5);
        // It fails by itself, whoever runs it.
        let again = simulated::record(&small).unwrap();
        assert!(again.history.events == record.history.events);
        assert!(
            zooquake_checkers::check(&again)
                .anomalies
                .iter()
                .any(|anomaly| wanted.is(anomaly))
        );
    }
}

#[test]
fn what_does_not_fail_is_not_found() {
    let space = space("lock/fenced", &["kill"]);
    let plan = space.plan(&space.workload().unwrap(), 1);
    let wanted = Wanted {
        property: "mutual exclusion".into(),
        anomaly: "stale-write".into(),
    };
    let stop = AtomicBool::new(false);
    let mut shrinker = Shrinker::new(wanted, Instant::now() + Duration::from_secs(600), &stop);
    assert!(!shrinker.find(&plan, 4).unwrap());
    assert_eq!(shrinker.tried, 5);
    assert!(shrinker.shrink().unwrap().0.is_none());
}
