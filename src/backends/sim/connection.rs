//! The simulated backends as the registry has them: nothing to connect to, and a world of its own for each run.

use super::SimBackend;
use crate::backends::{self, BackendKind, Capabilities, Capacity, Connection, Fleet};
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
    connect: |_| ready(Ok(Box::new(InMemory(On::Sim)) as Box<dyn Connection>)).boxed(),
};

/// What plays in virtual time, which is part of this program: the kind of backend that it is.
pub struct InMemory(pub On);

impl Connection for InMemory {
    fn cleaner(&self) -> Box<dyn Backend> {
        Box::new(SimBackend::default())
    }

    fn prepare(self: Box<Self>, _: BTreeSet<Option<String>>) -> BackendFuture<'static, Box<dyn Fleet>> {
        ready(Ok(self as Box<dyn Fleet>)).boxed()
    }
}

impl Fleet for InMemory {
    fn backend(&self, plan: &Plan) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(SimBackend::for_plan(plan)))
    }

    fn capacity(&self) -> BackendFuture<'_, Capacity> {
        ready(Ok(Capacity::of_this_machine())).boxed()
    }

    fn pin<'a>(&'a self, _: Option<&'a Path>, workload: &'a mut Workload) -> BackendFuture<'a, Option<Source>> {
        async move {
            if workload.recipe.is_some() {
                bail!("{} cannot run {}", backends::kind(self.0).ensemble(), workload.name());
            }
            Ok(None)
        }
        .boxed()
    }
}
