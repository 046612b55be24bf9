//! What a night is to run: variants × faults × seeds, on which ensemble, for how long.

use super::cell::Cell;
use crate::planning::drawing;
use crate::planning::names;
use crate::planning::network;
use crate::planning::spec::RunSpec;
use globset::Glob;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zooquake_history::plan::{On, Timing};

/// A campaign. Nights of the same name are compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
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
    pub cluster: EnsembleSettings,
    /// Where it runs; left out for a real ensemble.
    #[serde(default, skip_serializing_if = "On::is_real")]
    pub on: On,
}

/// What each run has for an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnsembleSettings {
    /// Servers that vote.
    pub servers: usize,
    /// Servers that only observe.
    #[serde(default)]
    pub observers: usize,
    pub clients: usize,
    /// The ZooKeeper asked for; `None` for the project's choice.
    pub image: Option<String>,
    /// Clocks; `None` for those that `run` gives each variant.
    pub timing: Option<Timing>,
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

    /// A cell's run with this seed.
    pub fn spec(&self, cell: &Cell, seed: u64) -> RunSpec {
        let EnsembleSettings {
            servers,
            observers,
            clients,
            image,
            timing,
        } = self.cluster.clone();
        let named = RunSpec {
            faults: Some(cell.faults.clone()),
            seed: Some(seed),
            ..RunSpec::new(&cell.variant)
        };
        // A consensus protocol has sizes and a time of its own, and no ensemble.
        if names::workload(&cell.variant).is_ok_and(|workload| network::variant(&workload).is_some()) {
            return named;
        }
        RunSpec {
            time: Some(self.time()),
            servers: Some(servers),
            observers: Some(observers),
            clients: Some(clients),
            timing,
            zookeeper: image,
            on: Some(self.on).filter(|on| !on.is_real()),
            ..named
        }
    }

    /// The different timings of its runs.
    pub fn timings(&self) -> Vec<Timing> {
        let of = |name: &String| Some(drawing::timing(&names::workload(name).ok()?));
        let mut timings = Vec::new();
        for timing in self
            .variants
            .iter()
            .filter_map(|name| self.cluster.timing.or_else(|| of(name)))
        {
            if !timings.contains(&timing) {
                timings.push(timing);
            }
        }
        timings
    }
}

/// The names that fit a glob, in which `*` stands for anything, a slash among it.
///
/// # Errors
/// If it is no glob: the message for the user.
pub fn matching<'a>(pattern: &str, names: &'a [String]) -> Result<Vec<&'a String>, String> {
    let glob = Glob::new(pattern).map_err(|error| error.to_string())?.compile_matcher();
    Ok(names.iter().filter(|name| glob.is_match(name)).collect())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::planning::spec::tests::assert_same;

    /// A campaign of two locks under two faults.
    pub fn campaign(seeds: &[u64]) -> Campaign {
        Campaign {
            name: "test".into(),
            variants: ["lock/predecessor", "lock/fenced"].map(String::from).into(),
            faults: ["pause", "kill,partition"].map(String::from).into(),
            seeds: seeds.to_vec(),
            time_ms: 30_000,
            cluster: EnsembleSettings {
                servers: 3,
                observers: 0,
                clients: 5,
                image: None,
                timing: None,
            },
            on: On::Docker,
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
    fn a_cell_is_the_run_that_has_nothing_else_given() {
        let campaign = campaign(&[1]);
        for variant in names::variants() {
            let cell = Cell {
                variant: variant.clone(),
                ..campaign.cells()[1].clone()
            };
            let plan = campaign.spec(&cell, 1).plan().unwrap();
            assert_eq!(plan.faults, ["kill", "partition"]);
            let line = ["--faults", "kill,partition", "--time", "30s", "--seed", "1"];
            let run = RunSpec::from_args([&[variant.as_str()][..], &line].concat()).unwrap();
            assert_same(&plan, &run.plan().unwrap(), &variant);
        }
        let gone = Cell {
            variant: "lock/gone".into(),
            ..campaign.cells()[1].clone()
        };
        let said = campaign.spec(&gone, 1).plan().unwrap_err();
        assert!(said.contains("no variant `lock/gone`"), "{said}");
    }

    #[test]
    fn stars_stand_for_anything() {
        let names = ["lock/fenced", "lock/crate", "queue/fifo"].map(String::from);
        let fitting = |pattern: &str| matching(pattern, &names).unwrap();
        assert_eq!(fitting("lock/*"), ["lock/fenced", "lock/crate"]);
        assert_eq!(fitting("*/f*"), ["lock/fenced", "queue/fifo"]);
        assert_eq!(fitting("*").len(), 3);
        assert_eq!(fitting("lock/fenced").len(), 1);
        assert_eq!(fitting("{lock,queue}/f*").len(), 2);
        assert!(fitting("lock").is_empty() && fitting("*x").is_empty());
        assert!(matching("lock/[", &names).unwrap_err().contains("lock/["));
    }
}
