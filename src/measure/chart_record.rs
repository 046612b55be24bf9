//! The points of a chart, measured one after the other as a campaign: a measurement that was stopped goes on.

use crate::campaign::engine::{self, DriveLimits};
use crate::campaign::ledger::{self, CampaignLedger, ForeignRecord};
use crate::run::slot::Slot;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use zooquake_reports::measurement::{Point, Series};

/// How long a point is expected to take while none was measured.
const FIRST: Duration = Duration::from_secs(10);

/// The identity of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasurementHeader {
    /// `herd`, `commit` or `clients`.
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
    /// How many candidates, sites, or clients.
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

/// The measuring of a chart, one place at a time.
struct ChartCampaign<F>(Mutex<F>);

impl<F: AsyncFnMut(&ChartPlace) -> Result<Vec<f64>>> engine::Campaign for ChartCampaign<F> {
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
        let mut measure = self.0.lock().await;
        let clock = Instant::now();
        let values = (*measure)(&job.place).await;
        Ok(Some(MeasuredPoint {
            values: values.with_context(|| format!("measuring {job}"))?,
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

/// The points of a chart on record, until it is drawn.
pub struct ChartRecord {
    ledger: CampaignLedger<MeasurementHeader, MeasuredPoint>,
    path: PathBuf,
}

impl ChartRecord {
    /// The record in this folder; one of other options is begun anew, as their chart would be overwritten.
    ///
    /// # Errors
    /// If it cannot be read or made.
    pub fn open(folder: &Path, header: MeasurementHeader) -> Result<Self> {
        let path = folder.join(ledger::CampaignHeader::file(&header));
        let ledger = match CampaignLedger::open(folder, header.clone()) {
            Err(error) if error.is::<ForeignRecord>() => {
                std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
                CampaignLedger::open(folder, header)
            }
            opened => opened,
        };
        Ok(Self { ledger: ledger?, path })
    }

    /// Whether it lacks one of these.
    pub fn lacks(&self, places: &[ChartPlace]) -> bool {
        places.iter().any(|place| lacks(&self.ledger, place))
    }

    /// Measures what it lacks of these, one after the other.
    ///
    /// # Errors
    /// If one cannot be measured or recorded. Those until then are on record.
    pub async fn measure(
        &mut self,
        places: &[ChartPlace],
        measure: impl AsyncFnMut(&ChartPlace) -> Result<Vec<f64>>,
    ) -> Result<()> {
        let chart = ChartCampaign(Mutex::new(measure));
        // Such a campaign ends by its last place alone: it has no budget, and an interrupt drops it.
        engine::drive(&chart, places, &mut self.ledger, DriveLimits::one_by_one()).await?;
        Ok(())
    }

    /// Where it is and how it is taken up, for an error.
    pub fn advice(&self) -> String {
        format!(
            "what was measured is in {}: the same command goes on",
            self.path.display()
        )
    }

    /// The measured points of each variant, in the order of the places.
    pub fn series(&self, places: &[ChartPlace]) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        for place in places {
            let mut measured = self.ledger.recorded.attempts.iter();
            let points = measured.find(|point| point.place == *place).map(|measured| Point {
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

    /// Removes it: the next measurement begins anew.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(self) -> Result<()> {
        drop(self.ledger);
        std::fs::remove_file(&self.path).with_context(|| format!("removing {}", self.path.display()))
    }
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
