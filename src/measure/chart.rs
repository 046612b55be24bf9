//! The points of a chart, measured one after the other as a campaign: a measurement that was stopped goes on.

use super::cost::{Cost, numbers, point};
use super::ensemble::{MeasuredEnsemble, on_ensemble};
use crate::campaign::engine::{self, DriveLimits};
use crate::campaign::ledger::{self, CampaignLedger, ForeignRecord};
use crate::run::slot::Slot;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};
use zooquake_backend::Cluster;
use zooquake_backend::docker::DockerCluster;
use zooquake_history::plan::Workload;
use zooquake_reports::measurement::{Measurement, Point, Series};

/// How long a point is expected to take while none was measured.
const FIRST: Duration = Duration::from_secs(10);

/// The identity of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasurementHeader {
    /// `herd` or `commit`.
    pub measurement: String,
    /// All options that the numbers depend on, but for variants and sizes.
    pub options: String,
    /// What there is at each size, with `{}` for the size: `{} sites, 31 transactions`.
    pub words: String,
}

impl ledger::CampaignHeader for MeasurementHeader {
    const WHAT: &str = "measurement";
    const OTHER: &str = "has a measurement with other options";

    fn file(&self) -> String {
        format!("{}.jsonl", self.measurement)
    }

    fn is(&self, asked: &Self) -> bool {
        self == asked
    }
}

/// A variant at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartPlace {
    /// Its name.
    pub variant: String,
    /// How many candidates, or sites.
    pub size: u16,
}

/// A point that was measured.
#[derive(Debug, Serialize, Deserialize)]
struct MeasuredPoint {
    #[serde(flatten)]
    place: ChartPlace,
    values: Vec<f64>,
    seconds: f64,
}

impl ledger::AttemptRecord for MeasuredPoint {
    fn run(&self) -> Option<&str> {
        None
    }
}

struct ChartJob {
    place: ChartPlace,
    words: String,
}

impl fmt::Display for ChartJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.place.size.to_string();
        write!(f, "{}: {}", self.place.variant, self.words.replace("{}", &size))
    }
}

/// The measuring of a chart.
struct ChartCampaign<'a, F> {
    cluster: &'a DockerCluster,
    /// Measures one place at a time.
    measure: Mutex<F>,
}

impl<F: AsyncFnMut(&DockerCluster, &ChartPlace) -> Result<Vec<Cost>>> engine::Campaign for ChartCampaign<'_, F> {
    type Header = MeasurementHeader;
    type Attempt = MeasuredPoint;
    type Place = ChartPlace;
    type Job = ChartJob;

    fn next(&self, place: &ChartPlace, ledger: &CampaignLedger<MeasurementHeader, MeasuredPoint>) -> Option<ChartJob> {
        lacks(ledger, place).then(|| ChartJob {
            place: place.clone(),
            words: ledger.recorded.header.words.clone(),
        })
    }

    /// The mean of the points so far.
    fn expected(&self, _job: &ChartJob, ledger: &CampaignLedger<MeasurementHeader, MeasuredPoint>) -> Duration {
        let measured = &ledger.recorded.attempts;
        let seconds: f64 = measured.iter().map(|point| point.seconds).sum();
        Duration::try_from_secs_f64(seconds / measured.len() as f64).unwrap_or(FIRST)
    }

    async fn attempt(&self, job: ChartJob, _slot: Slot) -> Result<Option<MeasuredPoint>> {
        let mut measure = self.measure.lock().await;
        let clock = Instant::now();
        let costs = (*measure)(self.cluster, &job.place).await;
        let costs = costs.with_context(|| format!("measuring {job}"))?;
        Ok(Some(MeasuredPoint {
            values: point(job.place.size, &costs).values,
            place: job.place,
            seconds: clock.elapsed().as_secs_f64(),
        }))
    }

    /// Nothing is: what is measured has the machine to itself.
    fn set_beside(_measured: &mut MeasuredPoint, _places: Vec<ChartPlace>) {}

    fn outcome(_measured: &MeasuredPoint) -> String {
        "measured".to_string()
    }

    /// What fails ends the measurement.
    fn failed(_measured: &MeasuredPoint) -> bool {
        false
    }

    /// An interrupt drops it.
    fn stopped(&self) -> bool {
        false
    }
}

fn lacks(ledger: &CampaignLedger<MeasurementHeader, MeasuredPoint>, place: &ChartPlace) -> bool {
    !ledger.recorded.attempts.iter().any(|point| point.place == *place)
}

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
    measure: impl AsyncFnMut(&DockerCluster, &ChartPlace) -> Result<Vec<Cost>>,
    draw: impl FnOnce(Vec<Series>) -> Measurement,
) -> Result<Chart> {
    let path = order.out.join(ledger::CampaignHeader::file(&order.header));
    let mut ledger = open(order.out, order.header)?;
    let places = order.places.as_slice();
    if places.iter().any(|place| lacks(&ledger, place)) {
        let ensemble = MeasuredEnsemble::with_servers(order.servers);
        let measured = on_ensemble(ensemble, order.workload, order.interrupt, async |cluster| {
            cluster.create("n1", &order.set_up).await?;
            let chart = ChartCampaign {
                cluster,
                measure: Mutex::new(measure),
            };
            engine::drive(&chart, places, &mut ledger, DriveLimits::one_by_one()).await
        });
        let measured = measured.await;
        measured.with_context(|| format!("what was measured is in {}: the same command goes on", path.display()))?;
    }
    let measurement = draw(series(&ledger, places));
    let numbers = numbers(&measurement, order.samples, order.servers);
    let files = write(&measurement, &numbers, order.out)?;
    drop(ledger);
    std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    Ok(Chart {
        measurement,
        numbers,
        files,
    })
}

/// Writes chart, page and numbers into the folder; returns the files.
///
/// # Errors
/// If one cannot be written.
pub fn write(measurement: &Measurement, numbers: &Value, out: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(out).with_context(|| format!("creating the folder {}", out.display()))?;
    let mut files = zooquake_reports::measurement::write_all(measurement, out)?;
    let text = serde_json::to_string_pretty(numbers).context("writing JSON")?;
    let file = out.join(format!("{}.json", measurement.name));
    zooquake_reports::publish(&file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
    files.push(file);
    Ok(files)
}

/// The record in this folder; one of other options is begun anew, as their chart would be overwritten.
fn open(folder: &Path, header: MeasurementHeader) -> Result<CampaignLedger<MeasurementHeader, MeasuredPoint>> {
    match CampaignLedger::open(folder, header.clone()) {
        Err(error) if error.is::<ForeignRecord>() => {
            let path = folder.join(ledger::CampaignHeader::file(&header));
            std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
            CampaignLedger::open(folder, header)
        }
        opened => opened,
    }
}

/// The measured points of each variant, in the order of the places.
fn series(ledger: &CampaignLedger<MeasurementHeader, MeasuredPoint>, places: &[ChartPlace]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for place in places {
        let measured = ledger.recorded.attempts.iter().find(|point| point.place == *place);
        let points = measured.map(|measured| Point {
            size: place.size.into(),
            values: measured.values.clone(),
        });
        match all.iter_mut().find(|series| series.name == place.variant) {
            Some(series) => series.points.extend(points),
            None => all.push(Series {
                name: place.variant.clone(),
                points: points.into_iter().collect(),
            }),
        }
    }
    all
}

/// Every variant at every size, each once and in order.
pub fn places(variants: &[String], sizes: &[u16]) -> Vec<ChartPlace> {
    let sizes: std::collections::BTreeSet<u16> = sizes.iter().copied().collect();
    let of = |variant: &String| {
        let at = |&size: &u16| ChartPlace {
            variant: variant.clone(),
            size,
        };
        sizes.iter().map(at).collect::<Vec<ChartPlace>>()
    };
    let first = |(n, variant): &(usize, &String)| !variants[..*n].contains(variant);
    variants
        .iter()
        .enumerate()
        .filter(first)
        .flat_map(|(_, variant)| of(variant))
        .collect()
}

#[cfg(test)]
mod tests;
