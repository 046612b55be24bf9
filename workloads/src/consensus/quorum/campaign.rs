//! Many schedules of a protocol in a row, for tests.

pub use super::super::zen::fault_kinds::schedules;
use super::harness::{HEALED, Harness};
use crate::consensus::protocol::Protocol;

/// Plays schedules, none of which may end without a decision or with two; names the first that does.
pub fn all_decide<P: Protocol>(config: P::Config, schedules: u64) {
    let mut slowest = 0;
    let began = std::time::Instant::now();
    for seed in 0..schedules {
        let mut run = Harness::<P>::chaotic(config, seed);
        run.start_without(&[]);
        let decides = run.decides();
        assert!(decides, "{config:?}, seed {seed}: {:?} {:?}", run.learned, run.answers);
        slowest = slowest.max(run.now.saturating_sub(HEALED.into()));
    }
    let rate = schedules as f64 / began.elapsed().as_secs_f64();
    println!("{config:?}: {schedules} schedules, {rate:.0} a second, decided at most {slowest} µs after the faults");
}

/// The number of schedules after which a planted bug has let two values be learned, of at most so many.
pub fn convicted_within<P: Protocol>(config: P::Config, schedules: u64) -> Option<u64> {
    let convicts = |&seed: &u64| {
        let mut run = Harness::<P>::chaotic(config, seed);
        run.start_without(&[]);
        run.decides();
        run.disagrees()
    };
    let found = (0..schedules).find(convicts).map(|seed| seed + 1);
    println!("{config:?}: convicted by schedule {found:?}");
    found
}
