//! An ensemble without faults, and hosts for clients, for as long as a measurement lasts.

use crate::backends::docker::pin;
use crate::planning::{drawing, placement};
use crate::run::interruption::unless_interrupted;
use anyhow::{Context, Error, Result, bail};
use futures_util::future::try_join_all;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use zooquake_backend::docker::{DockerBackend, DockerCluster};
use zooquake_backend::{Backend, BringUp, Cluster};
use zooquake_history::Node;
use zooquake_history::plan::{ClusterPlan as Shape, Workload};

/// The first host of clients.
pub static HOST: Node = Node::client(1);

/// What a measurement is made on.
#[derive(Debug, Clone)]
pub struct MeasuredEnsemble {
    pub servers: usize,
    /// Hosts of clients, without any process.
    pub clients: usize,
    /// The addresses of the Docker engines that they stand on; none for the usual one.
    pub hosts: Vec<String>,
}

impl MeasuredEnsemble {
    /// So many servers and one host of clients, on the usual engine.
    pub fn with_servers(servers: usize) -> Self {
        Self {
            servers,
            clients: 1,
            hosts: Vec::new(),
        }
    }
}

/// The value of a measurement, and what its ensemble took.
#[derive(Debug)]
pub struct OnEnsemble<T> {
    pub value: T,
    /// From nothing to servers that serve.
    pub bring_up: Duration,
    /// From then to nothing, without the measurement.
    pub removal: Duration,
}

/// Brings an ensemble up with hosts for clients of a workload, measures on it, and removes it, whatever comes of the
/// measurement.
///
/// # Errors
/// If the ensemble does not come up, the measurement fails, or somebody interrupts it.
pub async fn on_ensemble<T>(
    ensemble: MeasuredEnsemble,
    mut workload: Workload,
    mut interrupt: watch::Receiver<bool>,
    measure: impl AsyncFnOnce(&DockerCluster) -> Result<T>,
) -> Result<OnEnsemble<T>> {
    let MeasuredEnsemble {
        servers,
        clients,
        hosts,
    } = ensemble;
    let mut shape = Shape {
        servers,
        clients,
        ..Default::default()
    };
    shape.hosts = placement::hosts(&hosts, &[], &shape).map_err(Error::msg)?;
    let prepared = async {
        let backend = DockerBackend::connect_to(hosts).await?.with_images(None).await?;
        pin(&backend, None, &mut workload).await?;
        anyhow::Ok(backend)
    };
    let backend = unless_interrupted(&interrupt, prepared).await?;
    let plan = drawing::plan(0, workload, shape, 1_000, &[]);
    let run = format!("{:08x}", fastrand::u32(..));
    let logs = tempfile::Builder::new().prefix("zooquake-measure-").tempdir();
    let logs = logs.context("making a temporary folder for logs")?;
    let claim = backend.claim(&run, None).await?;
    let order = BringUp {
        run: &run,
        plan: &plan,
        logs: logs.path().to_path_buf(),
        keep: false,
    };
    let begun = Instant::now();
    let whole = async {
        let cluster = backend.hosts(order).await?;
        try_join_all(cluster.servers().iter().map(|server| cluster.start_server(server))).await?;
        cluster.ready().await?;
        let bring_up = begun.elapsed();
        anyhow::Ok((measure(&cluster).await?, bring_up, Instant::now()))
    };
    let measured = tokio::select! {
        measured = whole => measured,
        _ = interrupt.wait_for(|stop| *stop) => Err(anyhow::anyhow!("interrupted")),
    };
    let swept = match measured {
        Ok(_) => backend.clear(&run).await.and(claim.end().await),
        Err(_) => {
            drop(claim);
            backend.remove_dead(&run).await
        }
    };
    let (value, bring_up, measured) = match measured {
        Ok(measured) => measured,
        Err(error) => {
            let kept = logs.keep();
            return Err(error.context(format!("the logs of servers and clients are in {}", kept.display())));
        }
    };
    if let Err(error) = swept {
        bail!("what was measured on could not be removed: {error:#}");
    }
    let removal = measured.elapsed();
    logs.close().context("removing the logs")?;
    Ok(OnEnsemble {
        value,
        bring_up,
        removal,
    })
}
