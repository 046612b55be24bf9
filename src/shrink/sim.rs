//! Simulated ensembles, on which a plan is played in a moment and in memory.

use super::{PlanPlayer, PlayedPlan};
use crate::run::simulation;
use anyhow::Result;
use std::path::{Path, PathBuf};
use zooquake_history::plan::{On, Plan};

pub struct SimulatedEnsembles;

impl PlanPlayer for SimulatedEnsembles {
    const AGAIN: u64 = 3;

    /// With a seed of its own: that of a plan draws other moments for what is left of it.
    fn nth(&self, plan: &Plan, number: u64) -> Plan {
        Plan {
            on: On::Sim,
            seed: plan.seed.wrapping_add(number),
            ..plan.clone()
        }
    }

    fn play(&mut self, plan: &Plan) -> Result<Option<PlayedPlan>> {
        Ok(Some(PlayedPlan {
            plan: plan.clone(),
            record: simulation::record(plan)?,
            run: None,
        }))
    }

    fn discard(&mut self, _: &PlayedPlan) -> Result<()> {
        Ok(())
    }
}

/// Runs a shrunk plan into a folder of its own, and gives that. `of` is the folder of the run that was shrunk.
///
/// # Errors
/// If the harness fails.
pub fn write_run(plan: Plan, of: Option<&Path>, out: &Path) -> Result<PathBuf> {
    let name = of
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    let plan = Plan {
        replay_of: name,
        ..plan
    };
    Ok(simulation::run(&plan, out)?.folder.path)
}
