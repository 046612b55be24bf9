//! How many cells of a night are run at once.

use super::campaign::{Campaign, EnsembleSettings};
use crate::backends::Capacity;
use crate::planning::names;

/// Most bytes of memory of a server and its sidecar: a heap of 256 MiB, and what Java takes beside it.
const SERVER: u64 = 448 << 20;

/// Most bytes of memory of a client of a built-in recipe and its sidecar.
const CLIENT: u64 = 32 << 20;

/// Bytes of memory that are allowed for a client of a recipe of one's own, which may be in any language.
const RECIPE_CLIENT: u64 = 256 << 20;

/// The share of a machine's memory that ensembles may take: three of so many parts. The rest is for its other work.
const PARTS: u64 = 4;

/// How many cells are run at once, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCount {
    /// Cells, at least 1.
    pub jobs: usize,
    /// The sentence about it; `None` where there is one after the other, as nobody asked otherwise.
    pub why: Option<String>,
}

/// The number of jobs of a night of which so many were asked for. Simulated cells need a processor each; without a
/// number there are as many as that allows. Real ones need a processor and memory each; without a number there is one.
pub fn count(asked: Option<u16>, campaign: &Campaign, capacity: Capacity) -> JobCount {
    let Capacity { processors, memory } = capacity;
    let takes = campaign.backend().capabilities.containers.then(|| bytes(campaign));
    let by_memory = match (takes, memory) {
        (Some(takes), Some(memory)) => usize::try_from(memory / PARTS * (PARTS - 1) / takes).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let default = if takes.is_some() { 1 } else { processors };
    let wanted = asked.map_or(default, usize::from);
    let jobs = wanted.min(processors).min(by_memory).max(1);
    if wanted == 1 {
        return JobCount { jobs, why: None };
    }
    let at_once = match jobs {
        1 => "one cell after the other".to_string(),
        jobs => format!("{jobs} cells at once"),
    };
    let instead = if jobs < wanted {
        format!(", not {wanted}")
    } else {
        String::new()
    };
    let has = plural(processors, "processor");
    let why = match (takes, memory) {
        (Some(takes), Some(memory)) => format!(
            "{at_once}{instead}: the engine's machine has {has} and {}, and each cell is allowed a processor and {}, within \
             three quarters of the memory",
            gib(memory),
            gib(takes)
        ),
        _ => format!("{at_once}{instead}: this machine has {has}, and each simulated cell is allowed one"),
    };
    JobCount { jobs, why: Some(why) }
}

/// Most bytes of memory of a run of the night.
fn bytes(campaign: &Campaign) -> u64 {
    let EnsembleSettings {
        servers,
        observers,
        clients,
        ..
    } = campaign.cluster;
    let own = |variant: &String| names::workload(variant).is_ok_and(|workload| workload.recipe.is_some());
    let client = if campaign.variants.iter().any(own) {
        RECIPE_CLIENT
    } else {
        CLIENT
    };
    (servers + observers) as u64 * SERVER + clients as u64 * client
}

/// `1.5 GiB`.
fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// `1 processor`, `2 processors`.
fn plural(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::super::campaign::tests::campaign;
    use super::*;
    use zooquake_history::plan::On;

    fn counted(on: On, asked: Option<u16>, processors: usize, gib: Option<u64>) -> (usize, String) {
        let campaign = Campaign { on, ..campaign(&[1]) };
        let memory = gib.map(|gib| gib << 30);
        let JobCount { jobs, why } = count(asked, &campaign, Capacity { processors, memory });
        (jobs, why.unwrap_or_default())
    }

    #[test]
    fn real_cells_are_run_one_by_one_unless_more_are_asked_for() {
        assert_eq!(counted(On::Docker, None, 8, Some(64)), (1, String::new()));
        assert_eq!(counted(On::Docker, Some(1), 8, Some(64)), (1, String::new()));
        let (jobs, why) = counted(On::Docker, Some(2), 8, Some(64));
        assert_eq!(jobs, 2);
        assert!(
            why.starts_with("2 cells at once: the engine's machine has 8 processors and 64.0 GiB"),
            "{why}"
        );
    }

    #[test]
    fn real_cells_need_a_processor_and_memory_each() {
        let (jobs, why) = counted(On::Docker, Some(8), 2, Some(64));
        assert_eq!(jobs, 2);
        assert!(why.starts_with("2 cells at once, not 8: "), "{why}");
        assert_eq!(counted(On::Docker, Some(8), 8, Some(4)).0, 2, "1.5 GiB each of 3");
        let (jobs, why) = counted(On::Docker, Some(2), 8, Some(1));
        assert_eq!(jobs, 1);
        assert!(why.starts_with("one cell after the other, not 2: "), "{why}");
    }

    #[test]
    fn simulated_cells_take_all_processors() {
        let (jobs, why) = counted(On::Sim, None, 4, None);
        assert_eq!(
            (jobs, why.as_str()),
            (
                4,
                "4 cells at once: this machine has 4 processors, and each simulated cell is allowed one"
            )
        );
        assert_eq!(counted(On::Sim, Some(1), 4, None), (1, String::new()));
        assert_eq!(counted(On::Sim, Some(9), 4, None).0, 4);
        assert_eq!(counted(On::Sim, None, 1, None), (1, String::new()));
    }
}
