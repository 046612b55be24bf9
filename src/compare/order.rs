//! The order of the runs: interleaved, so that a machine that gets slower or faster meanwhile favours no variant.

use super::setup::Setup;
use crate::campaign::attempt::CampaignPlace;
use crate::campaign::shard::Shard;
use serde::{Deserialize, Serialize};

/// One run of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Turn {
    /// Index of the round in [`Setup::seeds`].
    pub round: usize,
    /// Index of the faults in [`Setup::faults`].
    pub faults: usize,
    /// Index of the subject in [`Setup::subjects`].
    pub subject: usize,
    /// What the plan is drawn from.
    pub seed: u64,
}

impl CampaignPlace for Turn {
    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Turn {
    /// Whether it is in this part of the comparison. Subjects that are compared with each other stay together: two
    /// machines may be of different speed.
    pub fn is_in(&self, shard: Shard, setup: &Setup) -> bool {
        let group = self.round * setup.faults.len() + self.faults;
        shard.position(group as u64).is_some()
    }
}

/// Every turn: in each round, under each kind of faults, each subject once. The first subject rotates.
pub fn turns(setup: &Setup) -> Vec<Turn> {
    let (rounds, faults, subjects) = (setup.seeds.len(), setup.faults.len(), setup.subjects.len());
    let mut turns = Vec::with_capacity(rounds * faults * subjects);
    for round in 0..rounds {
        for fault in 0..faults {
            // Of each faults the first subject is another one in each round.
            let first = round + fault;
            turns.extend((0..subjects).map(|place| Turn {
                round,
                faults: fault,
                subject: (first + place) % subjects,
                seed: setup.seeds[round],
            }));
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::super::setup::tests::setup;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everything_is_run_once_and_everybody_goes_first() {
        let setup = setup(&["children", "predecessor", "fenced"], &["none", "pause"], &[1, 2, 3]);
        let turns = turns(&setup);
        let all: BTreeSet<Turn> = turns.iter().copied().collect();
        assert_eq!((turns.len(), all.len()), (18, 18));
        for faults in 0..2 {
            let firsts: BTreeSet<usize> = turns
                .chunks(3)
                .filter(|chunk| chunk[0].faults == faults)
                .map(|chunk| chunk[0].subject)
                .collect();
            assert_eq!(firsts.len(), 3);
        }
        // Those that are compared with each other run one after the other.
        let together = |chunk: &[Turn]| {
            chunk
                .iter()
                .all(|turn| (turn.round, turn.faults) == (chunk[0].round, chunk[0].faults))
        };
        assert!(turns.chunks(3).all(together));
    }
}
