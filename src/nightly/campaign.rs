//! What a night is to run: variants × faults × seeds, on which ensemble, for how long.

use super::cell::Cell;
use super::seeds::SeedSource;
use crate::backends::{self, BackendKind};
use crate::planning::case::Subject;
use crate::planning::spec::RunSpec;
use crate::planning::{drawing, names};
use globset::Glob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zooquake_history::plan::{On, Timing};

/// A campaign. Nights of the same name are compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Campaign {
    pub name: String,
    /// Variants, such as `lock/fenced`.
    pub variants: Vec<String>,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: Vec<String>,
    /// What plans are drawn from.
    pub seeds: SeedSource,
    /// Cells beside the matrix, such as those of known failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<PinnedCells>,
    /// Milliseconds of operations and faults in each run.
    pub time_ms: u64,
    /// The ensemble and its clients.
    pub cluster: EnsembleSettings,
    /// Where it runs; left out for a real ensemble.
    #[serde(default, skip_serializing_if = "On::is_real")]
    pub on: On,
}

/// Cells that every night has: each of the variants under each of the faults with each of the seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PinnedCells {
    pub variants: Vec<String>,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: Vec<String>,
    pub seeds: Vec<u64>,
}

/// What each run has for an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Every cell of the night of a date: those of the matrix by variant, then by faults, then by seed, and those
    /// beside it where their variant and faults are, or behind.
    pub fn cells(&self, date: &str) -> Vec<Cell> {
        let mut cells = Vec::new();
        let seeds = self.seeds.seeds(date);
        for variant in &self.variants {
            for faults in &self.faults {
                cells.extend(seeds.iter().map(|drawn| Cell {
                    variant: variant.clone(),
                    faults: faults.clone(),
                    seed: drawn.seed,
                    ordinal: drawn.ordinal,
                }));
            }
        }
        if !self.cells.is_empty() {
            self.pin(&mut cells);
        }
        cells
    }

    /// Adds the cells beside the matrix, each run once.
    fn pin(&self, cells: &mut Vec<Cell>) {
        let run = |cell: &Cell| (cell.variant.clone(), cell.faults.clone(), cell.seed);
        let mut present: BTreeSet<(String, String, u64)> = cells.iter().map(run).collect();
        for pinned in &self.cells {
            for variant in &pinned.variants {
                for faults in &pinned.faults {
                    let all = pinned.seeds.iter().map(|seed| Cell {
                        variant: variant.clone(),
                        faults: faults.clone(),
                        seed: *seed,
                        ordinal: None,
                    });
                    cells.extend(all.filter(|cell| present.insert(run(cell))));
                }
            }
        }
        let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
        for cell in cells.iter() {
            let next = places.len();
            places
                .entry((cell.variant.clone(), cell.faults.clone()))
                .or_insert(next);
        }
        cells.sort_by_cached_key(|cell| places[&(cell.variant.clone(), cell.faults.clone())]);
    }

    /// The next seed after one: the next number that no cell of the night of this date has anyway.
    pub fn next_seed(&self, seed: u64, date: &str) -> u64 {
        let tonight = self.seeds.seeds(date);
        let taken = |next| {
            let pinned = self.cells.iter().any(|pinned| pinned.seeds.contains(&next));
            pinned || tonight.iter().any(|drawn| drawn.seed == next)
        };
        let mut next = seed.wrapping_add(1);
        while taken(next) {
            next = next.wrapping_add(1);
        }
        next
    }

    /// Where it runs.
    pub fn backend(&self) -> &'static BackendKind {
        backends::kind(self.on)
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
        if matches!(names::subject(&cell.variant), Some(Subject::Protocol(_))) {
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
        let pinned = self.cells.iter().flat_map(|pinned| &pinned.variants);
        for timing in self
            .variants
            .iter()
            .chain(pinned)
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
    use super::super::seeds::{DrawnSeeds, SeedOrigin};
    use super::*;
    use crate::planning::spec::tests::assert_same;

    /// A campaign of two locks under two faults.
    pub fn campaign(seeds: &[u64]) -> Campaign {
        Campaign {
            name: "test".into(),
            variants: ["lock/predecessor", "lock/fenced"].map(String::from).into(),
            faults: ["pause", "kill,partition"].map(String::from).into(),
            seeds: SeedSource::Listed(seeds.to_vec()),
            cells: vec![],
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

    const DATE: &str = "2026-11-20";

    /// A pinned seed of the matrix, one of another fault, and one that is drawn anyway.
    fn pinned() -> Campaign {
        let pinned = |faults: &str, seeds: &[u64]| PinnedCells {
            variants: vec!["lock/predecessor".into()],
            faults: vec![faults.into()],
            seeds: seeds.to_vec(),
        };
        Campaign {
            seeds: SeedSource::Drawn(DrawnSeeds {
                count: 2,
                from: SeedOrigin::Date,
            }),
            cells: vec![pinned("pause", &[7, 7, 2_026_112_001]), pinned("expire", &[8])],
            ..campaign(&[])
        }
    }

    #[test]
    fn pinned_cells_stand_beside_those_of_the_date() {
        let cells = pinned().cells(DATE);
        let shown: Vec<String> = cells[..3].iter().map(ToString::to_string).collect();
        let place = "lock/predecessor × pause";
        let tonight = |number| format!("{place} × drawn seed {number} (202611200{number})");
        assert_eq!(shown, [tonight(1), tonight(2), format!("{place} × seed 7")]);
        assert_eq!(cells.len(), 10);
        assert_eq!(cells[9].to_string(), "lock/predecessor × expire × seed 8");
        let next = pinned().cells("2026-11-21");
        assert!(next[0].is_same(&cells[0]) && next[0] != cells[0]);
        assert!(next.iter().any(|cell| *cell == cells[9]), "what is pinned stays");
    }

    #[test]
    fn the_matrix_has_every_combination_once() {
        let cells = campaign(&[1, 2, 3]).cells(DATE);
        assert_eq!(cells.len(), 12);
        let names: std::collections::BTreeSet<String> = cells.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 12);
        assert!(names.contains("lock/fenced × kill,partition × seed 3"));
    }

    #[test]
    fn the_next_seed_is_nobody_elses() {
        let campaign = campaign(&[1, 2, 4]);
        assert_eq!([1, 2, 4].map(|seed| campaign.next_seed(seed, DATE)), [3, 3, 5]);
        assert_eq!(pinned().next_seed(2_026_112_001, DATE), 2_026_112_003);
        assert_eq!(pinned().next_seed(6, DATE), 9);
    }

    #[test]
    fn a_cell_is_the_run_that_has_nothing_else_given() {
        let campaign = campaign(&[1]);
        for variant in names::variants() {
            let cell = Cell {
                variant: variant.clone(),
                ..campaign.cells(DATE)[1].clone()
            };
            let plan = campaign.spec(&cell, 1).plan().unwrap();
            assert_eq!(plan.faults, ["kill", "partition"]);
            let line = ["--faults", "kill,partition", "--time", "30s", "--seed", "1"];
            let run = RunSpec::from_args([&[variant.as_str()][..], &line].concat()).unwrap();
            assert_same(&plan, &run.plan().unwrap(), &variant);
        }
        let gone = Cell {
            variant: "lock/gone".into(),
            ..campaign.cells(DATE)[1].clone()
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
