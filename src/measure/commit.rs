//! What one two-phase commit costs.

use super::chart::{Chart, ChartOrder, chart};
use super::chart_record::{MeasurementHeader, places};
use super::cost::{Cost, QUANTITIES};
use super::crowd::Crowd;
use crate::planning::names::unknown;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use zooquake_backend::docker::DockerCluster;
use zooquake_history::Node;
use zooquake_history::operation::commit::f;
use zooquake_history::plan::Workload;
use zooquake_reports::measurement::{Measurement, Series};
use zooquake_workloads::recipes::registry;

/// What is measured of two-phase commits.
#[derive(Debug)]
pub struct CommitOrder {
    /// Names of the variants.
    pub variants: Vec<String>,
    /// Numbers of sites.
    pub sites: Vec<u16>,
    /// Transactions at each number.
    pub transactions: u16,
    /// How much longer each site works before it votes than the one before it, in milliseconds.
    pub stagger_ms: u64,
    /// Servers of the ensemble.
    pub servers: usize,
}

impl CommitOrder {
    /// Refuses variants that are no two-phase commit.
    ///
    /// # Errors
    /// The first of them, and what there is.
    pub fn check(&self) -> Result<(), String> {
        let commits = registry().iter().filter(|variant| variant.family == "commit");
        let known: Vec<String> = commits.map(|variant| variant.workload().name()).collect();
        match self.variants.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(unknown("two-phase commit", name, &known)),
            None => Ok(()),
        }
    }

    /// Commits transactions one after the other, among ever more sites.
    ///
    /// # Errors
    /// As [`chart()`].
    pub async fn measure(&self, workload: Workload, out: &Path, interrupt: watch::Receiver<bool>) -> Result<Chart> {
        let header = MeasurementHeader {
            measurement: "commit".into(),
            options: format!("--servers {} --stagger {}", self.servers, self.stagger_ms),
            words: format!("{{}} sites, {} transactions", self.transactions),
        };
        let order = ChartOrder {
            header,
            places: places(&self.variants, &self.sites),
            samples: self.transactions,
            servers: self.servers,
            workload,
            set_up: ["/zooquake", "/zooquake/scratch"].map(String::from).into(),
            out,
            interrupt,
        };
        chart(
            order,
            async |cluster, place| transactions(cluster, &place.variant, place.size, self).await,
            |series| measurement(series, self),
        )
        .await
    }
}

/// What each of that many transactions among that many sites costs.
async fn transactions(cluster: &DockerCluster, name: &str, sites: u16, order: &CommitOrder) -> Result<Vec<Cost>> {
    let mut crowd = Crowd::start(cluster, name, usize::from(sites) + 1).await?;
    // Names that no other crowd on this ensemble has used.
    let tx = |number: u16| format!("{}-{sites}-{number}", name.replace('/', "-"));
    // The first one makes what all share, and is not counted.
    transaction(&mut crowd, &tx(0), order.stagger_ms).await?;
    let mut before = crowd.settle().await?;
    let mut costs = Vec::new();
    for number in 1..=order.transactions {
        let took = transaction(&mut crowd, &tx(number), order.stagger_ms).await?;
        let after = crowd.settle().await?;
        let counts = after - before;
        costs.push(Cost { counts, took });
        before = after;
    }
    Ok(costs)
}

/// What follows the answer to a request.
enum FollowUp {
    /// The coordinator is asked to decide.
    Decide,
    /// This site is asked what was decided.
    Decided(Node),
    /// A decision is known: the coordinator's, or a site's.
    Known { site: bool },
}

/// Commits one transaction that every site votes yes on. Answers the time from the sending of `begin` until all sites
/// have decided, less the work of the site that works longest.
async fn transaction(crowd: &mut Crowd, tx: &str, stagger: u64) -> Result<Duration> {
    let clients = crowd.clients().to_vec();
    let (coordinator, sites) = clients.split_first().context("a coordinator")?;
    let whole = json!({ "tx": tx, "sites": sites, "payload": null });
    let sent = Instant::now();
    let mut open = BTreeMap::new();
    open.insert(crowd.ask(coordinator, f::BEGIN, whole.clone())?, FollowUp::Decide);
    let mut work_ms = 0;
    for site in sites {
        work_ms += stagger;
        let vote = json!({ "tx": tx, "vote": "yes", "work_ms": work_ms });
        open.insert(crowd.ask(site, f::VOTE, vote)?, FollowUp::Decided(site.clone()));
    }
    let mut took = Duration::ZERO;
    while !open.is_empty() {
        let (id, reply) = crowd.first(&open.keys().copied().collect::<Vec<_>>()).await?;
        match open.remove(&id).context("what was asked")? {
            FollowUp::Decide => {
                let id = crowd.ask(coordinator, f::DECIDE, whole.clone())?;
                open.insert(id, FollowUp::Known { site: false });
            }
            FollowUp::Decided(site) => {
                let id = crowd.ask(&site, f::DECIDED, json!({ "tx": tx }))?;
                open.insert(id, FollowUp::Known { site: true });
            }
            FollowUp::Known { site } => {
                ensure!(
                    reply.value["decision"] == "commit",
                    "{tx} was not committed: {}",
                    reply.value
                );
                if site {
                    took = took.max(reply.at.saturating_duration_since(sent));
                }
            }
        }
    }
    Ok(took.saturating_sub(Duration::from_millis(work_ms)))
}

fn measurement(series: Vec<Series>, order: &CommitOrder) -> Measurement {
    Measurement {
        name: "commit".into(),
        title: "What one two-phase commit costs".into(),
        subtitle: format!(
            "median of {} transactions each, votes {} ms apart, no faults, {} servers; all parties are sessions of one process",
            order.transactions, order.stagger_ms, order.servers
        ),
        words: vec![
            "Every site votes yes, each after a little more work than the one before it, so that votes come one by \
             one. Begin and all votes are asked for at once, decide after begin, decided after the site's vote. The \
             counts cover all requests of coordinator and sites to ZooKeeper and all events of their watches, until \
             nothing goes on any more."
                .into(),
            "Reads are get, exists and children; writes are create, delete, set and multi, which is one. Requests count when they \
             are sent, also those that are refused. The milliseconds are those from the sending of begin until the last site's \
             decided was read, less the work of the slowest site; the syncing of each site's log is in them."
                .into(),
        ],
        axis: "sites".into(),
        quantities: QUANTITIES.map(String::from).to_vec(),
        series,
    }
}
