//! The points of a chart, measured one after the other as a campaign: a measurement that was stopped goes on.

use super::args::Common;
use super::bench::{ANY, on_ensemble};
use super::outcome::{Cost, point, publish};
use crate::campaign::engine::{self, Budget};
use crate::campaign::ledger::{self, Ledger, Other};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};
use zooquake_backend::Cluster;
use zooquake_backend::docker::DockerCluster;
use zooquake_reports::measurement::{Measurement, Point, Series};

/// How long a point is expected to take while none was measured.
const FIRST: Duration = Duration::from_secs(10);

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// `herd` or `commit`.
    pub measurement: String,
    /// All options that the numbers depend on, but for variants and sizes.
    pub options: String,
    /// What there is at each size, with `{}` for the size: `{} sites, 31 transactions`.
    pub words: String,
}

impl ledger::Header for Header {
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
pub struct Place {
    /// Its name.
    pub variant: String,
    /// How many candidates, or sites.
    pub size: u16,
}

/// A point that was measured.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    #[serde(flatten)]
    place: Place,
    values: Vec<f64>,
    seconds: f64,
}

impl ledger::Attempted for Measured {
    fn run(&self) -> Option<&str> {
        None
    }
}

struct Job {
    place: Place,
    words: String,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.place.size.to_string();
        write!(f, "{}: {}", self.place.variant, self.words.replace("{}", &size))
    }
}

/// A chart in the making.
struct Chart<'a, F> {
    cluster: &'a DockerCluster,
    measure: F,
}

impl<F: AsyncFnMut(&DockerCluster, &Place) -> Result<Vec<Cost>>> engine::Campaign for Chart<'_, F> {
    type Header = Header;
    type Attempt = Measured;
    type Place = Place;
    type Job = Job;

    fn next(&self, place: &Place, ledger: &Ledger<Header, Measured>) -> Option<Job> {
        lacks(ledger, place).then(|| Job {
            place: place.clone(),
            words: ledger.recorded.header.words.clone(),
        })
    }

    /// The mean of the points so far.
    fn expected(&self, _job: &Job, ledger: &Ledger<Header, Measured>) -> Duration {
        let measured = &ledger.recorded.attempts;
        let seconds: f64 = measured.iter().map(|point| point.seconds).sum();
        Duration::try_from_secs_f64(seconds / measured.len() as f64).unwrap_or(FIRST)
    }

    async fn attempt(&mut self, job: Job) -> Result<Option<Measured>> {
        let clock = Instant::now();
        let costs = (self.measure)(self.cluster, &job.place).await;
        let costs = costs.with_context(|| format!("measuring {job}"))?;
        Ok(Some(Measured {
            values: point(job.place.size, &costs).values,
            place: job.place,
            seconds: clock.elapsed().as_secs_f64(),
        }))
    }

    fn outcome(_measured: &Measured) -> String {
        "measured".to_string()
    }

    /// What fails ends the measurement.
    fn failed(_measured: &Measured) -> bool {
        false
    }

    /// An interrupt drops it.
    fn stopped(&self) -> bool {
        false
    }
}

fn lacks(ledger: &Ledger<Header, Measured>, place: &Place) -> bool {
    !ledger.recorded.attempts.iter().any(|point| point.place == *place)
}

/// Measures what the record lacks, publishes the chart, and removes the record: the next measurement begins anew.
///
/// # Errors
/// If a point cannot be measured, somebody interrupts it, or a file cannot be written. The points until then are on record.
pub async fn chart(
    (common, samples): (&Common, u16),
    header: Header,
    (places, set_up): (&[Place], &[String]),
    measure: impl AsyncFnMut(&DockerCluster, &Place) -> Result<Vec<Cost>>,
    draw: impl FnOnce(Vec<Series>) -> Measurement,
) -> Result<()> {
    let path = common.out.join(ledger::Header::file(&header));
    let mut ledger = open(&common.out, header)?;
    if places.iter().any(|place| lacks(&ledger, place)) {
        let measured = on_ensemble(common.servers, ANY, async |cluster| {
            cluster.create("n1", set_up).await?;
            let mut chart = Chart { cluster, measure };
            engine::drive(&mut chart, places, &mut ledger, Budget::new(None)).await
        });
        let measured = measured.await;
        measured.with_context(|| format!("what was measured is in {}: the same command goes on", path.display()))?;
    }
    publish(&draw(series(&ledger, places)), samples, common)?;
    drop(ledger);
    std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))
}

/// The record in this folder; one of other options is begun anew, as their chart would be overwritten.
fn open(folder: &Path, header: Header) -> Result<Ledger<Header, Measured>> {
    match Ledger::open(folder, header.clone()) {
        Err(error) if error.is::<Other>() => {
            let path = folder.join(ledger::Header::file(&header));
            std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
            Ledger::open(folder, header)
        }
        opened => opened,
    }
}

/// The measured points of each variant, in the order of the places.
fn series(ledger: &Ledger<Header, Measured>, places: &[Place]) -> Vec<Series> {
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
pub fn places(variants: &[String], sizes: &[u16]) -> Vec<Place> {
    let sizes: std::collections::BTreeSet<u16> = sizes.iter().copied().collect();
    let of = |variant: &String| {
        let at = |&size: &u16| Place {
            variant: variant.clone(),
            size,
        };
        sizes.iter().map(at).collect::<Vec<Place>>()
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
mod tests {
    use super::*;

    fn header(options: &str) -> Header {
        Header {
            measurement: "herd".into(),
            options: options.into(),
            words: "{} candidates".into(),
        }
    }

    #[test]
    fn points_on_record_are_kept_for_the_same_options_only() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(&["a", "b", "a"].map(String::from), &[20, 5, 5]);
        assert_eq!(
            places.iter().map(|place| place.size).collect::<Vec<_>>(),
            [5, 20, 5, 20]
        );
        let mut ledger = open(folder.path(), header("3 servers")).unwrap();
        let measured = |place: &Place| Measured {
            place: place.clone(),
            values: vec![1.5, 0.1],
            seconds: 2.0,
        };
        ledger.record(measured(&places[3])).unwrap();
        ledger.record(measured(&places[0])).unwrap();
        drop(ledger);
        let ledger = open(folder.path(), header("3 servers")).unwrap();
        let left: Vec<bool> = places.iter().map(|place| lacks(&ledger, place)).collect();
        assert_eq!(left, [false, true, true, false]);
        let series = series(&ledger, &places);
        let sizes = |number: usize| series[number].points.iter().map(|point| point.size).collect::<Vec<_>>();
        assert_eq!((sizes(0), sizes(1)), (vec![5], vec![20]));
        assert_eq!(series[1].points[0].values, [1.5, 0.1]);
        drop(ledger);
        let ledger = open(folder.path(), header("5 servers")).unwrap();
        assert!(places.iter().all(|place| lacks(&ledger, place)));
    }
}
