//! Networks of consensus protocols as the registry of backends has them: nothing to connect to, and no ensemble.

use crate::backends::sim::{InMemory, SimBackend};
use crate::backends::{BackendKind, Capabilities, Connection};
use futures_util::FutureExt;
use std::future::ready;
use std::sync::Arc;
use zooquake_backend::Backend;
use zooquake_history::plan::On;

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
    connect: |_| ready(Ok(Box::new(InMemory(On::Network)) as Box<dyn Connection>)).boxed(),
};

/// What the run of a network is claimed on and timed by. Nothing is brought up there: the run is played whole.
pub fn in_memory() -> Arc<dyn Backend> {
    Arc::new(SimBackend::default())
}
