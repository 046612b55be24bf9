//! How what the harness itself costs grows with the number of its clients.

use super::chart::{Chart, publish};
use super::chart_record::{ChartPlace, ChartRecord, MeasurementHeader, places};
use super::cost::{median, point_fields};
use super::ensemble::{MeasuredEnsemble, OnEnsemble, on_ensemble};
use super::ping::{next_reply, ping};
use crate::run::recorder::Recorder;
use crate::run::store::Events;
use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use zooquake_backend::docker::DockerCluster;
use zooquake_backend::{Cluster, RealClock, Stdin};
use zooquake_engine::HistoryEntry;
use zooquake_history::operation::control::f::PING;
use zooquake_history::plan::Workload;
use zooquake_reports::measurement::{Measurement, Series};

/// What is measured at each number of clients.
pub const QUANTITIES: [&str; 4] = [
    "seconds of bring-up",
    "ms of a round trip",
    "recorded events a second",
    "seconds of removal",
];

/// The same in JSON.
const FIELDS: [&str; 4] = ["bring_up_s", "round_trip_ms", "events_per_second", "removal_s"];

/// What is measured of growing numbers of clients.
#[derive(Debug)]
pub struct ClientsOrder {
    /// Numbers of clients, each a container of its own.
    pub clients: Vec<u16>,
    /// How long they are asked at each number.
    pub lasts: Duration,
    /// Servers of the ensemble.
    pub servers: usize,
    /// The addresses of the engines that all stand on; none for the usual one.
    pub hosts: Vec<String>,
}

impl ClientsOrder {
    /// Brings up one ensemble after the other, each with more clients than the one before, and writes the chart.
    ///
    /// # Errors
    /// If an ensemble does not come up, a client does not answer, somebody interrupts it, or a file cannot be written.
    pub async fn measure(&self, workload: Workload, out: &Path, interrupt: watch::Receiver<bool>) -> Result<Chart> {
        let header = MeasurementHeader {
            measurement: "clients".into(),
            options: format!("{}, on {}", self.subtitle(), self.hosts.join(",")),
            words: "{} clients".into(),
        };
        let places = places(&[self.engines()], &self.clients);
        let mut record = ChartRecord::open(out, header)?;
        let point = async |place: &ChartPlace| self.values(place.size, workload.clone(), interrupt.clone()).await;
        record.measure(&places, point).await.with_context(|| record.advice())?;
        let measurement = self.measurement(record.series(&places));
        let numbers = numbers(&measurement, self);
        publish(record, measurement, numbers, out)
    }

    /// The engines in words.
    fn engines(&self) -> String {
        match self.hosts.len() {
            0 | 1 => "one engine".to_owned(),
            engines => format!("{engines} engines"),
        }
    }

    fn subtitle(&self) -> String {
        format!(
            "{} servers, each client in a container of its own, {}, {} s at each number",
            self.servers,
            self.engines(),
            self.lasts.as_secs()
        )
    }

    /// The [`QUANTITIES`] at a number of clients.
    async fn values(&self, size: u16, workload: Workload, interrupt: watch::Receiver<bool>) -> Result<Vec<f64>> {
        let ensemble = MeasuredEnsemble {
            servers: self.servers,
            clients: size.into(),
            hosts: self.hosts.clone(),
        };
        let measured = on_ensemble(ensemble, workload, interrupt, async |cluster| {
            ask(cluster, self.lasts).await
        });
        let OnEnsemble {
            value: asked,
            bring_up,
            removal,
        } = measured.await?;
        let seconds = |time: Duration| (time.as_secs_f64() * 10.0).round() / 10.0;
        Ok(vec![
            seconds(bring_up + asked.start),
            (asked.median_ms * 100.0).round() / 100.0,
            asked.events_per_second.round(),
            seconds(removal),
        ])
    }

    fn measurement(&self, series: Vec<Series>) -> Measurement {
        Measurement {
            name: "clients".into(),
            title: "What the harness costs, by the number of clients".into(),
            subtitle: self.subtitle(),
            words: vec![
                "Bring-up: from nothing to servers that serve and clients that have each answered once.".into(),
                "A round trip: a request that does nothing, and its answer, while every client has one in flight all the time; \
                 the median."
                    .into(),
                "Recorded events: request and answer are written to a history, as in a run.".into(),
                "Removal: of all that was made, with the lease.".into(),
            ],
            axis: "clients".into(),
            quantities: QUANTITIES.map(str::to_owned).to_vec(),
            series,
        }
    }
}

fn numbers(measurement: &Measurement, order: &ClientsOrder) -> Value {
    let points = measurement.series.iter().flat_map(|series| &series.points);
    let points: Vec<Value> = points.map(|point| point_fields(measurement, point, &FIELDS)).collect();
    json!({ "measurement": "clients", "servers": order.servers, "engines": order.hosts.len().max(1), "points": points })
}

/// What came of asking all clients again and again.
struct AskedClients {
    /// From asking for the first process to the first answer of the last.
    start: Duration,
    median_ms: f64,
    events_per_second: f64,
}

/// Starts a process on every host, and lets each have one request in flight for so long.
async fn ask(cluster: &DockerCluster, lasts: Duration) -> Result<AskedClients> {
    let (sender, mut outputs) = mpsc::unbounded_channel();
    let names = cluster.clients();
    let asked = Instant::now();
    let starts = names.iter().enumerate().map(|(client, name)| {
        let sender = sender.clone();
        let on_output = move |output| {
            // The receiver is gone once all is measured.
            let _ = sender.send((client, output));
        };
        cluster.start_client(name, 1, Box::new(on_output))
    });
    let ways: Vec<Stdin> = try_join_all(starts).await?;
    for way in &ways {
        way.request(ping(0))?;
    }
    let mut silent = names.len();
    while silent > 0 {
        silent -= usize::from(next_reply(&mut outputs).await?.1 == 0);
    }
    let start = asked.elapsed();
    let folder = tempfile::tempdir().context("making a temporary folder for a history")?;
    let events = Events::create(folder.path().join("history.jsonl"))?;
    let mut recorder = Recorder::begin(events, Arc::new(RealClock))?;
    let begun = Instant::now();
    let mut sent = vec![begun; names.len()];
    for way in &ways {
        recorder.record(HistoryEntry::named("run", PING, Value::Null))?;
        way.request(ping(1))?;
    }
    let mut trips = Vec::new();
    while begun.elapsed() < lasts {
        let (client, _) = next_reply(&mut outputs).await?;
        recorder.record(HistoryEntry::named("run", PING, json!({ "client": client })))?;
        trips.push(sent[client].elapsed().as_secs_f64() * 1e3);
        recorder.record(HistoryEntry::named("run", PING, Value::Null))?;
        sent[client] = Instant::now();
        ways[client].request(ping(trips.len() as u64 + 1))?;
    }
    let events_per_second = recorder.len() as f64 / begun.elapsed().as_secs_f64();
    Ok(AskedClients {
        start,
        median_ms: median(trips),
        events_per_second,
    })
}
