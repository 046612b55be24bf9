//! Networks of consensus protocols as the registry of backends has them: nothing to connect to, and no ensemble.

use crate::backends::sim::SimBackend;
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

/// Networks of consensus protocols.
pub const KIND: BackendKind = BackendKind {
    on: On::Network,
    noun: "network",
    adjective: "simulated",
    capabilities: Capabilities {
        virtual_time: true,
        containers: false,
        images: false,
        connections: false,
        election_logs: false,
        zookeeper: false,
    },
    connect: |_| ready(Ok(Box::new(Networks) as Box<dyn Connection>)).boxed(),
};

/// The networks, which are part of this program.
struct Networks;

impl Connection for Networks {
    fn cleaner(&self) -> Box<dyn Backend> {
        Box::new(SimBackend::default())
    }

    fn prepare(self: Box<Self>, _: BTreeSet<Option<String>>) -> BackendFuture<'static, Box<dyn Fleet>> {
        ready(Ok(self as Box<dyn Fleet>)).boxed()
    }
}

/// What the run of a network is claimed on and timed by. Nothing is brought up there: the run is played whole.
pub fn in_memory() -> Arc<dyn Backend> {
    Arc::new(SimBackend::default())
}

impl Fleet for Networks {
    fn backend(&self, _: &Plan) -> Result<Arc<dyn Backend>> {
        Ok(in_memory())
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
