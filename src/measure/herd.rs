//! What one change of leader costs.

use super::chart::{Chart, ChartOrder, chart};
use super::chart_record::{MeasurementHeader, places};
use super::cost::{Cost, QUANTITIES};
use super::crowd::Crowd;
use crate::planning::names::unknown;
use anyhow::{Context, Error, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tokio::sync::watch;
use zooquake_backend::docker::DockerCluster;
use zooquake_history::Node;
use zooquake_history::operation::{Family, GrantOps, election, lock};
use zooquake_history::plan::Workload;
use zooquake_reports::measurement::{Measurement, Series};
use zooquake_workloads::recipes::{Variant, registry};

/// The operations of a family whose holder leads; `None` of the others.
fn leading_ops(family: &str) -> Option<GrantOps> {
    let leading = [&election::FAMILY, &lock::FAMILY].into_iter();
    let mut named = leading.filter(|leading| leading.name == family);
    named.next().map(Family::grant_ops)
}

/// What is measured of changes of leader.
#[derive(Debug)]
pub struct HerdOrder {
    /// Names of elections or locks.
    pub variants: Vec<String>,
    /// Numbers of candidates, each a session of its own.
    pub candidates: Vec<u16>,
    /// Changes of leader at each number.
    pub changes: u16,
    /// Servers of the ensemble.
    pub servers: usize,
}

impl HerdOrder {
    /// Refuses variants that are no election or lock.
    ///
    /// # Errors
    /// The first of them, and what there is.
    pub fn check(&self) -> Result<(), String> {
        self.variants.iter().try_for_each(|name| variant(name).map(drop))
    }

    /// Lets leaders resign one after the other, among ever more candidates.
    ///
    /// # Errors
    /// If a variant is no election or lock; otherwise as [`chart()`].
    pub async fn measure(&self, workload: Workload, out: &Path, interrupt: watch::Receiver<bool>) -> Result<Chart> {
        let found = self.variants.iter().map(|name| variant(name));
        let variants: Vec<(&Variant, GrantOps)> = found.collect::<Result<_, _>>().map_err(Error::msg)?;
        let header = MeasurementHeader {
            measurement: "herd".into(),
            options: format!("--servers {}", self.servers),
            words: format!("{{}} candidates, {} changes of leader", self.changes),
        };
        let order = ChartOrder {
            header,
            places: places(&self.variants, &self.candidates),
            samples: self.changes,
            servers: self.servers,
            workload,
            set_up: parents(&variants),
            out,
            interrupt,
        };
        chart(
            order,
            async |cluster, place| {
                let named = self.variants.iter().zip(&variants);
                let found = named.into_iter().find(|(name, _)| **name == place.variant);
                let (_, (_, ops)) = found.context("a variant that was asked for")?;
                changes(cluster, &place.variant, *ops, place.size, self.changes).await
            },
            |series| measurement(series, self),
        )
        .await
    }
}

/// The variant of this name, if it has something that can change hands.
fn variant(name: &str) -> Result<(&'static Variant, GrantOps), String> {
    let fits = |variant: &&'static Variant| leading_ops(variant.family).is_some();
    let found = registry()
        .iter()
        .filter(fits)
        .find(|variant| variant.workload().name() == name)
        .and_then(|variant| Some((variant, leading_ops(variant.family)?)));
    let known = || {
        registry()
            .iter()
            .filter(fits)
            .map(|variant| variant.workload().name())
            .collect::<Vec<_>>()
    };
    found.ok_or_else(|| unknown("election or lock", name, &known()))
}

fn parents(variants: &[(&Variant, GrantOps)]) -> Vec<String> {
    let own = ["/zooquake", "/zooquake/scratch", "/resource"].into_iter();
    let contenders = variants
        .iter()
        .flat_map(|(variant, _)| variant.contenders.iter().copied());
    own.chain(contenders).map(String::from).collect()
}

/// What each of that many changes of leader among that many candidates costs.
async fn changes(cluster: &DockerCluster, name: &str, ops: GrantOps, size: u16, changes: u16) -> Result<Vec<Cost>> {
    let mut race = HerdRace {
        crowd: Crowd::start(cluster, name, size.into()).await?,
        ops,
        waiting: BTreeMap::new(),
        last_grant: 0,
    };
    let clients = race.crowd.clients().to_vec();
    for client in &clients {
        race.stand(client)?;
    }
    let (mut leader, _) = race.elected().await?;
    let mut before = race.crowd.settle().await?;
    let mut costs = Vec::new();
    for _ in 0..changes {
        let sent = Instant::now();
        race.resign(&leader).await?;
        let (next, at) = race.elected().await?;
        let counts = race.crowd.settle().await? - before;
        let took = at.saturating_duration_since(sent);
        costs.push(Cost { counts, took });
        // That one candidate more joins is no part of the change.
        race.stand(&leader.0)?;
        before = race.crowd.settle().await?;
        leader = next;
    }
    // Nothing that a later crowd could wait behind may stay.
    while !race.waiting.is_empty() {
        race.resign(&leader).await?;
        leader = race.elected().await?.0;
    }
    race.resign(&leader).await?;
    Ok(costs)
}

/// The client that leads, and the name of its term.
type Leader = (Node, String);

/// Candidates, and who of them waits.
struct HerdRace {
    crowd: Crowd,
    ops: GrantOps,
    /// By the number of the request.
    waiting: BTreeMap<u64, Leader>,
    last_grant: u64,
}

impl HerdRace {
    fn stand(&mut self, client: &Node) -> Result<()> {
        self.last_grant += 1;
        let grant = format!("g{}", self.last_grant);
        let id = self.crowd.ask(client, self.ops.takes, json!({ "grant": grant }))?;
        self.waiting.insert(id, (client.clone(), grant));
        Ok(())
    }

    /// Waits until somebody is elected.
    async fn elected(&mut self) -> Result<(Leader, Instant)> {
        let ids: Vec<u64> = self.waiting.keys().copied().collect();
        let (id, reply) = self.crowd.first(&ids).await?;
        Ok((self.waiting.remove(&id).context("somebody who waits")?, reply.at))
    }

    async fn resign(&mut self, (client, grant): &Leader) -> Result<()> {
        let id = self.crowd.ask(client, self.ops.gives, json!({ "grant": grant }))?;
        self.crowd.reply(id).await?;
        Ok(())
    }
}

fn measurement(series: Vec<Series>, order: &HerdOrder) -> Measurement {
    Measurement {
        name: "herd".into(),
        title: "What one change of leader costs".into(),
        subtitle: format!(
            "median of {} changes each, no faults, {} servers; all candidates are sessions of one process",
            order.changes, order.servers
        ),
        words: vec![
            "The leader resigns, the next one is elected. The counts cover all requests of the candidates to ZooKeeper \
             and all events of their watches, from the sending of the resignation until nothing goes on any more, \
             before the old leader stands again."
                .into(),
            "Reads are get, exists and children; writes are create, delete, set and multi. Requests count when they are sent, \
             also those that are refused. The milliseconds are those from the sending of the resignation to the reading of \
             the next leader's answer."
                .into(),
        ],
        axis: "candidates".into(),
        quantities: QUANTITIES.map(String::from).to_vec(),
        series,
    }
}
