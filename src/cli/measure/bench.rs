//! An ensemble without faults, and one host for clients, for as long as a measurement lasts.

use crate::cli::interrupt;
use crate::cluster::lease::Lease;
use crate::cluster::{BringUp, DockerCluster, engine, sweep};
use crate::images;
use crate::run::draw;
use anyhow::{Context, Result, bail};
use zooquake_checkers::plan::Cluster as Shape;

/// The host of the clients.
pub const HOST: &str = "c1";

/// Brings an ensemble up, measures on it, and removes it, whatever comes of the measurement.
///
/// # Errors
/// If the ensemble does not come up, the measurement fails, or somebody interrupts it.
pub async fn on_ensemble<T>(servers: usize, measure: impl AsyncFnOnce(&DockerCluster) -> Result<T>) -> Result<T> {
    let mut interrupt = interrupt::listen()?;
    let docker = engine().await?;
    let images = images::ensure(&docker, &images::Request::default(), &|text| eprintln!("{text}")).await?;
    // Any workload will do: whatever is started says itself which variant it is.
    let workload = zooquake_workloads::recipes::workload("lock", "protected").context("lock/protected exists")?;
    let shape = Shape {
        servers,
        clients: 1,
        ..Default::default()
    };
    let plan = draw::plan(0, workload, shape, 1_000, &[]);
    let run = format!("{:08x}", fastrand::u32(..));
    let logs = tempfile::Builder::new().prefix("zooquake-measure-").tempdir();
    let logs = logs.context("making a temporary folder for logs")?;
    let lease = Lease::take(&docker, &run, &images.tools).await?;
    let order = BringUp {
        run: &run,
        images: &images,
        plan: &plan,
        logs: logs.path().to_path_buf(),
    };
    let whole = async {
        let cluster = DockerCluster::bring_up(&docker, order).await?;
        cluster.ready().await?;
        let measured = measure(&cluster).await?;
        cluster.leave();
        anyhow::Ok(measured)
    };
    let measured = tokio::select! {
        measured = whole => measured,
        _ = interrupt.wait_for(|stop| *stop) => Err(anyhow::anyhow!("interrupted")),
    };
    let swept = match measured {
        Ok(_) => sweep::cluster(&docker, &run).await.and(lease.end().await),
        Err(_) => {
            drop(lease);
            let swept = sweep::dead(&docker, [run]).await;
            swept.into_values().try_for_each(sweep::Swept::complete)
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
