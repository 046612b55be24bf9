//! An ensemble without faults, and one host for clients, for as long as a measurement lasts.

use crate::backends::docker::pin;
use crate::planning::drawing;
use crate::run::interruption::unless_interrupted;
use anyhow::{Context, Result, bail};
use futures_util::future::try_join_all;
use tokio::sync::watch;
use zooquake_backend::docker::{DockerBackend, DockerCluster};
use zooquake_backend::{Backend, BringUp, Cluster};
use zooquake_history::plan::{ClusterPlan as Shape, Workload};

/// The host of the clients.
pub const HOST: &str = "c1";

/// Brings an ensemble up with one host for clients of a workload, measures on it, and removes it, whatever comes of the
/// measurement.
///
/// # Errors
/// If the ensemble does not come up, the measurement fails, or somebody interrupts it.
pub async fn on_ensemble<T>(
    servers: usize,
    mut workload: Workload,
    mut interrupt: watch::Receiver<bool>,
    measure: impl AsyncFnOnce(&DockerCluster) -> Result<T>,
) -> Result<T> {
    let prepared = async {
        let backend = DockerBackend::connect().await?.with_images(None).await?;
        pin(&backend, None, &mut workload).await?;
        anyhow::Ok(backend)
    };
    let backend = unless_interrupted(&interrupt, prepared).await?;
    let shape = Shape {
        servers,
        clients: 1,
        ..Default::default()
    };
    let plan = drawing::plan(0, workload, shape, 1_000, &[]);
    let run = format!("{:08x}", fastrand::u32(..));
    let logs = tempfile::Builder::new().prefix("zooquake-measure-").tempdir();
    let logs = logs.context("making a temporary folder for logs")?;
    let claim = backend.claim(&run, None).await?;
    let order = BringUp {
        run: &run,
        plan: &plan,
        logs: logs.path().to_path_buf(),
    };
    let whole = async {
        let cluster = backend.hosts(order).await?;
        let servers = cluster.servers();
        try_join_all(servers.iter().map(|server| cluster.start_server(server))).await?;
        cluster.ready().await?;
        measure(&cluster).await
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
    let measured = match measured {
        Ok(measured) => measured,
        Err(error) => {
            let kept = logs.keep();
            return Err(error.context(format!("the logs of servers and clients are in {}", kept.display())));
        }
    };
    if let Err(error) = swept {
        bail!("what was measured on could not be removed: {error:#}");
    }
    logs.close().context("removing the logs")?;
    Ok(measured)
}
