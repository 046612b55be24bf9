use super::strategy::SimulatedEnsembles;
use super::*;
use crate::explore::space::Space;
use crate::run::simulation;
use std::collections::VecDeque;
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

/// When nothing that is tried here goes on any more.
fn later() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// The first schedule that fails, and its anomaly.
fn failing(space: &Space) -> (Case, WantedAnomaly) {
    let space = space.resolve().unwrap();
    let fails = |seed| {
        let case = space.case(seed);
        let results = zooquake_checkers::check(&simulation::record(&case).unwrap());
        let found = results.anomalies.into_iter().find(|anomaly| !anomaly.advisory)?;
        Some((case, WantedAnomaly::new(&found)))
    };
    (0..200).find_map(fails).expect("a failing schedule")
}

#[test]
fn a_failure_is_kept_by_a_plan_that_is_short_enough_to_read() {
    for (variant, faults) in [("lock/predecessor", ["drop-reply"]), ("semaphore/counted", ["kill"])] {
        let (case, wanted) = failing(&space(variant, &faults));
        let stop = AtomicBool::new(false);
        let mut shrinker = Shrinker::new(wanted.clone(), SimulatedEnsembles, later(), &stop);
        assert!(shrinker.find(&case, 0).unwrap(), "{variant} fails as it did");
        let before = Size::new(&shrinker.best.as_ref().unwrap().record);
        let (shrunk, tried) = shrinker.shrink().unwrap();
        let PlayedCase {
            case: small, record, ..
        } = shrunk.unwrap();
        let after = Size::new(&record);
        assert!(
            after.operations < before.operations && after.windows <= 1,
            "{variant}: {before:?} {after:?}"
        );
        assert!(after.operations <= 12 && after.clients < 5, "{variant}: {after:?}");
        assert!(tried > 5);
        // It fails on its own: another execution gives the same history.
        let again = simulation::record(&small).unwrap();
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
fn what_a_clock_struck_is_kept_without_the_transactions_before_it() {
    let (case, wanted) = failing(&space("commit/broadcast", &["pause"]));
    let stop = AtomicBool::new(false);
    let mut shrinker = Shrinker::new(wanted, SimulatedEnsembles, later(), &stop);
    assert!(shrinker.find(&case, 0).unwrap());
    let (shrunk, _) = shrinker.shrink().unwrap();
    let size = Size::new(&shrunk.unwrap().record);
    assert!(size.windows <= 3 && size.operations <= 12, "{size:?}");
}

#[test]
fn what_does_not_fail_is_not_found() {
    let space = space("lock/fenced", &["kill"]);
    let case = space.resolve().unwrap().case(1);
    let wanted = WantedAnomaly {
        property: "mutual exclusion".into(),
        anomaly: "stale-write".into(),
        advisory: false,
    };
    let stop = AtomicBool::new(false);
    let mut shrinker = Shrinker::new(wanted, SimulatedEnsembles, later(), &stop);
    assert!(!shrinker.find(&case, 4).unwrap());
    assert_eq!(shrinker.tried, 5);
    assert!(shrinker.shrink().unwrap().0.is_none());
}

/// Plays plans on simulated ensembles as if they left folders: each second play comes to no end.
struct Folders<'a> {
    played: u32,
    kept: &'a mut VecDeque<PathBuf>,
}

impl CasePlayer for Folders<'_> {
    const AGAIN: u64 = 2;

    fn nth(&self, case: &Case, number: u64) -> Case {
        SimulatedEnsembles.nth(case, number)
    }

    fn play(&mut self, case: &Case) -> Result<Option<PlayedCase>> {
        self.played += 1;
        if self.played.is_multiple_of(2) {
            return Ok(None);
        }
        let run = PathBuf::from(self.played.to_string());
        self.kept.push_back(run.clone());
        let played = SimulatedEnsembles.play(case)?;
        Ok(played.map(|played| PlayedCase {
            run: Some(run),
            ..played
        }))
    }

    fn discard(&mut self, played: &PlayedCase) -> Result<()> {
        self.kept.retain(|kept| Some(kept) != played.run.as_ref());
        Ok(())
    }
}

#[test]
fn of_all_the_runs_only_that_of_the_smallest_plan_is_kept() {
    let (case, wanted) = failing(&space("lock/predecessor", &["drop-reply"]));
    let (stop, mut kept) = (AtomicBool::new(false), VecDeque::new());
    let stage = Folders {
        played: 0,
        kept: &mut kept,
    };
    let mut shrinker = Shrinker::new(wanted, stage, later(), &stop);
    assert!(shrinker.find(&case, 0).unwrap());
    let (shrunk, tried) = shrinker.shrink().unwrap();
    assert!(tried > 5);
    assert_eq!(kept, VecDeque::from([shrunk.unwrap().run.unwrap()]));
}
