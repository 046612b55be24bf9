use super::*;
use crate::explore::space::Space;

fn space(variant: &str, faults: &[&str]) -> Space {
    Space {
        variant: variant.into(),
        servers: 3,
        clients: 3,
        ops: 6,
        windows: 2,
        faults: faults.iter().map(|fault| fault.to_string()).collect(),
        seed: 100,
        search: Search::Walk,
    }
}

fn explored(space: &Space, threads: usize, schedules: u64, corpus: Option<&mut Corpus>) -> Exploration {
    let limits = Limits {
        time: ExploringTime::whole(Duration::from_secs(600)),
        schedules: Some(schedules),
        plans: None,
        threads,
        also: None,
    };
    let space = space.resolve().unwrap();
    let stop = AtomicBool::new(false);
    explore((&space, Shard::default()), corpus, limits, &stop, |_| {}).unwrap()
}

#[test]
fn a_correct_lock_is_silent_and_faults_bite() {
    let explored = explored(&space("lock/fenced", &["kill", "pause", "expire"]), 2, 60, None);
    assert_eq!(explored.schedules, 60);
    assert_eq!(explored.failures, BTreeMap::new());
    let bit: u64 = explored.coverage.windows.values().map(|(_, bit)| bit).sum();
    assert!(bit > 30, "{:?}", explored.coverage);
    assert!(explored.coverage.sometimes["a fault struck while an operation was pending"] > 20);
}

#[test]
fn a_tutorial_s_lock_breaks_the_same_way_whatever_the_number_of_threads() {
    let space = space("lock/predecessor", &["drop-reply"]);
    let (one, two) = (explored(&space, 1, 40, None), explored(&space, 2, 40, None));
    assert_eq!((&one.failures, &one.coverage), (&two.failures, &two.coverage));
    assert!(
        one.failures.keys().any(|found| found.anomaly == "lost-wakeup"),
        "{:?}",
        one.failures
    );
    assert!(one.failures.keys().all(|found| found.known), "{:?}", one.failures);
}

#[test]
fn an_exhaustive_exploration_ends_and_plays_the_same_whatever_the_number_of_threads() {
    let space = Space {
        clients: 2,
        ops: 1,
        windows: 0,
        search: Search::Exhaustive { delays: 1 },
        ..space("counter/unconditional", &[])
    };
    let space = space.resolve().unwrap();
    let explored = |threads| {
        let limits = Limits {
            time: ExploringTime::whole(Duration::from_secs(600)),
            schedules: None,
            plans: Some(1),
            threads,
            also: None,
        };
        let stop = AtomicBool::new(false);
        explore((&space, Shard::default()), None, limits, &stop, |_| {}).unwrap()
    };
    let (one, two) = (explored(1), explored(2));
    assert_eq!((one.exhausted, two.exhausted), (Some(1), Some(1)));
    assert_eq!((one.schedules, &one.failures), (two.schedules, &two.failures));
    assert_eq!(one.coverage, two.coverage);
    assert!(one.schedules > 10, "one for each step: {}", one.schedules);
}

#[test]
fn priorities_break_a_tutorial_s_lock_the_same_way_again() {
    let space = Space {
        search: Search::Pct { depth: 3 },
        ..space("lock/predecessor", &["drop-reply"])
    };
    let (one, two) = (explored(&space, 1, 20, None), explored(&space, 2, 20, None));
    assert_eq!((&one.failures, &one.coverage), (&two.failures, &two.coverage));
    assert!(
        one.failures.keys().any(|found| found.anomaly == "lost-wakeup"),
        "{:?}",
        one.failures
    );
}

#[test]
fn a_corpus_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let space = space("lock/fenced", &["kill"]);
    let go_on = |schedules| {
        let (mut corpus, here) = Corpus::open(folder.path(), &space, None).unwrap();
        explored(&here, 2, schedules, Some(&mut corpus)).schedules
    };
    assert_eq!((go_on(4), go_on(4)), (4, 4));
    let (corpus, _) = Corpus::open(folder.path(), &space, None).unwrap();
    assert_eq!(
        (0..20).filter(|number| corpus.done().has(*number)).collect::<Vec<_>>(),
        (0..8).collect::<Vec<_>>()
    );
}

#[test]
fn what_is_missed_follows_from_the_number_of_schedules() {
    assert!((missed(0.001, 3_000) - 0.0497).abs() < 0.001);
    assert!(missed(0.5, 0) > 0.999 && missed(1.0, 1) < 1e-12);
}
