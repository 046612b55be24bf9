//! Charts of variants on one ensemble, whose points are on record until the chart is drawn.

use super::chart_record::{ChartPlace, ChartRecord, MeasurementHeader};
use super::cost::{Cost, numbers, point};
use super::ensemble::{MeasuredEnsemble, on_ensemble};
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tokio::sync::watch;
use zooquake_backend::Cluster;
use zooquake_backend::docker::DockerCluster;
use zooquake_history::Node;
use zooquake_history::plan::Workload;
use zooquake_reports::measurement::{Measurement, Series};

/// What a chart is measured with.
pub struct ChartOrder<'a> {
    pub header: MeasurementHeader,
    pub places: Vec<ChartPlace>,
    /// How often each is measured.
    pub samples: u16,
    pub servers: usize,
    /// The workload of the client's process. Any will do: each crowd is given a variant of its own.
    pub workload: Workload,
    /// The znodes that the clients stand on.
    pub set_up: Vec<String>,
    /// Folder for chart, page, numbers, and until then the record.
    pub out: &'a Path,
    /// Becomes true when the user wants it to stop.
    pub interrupt: watch::Receiver<bool>,
}

/// A chart that was measured and written.
#[derive(Debug)]
pub struct Chart {
    pub measurement: Measurement,
    pub numbers: Value,
    pub files: Vec<PathBuf>,
}

/// Measures what the record lacks, writes the chart, and removes the record: the next measurement begins anew.
///
/// # Errors
/// If a point cannot be measured, somebody interrupts it, or a file cannot be written. The points until then are on
/// record.
pub async fn chart(
    order: ChartOrder<'_>,
    mut measure: impl AsyncFnMut(&DockerCluster, &ChartPlace) -> Result<Vec<Cost>>,
    draw: impl FnOnce(Vec<Series>) -> Measurement,
) -> Result<Chart> {
    let mut record = ChartRecord::open(order.out, order.header)?;
    let places = order.places.as_slice();
    if record.lacks(places) {
        let ensemble = MeasuredEnsemble::with_servers(order.servers);
        let measured = on_ensemble(ensemble, order.workload, order.interrupt, async |cluster| {
            cluster.create(&Node::server(1), &order.set_up).await?;
            let point = async |place: &ChartPlace| Ok(point(place.size, &measure(cluster, place).await?).values);
            record.measure(places, point).await
        });
        measured.await.with_context(|| record.advice())?;
    }
    let measurement = draw(record.series(places));
    let numbers = numbers(&measurement, order.samples, order.servers);
    publish(record, measurement, numbers, order.out)
}

/// Writes chart, page and numbers into the folder, and removes the record.
///
/// # Errors
/// If a file cannot be written, or the record not be removed.
pub fn publish(record: ChartRecord, measurement: Measurement, numbers: Value, out: &Path) -> Result<Chart> {
    std::fs::create_dir_all(out).with_context(|| format!("creating the folder {}", out.display()))?;
    let mut files = zooquake_reports::measurement::write_all(&measurement, out)?;
    let text = serde_json::to_string_pretty(&numbers).context("writing JSON")?;
    let file = out.join(format!("{}.json", measurement.name));
    zooquake_reports::publish(&file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
    files.push(file);
    record.remove()?;
    Ok(Chart {
        measurement,
        numbers,
        files,
    })
}
