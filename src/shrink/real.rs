//! Real ensembles, one after the other. A plan that has failed once is played a few times: the machine decides what it
//! meets.

use super::{PlanPlayer, PlayedPlan};
use crate::campaign::ensembles::{Ensembles, Runner};
use crate::campaign::orphans;
use crate::campaign::run_outcome::RunOutcome;
use crate::run::folder::Folder;
use anyhow::{Result, bail};
use std::path::PathBuf;
use tokio::runtime::Handle;
use zooquake_history::plan::{On, Plan};

/// So many runs in a row that the harness fails are no accident.
const FAILURES: u32 = 3;

/// Real ensembles. Plans are played on a thread that may block, not on one of the runtime's.
pub struct RealEnsembles {
    ensembles: Ensembles,
    /// The folder of the runs of the ensembles.
    out: PathBuf,
    runtime: Handle,
    failed: u32,
}

impl RealEnsembles {
    /// These ensembles, which write to this folder; their futures run on this runtime.
    pub fn new(ensembles: Ensembles, out: PathBuf, runtime: Handle) -> Self {
        Self {
            ensembles,
            out,
            runtime,
            failed: 0,
        }
    }
}

impl PlanPlayer for RealEnsembles {
    const AGAIN: u64 = 1;

    fn nth(&self, plan: &Plan, _: u64) -> Plan {
        plan.clone().placed(On::Docker)
    }

    fn play(&mut self, plan: &Plan) -> Result<Option<PlayedPlan>> {
        if self.ensembles.stopped() {
            return Ok(None);
        }
        let run = match self.runtime.block_on(self.ensembles.attempt(plan))? {
            RunOutcome::Interrupted => return Ok(None),
            RunOutcome::Failed { run, error } => {
                eprintln!("a plan could not be played: {error}");
                self.failed += 1;
                if self.failed == FAILURES {
                    bail!("the harness failed {FAILURES} times in a row, the last time so: {error}");
                }
                if let Some(run) = run {
                    orphans::remove(&Folder {
                        path: self.out.join(run),
                    })?;
                }
                return Ok(None);
            }
            RunOutcome::Judged { run, .. } => self.out.join(run),
        };
        self.failed = 0;
        Ok(Some(PlayedPlan {
            plan: plan.clone(),
            record: Folder { path: run.clone() }.load()?,
            run: Some(run),
        }))
    }

    fn discard(&mut self, played: &PlayedPlan) -> Result<()> {
        match &played.run {
            Some(run) => orphans::remove(&Folder { path: run.clone() }),
            None => Ok(()),
        }
    }
}
