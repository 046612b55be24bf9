//! What a night is to run: variants × faults × seeds, on which ensemble, for how long.

use super::cell::Cell;
use crate::naming;
use crate::run::draw;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zooquake_checkers::plan::{Cluster, Plan};

/// A campaign. Nights of the same name are compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// Its name.
    pub name: String,
    /// Variants, such as `lock/fenced`.
    pub variants: Vec<String>,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: Vec<String>,
    /// What plans are drawn from.
    pub seeds: Vec<u64>,
    /// Milliseconds of operations and faults in each run.
    pub time_ms: u64,
    /// The ensemble and its clients.
    pub cluster: Cluster,
}

impl Campaign {
    /// Every cell of the matrix, by variant, then by faults, then by seed.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for variant in &self.variants {
            for faults in &self.faults {
                cells.extend(self.seeds.iter().map(|seed| Cell {
                    variant: variant.clone(),
                    faults: faults.clone(),
                    seed: *seed,
                }));
            }
        }
        cells
    }

    /// The next seed after one: the next number that no cell of the campaign has anyway.
    pub fn next_seed(&self, seed: u64) -> u64 {
        let mut next = seed.wrapping_add(1);
        while self.seeds.contains(&next) {
            next = next.wrapping_add(1);
        }
        next
    }

    /// How long operations and faults go on in each run.
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms)
    }

    /// The plan of a cell's run with this seed.
    ///
    /// # Errors
    /// If the variant or a fault does not exist (any more): what is said to the user.
    pub fn plan(&self, cell: &Cell, seed: u64) -> Result<Plan, String> {
        let workload = naming::workload(&cell.variant)?;
        let faults = naming::faults(&cell.faults)?;
        Ok(draw::plan(seed, workload, self.cluster.clone(), self.time_ms, &faults))
    }
}

/// The names that fit a pattern, in which `*` stands for anything.
pub fn matching<'a>(pattern: &str, names: &'a [String]) -> Vec<&'a String> {
    names.iter().filter(|name| fits(pattern, name)).collect()
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| fits(after, rest)))),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A campaign of two locks under two faults.
    pub fn campaign(seeds: &[u64]) -> Campaign {
        Campaign {
            name: "test".into(),
            variants: ["lock/predecessor", "lock/fenced"].map(String::from).into(),
            faults: ["pause", "kill,partition"].map(String::from).into(),
            seeds: seeds.to_vec(),
            time_ms: 30_000,
            cluster: Cluster {
                servers: 3,
                clients: 5,
                ..Cluster::default()
            },
        }
    }

    #[test]
    fn the_matrix_has_every_combination_once() {
        let cells = campaign(&[1, 2, 3]).cells();
        assert_eq!(cells.len(), 12);
        let names: std::collections::BTreeSet<String> = cells.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 12);
        assert!(names.contains("lock/fenced × kill,partition × seed 3"));
    }

    #[test]
    fn the_next_seed_is_nobody_elses() {
        let campaign = campaign(&[1, 2, 4]);
        assert_eq!(
            (campaign.next_seed(1), campaign.next_seed(2), campaign.next_seed(4)),
            (3, 3, 5)
        );
    }

    #[test]
    fn a_cell_is_the_run_of_the_command_line() {
        let campaign = campaign(&[1]);
        let cell = &campaign.cells()[1];
        let plan = campaign.plan(cell, 1).unwrap();
        assert_eq!(plan.faults, ["kill", "partition"]);
        assert_eq!((plan.seed, plan.time_ms, plan.clients.len()), (1, 30_000, 5));
        let gone = Cell {
            variant: "lock/gone".into(),
            ..cell.clone()
        };
        assert!(campaign.plan(&gone, 1).unwrap_err().contains("no variant `lock/gone`"));
    }

    #[test]
    fn stars_stand_for_anything() {
        let names = ["lock/fenced", "lock/crate", "queue/fifo"].map(String::from);
        assert_eq!(matching("lock/*", &names), ["lock/fenced", "lock/crate"]);
        assert_eq!(matching("*/f*", &names), ["lock/fenced", "queue/fifo"]);
        assert_eq!(matching("*", &names).len(), 3);
        assert_eq!(matching("lock/fenced", &names).len(), 1);
        assert!(matching("lock", &names).is_empty() && matching("*x", &names).is_empty());
    }
}
