//! The simulated backend as the registry has it: nothing to connect to, and a world of its own for each run.

use super::SimBackend;
use crate::backends::{BackendKind, Capabilities, Capacity, Connection, Fleet};
use anyhow::{Result, bail};
use futures_util::FutureExt;
use std::collections::BTreeSet;
use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use zooquake_backend::images::Source;
use zooquake_backend::{Backend, BackendFuture};
use zooquake_history::plan::{On, Plan, Workload};

/// Simulated ensembles.
pub const KIND: BackendKind = BackendKind {
    on: On::Sim,
    noun: "ensemble",
    adjective: "simulated",
    capabilities: Capabilities {
        virtual_time: true,
        containers: false,
        images: false,
        connections: false,
        election_logs: false,
        zookeeper: true,
    },
    connect: |_| ready(Ok(Box::new(Simulator) as Box<dyn Connection>)).boxed(),
};

/// The model, which is part of this program.
struct Simulator;

impl Connection for Simulator {
    fn cleaner(&self) -> Box<dyn Backend> {
        Box::new(SimBackend::default())
    }

    fn prepare(self: Box<Self>, _: BTreeSet<Option<String>>) -> BackendFuture<'static, Box<dyn Fleet>> {
        ready(Ok(self as Box<dyn Fleet>)).boxed()
    }
}

impl Fleet for Simulator {
    fn backend(&self, plan: &Plan) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(SimBackend::for_plan(plan)))
    }

    fn capacity(&self) -> BackendFuture<'_, Capacity> {
        ready(Ok(Capacity::of_this_machine())).boxed()
    }

    fn pin<'a>(&'a self, _: Option<&'a Path>, workload: &'a mut Workload) -> BackendFuture<'a, Option<Source>> {
        async move {
            if workload.recipe.is_some() {
                bail!("{} cannot run {}", KIND.ensemble(), workload.name());
            }
            Ok(None)
        }
        .boxed()
    }
}
