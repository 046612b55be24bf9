//! One place in the matrix: a variant under some faults, with a seed.

use crate::campaign::attempt::Place;
use crate::campaign::shard::Shard;
use fnv::FnvHasher;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hasher;

/// A variant, faults and a seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// `lock/fenced`, …
    pub variant: String,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: String,
    /// What the plan is drawn from.
    pub seed: u64,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} × seed {}", self.variant, self.faults, self.seed)
    }
}

impl Place for Cell {
    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Cell {
    /// A number that depends on nothing but what the cell is (FNV-1a, its bits mixed as MurmurHash3 ends), so that it is
    /// the same in every campaign, on every machine and in every version.
    pub fn hash(&self) -> u64 {
        let text = format!("{}|{}|{}", self.variant, self.faults, self.seed);
        let mut fnv = FnvHasher::default();
        fnv.write(text.as_bytes());
        let hash = fnv.finish();
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }

    /// Whether it is in this part of the matrix. It stays there whatever other cells a campaign gains or loses.
    pub fn is_in(&self, shard: Shard) -> bool {
        shard.position(self.hash()).is_some()
    }

    /// Whether another cell is the same but for its seed.
    pub fn same_place(&self, variant: &str, faults: &str) -> bool {
        self.variant == variant && self.faults == faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_in_one_part_and_no_part_is_empty() {
        let cell = |n: u64| Cell {
            variant: format!("lock/v{}", n % 10),
            faults: format!("f{}", n / 10 % 5),
            seed: n / 50,
        };
        let cells: Vec<Cell> = (0..400).map(cell).collect();
        let shards: Vec<Shard> = ["1/4", "2/4", "3/4", "4/4"].map(|s| s.parse().unwrap()).into();
        for cell in &cells {
            assert_eq!(shards.iter().filter(|shard| cell.is_in(**shard)).count(), 1, "{cell}");
        }
        for shard in shards {
            let held = cells.iter().filter(|cell| cell.is_in(shard)).count();
            assert!((60..140).contains(&held), "shard {shard} holds {held} of 400");
        }
    }

    #[test]
    fn the_hash_is_that_of_all_versions() {
        let cell = Cell {
            variant: "lock/fenced".into(),
            faults: "pause".into(),
            seed: 1,
        };
        assert_eq!(
            cell.hash(),
            8_715_585_429_715_471_589,
            "another number would move cells between shards"
        );
        assert_ne!(
            cell.hash(),
            Cell {
                seed: 2,
                ..cell.clone()
            }
            .hash()
        );
    }
}
