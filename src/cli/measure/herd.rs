//! `zooquake measure herd`: what one change of leader costs.

use super::args::HerdOptions;
use super::crowd::Crowd;
use super::outcome::{Cost, QUANTITIES};
use super::points::{Header, chart, places};
use crate::cli::exit::{Code, Usage};
use crate::planning::names::unknown;
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Instant;
use zooquake_backend::docker::DockerCluster;
use zooquake_reports::measurement::{Measurement, Series};
use zooquake_workloads::recipes::{Variant, registry};

/// How a family asks to lead, and how it gives up.
type Words = [&'static str; 2];

fn words(family: &str) -> Option<Words> {
    match family {
        "election" => Some(["elect", "resign"]),
        "lock" => Some(["acquire", "release"]),
        _ => None,
    }
}

/// Lets leaders resign one after the other, among ever more candidates.
///
/// # Errors
/// [`Usage`] for what is no election or lock; otherwise the harness failed.
pub async fn herd(options: HerdOptions) -> Result<Code> {
    let variants: Vec<(&Variant, Words)> = options
        .variants
        .iter()
        .map(|name| variant(name))
        .collect::<Result<_>>()?;
    let header = Header {
        measurement: "herd".into(),
        options: format!("--servers {}", options.common.servers),
        words: format!("{{}} candidates, {} changes of leader", options.changes),
    };
    chart(
        (&options.common, options.changes),
        header,
        (&places(&options.variants, &options.candidates), &parents(&variants)),
        async |cluster, place| {
            let found = options
                .variants
                .iter()
                .zip(&variants)
                .find(|(name, _)| **name == place.variant);
            let (_, (_, words)) = found.context("a variant that was asked for")?;
            changes(cluster, &place.variant, *words, place.size, options.changes).await
        },
        |series| measurement(series, &options),
    )
    .await?;
    Ok(Code::Valid)
}

/// The variant of this name, if it has something that can change hands.
fn variant(name: &str) -> Result<(&'static Variant, Words)> {
    let fits = |variant: &&'static Variant| words(variant.family).is_some();
    let found = registry()
        .iter()
        .filter(fits)
        .find(|variant| variant.workload().name() == name);
    let found = found.and_then(|variant| Some((variant, words(variant.family)?)));
    let known = || {
        registry()
            .iter()
            .filter(fits)
            .map(|variant| variant.workload().name())
            .collect::<Vec<_>>()
    };
    found.ok_or_else(|| Usage(unknown("election or lock", name, &known())).into())
}

fn parents(variants: &[(&Variant, Words)]) -> Vec<String> {
    let own = ["/zooquake", "/zooquake/scratch", "/resource"].into_iter();
    let contenders = variants
        .iter()
        .flat_map(|(variant, _)| variant.contenders.iter().copied());
    own.chain(contenders).map(String::from).collect()
}

/// What each of that many changes of leader among that many candidates costs.
async fn changes(cluster: &DockerCluster, name: &str, words: Words, size: u16, changes: u16) -> Result<Vec<Cost>> {
    let mut race = Race {
        crowd: Crowd::start(cluster, name, size.into()).await?,
        words,
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
type Leader = (String, String);

/// Candidates, and who of them waits.
struct Race {
    crowd: Crowd,
    words: Words,
    /// By the number of the request.
    waiting: BTreeMap<u64, Leader>,
    last_grant: u64,
}

impl Race {
    fn stand(&mut self, client: &str) -> Result<()> {
        self.last_grant += 1;
        let grant = format!("g{}", self.last_grant);
        let id = self.crowd.ask(client, self.words[0], json!({ "grant": grant }))?;
        self.waiting.insert(id, (client.to_string(), grant));
        Ok(())
    }

    /// Waits until somebody is elected.
    async fn elected(&mut self) -> Result<(Leader, Instant)> {
        let ids: Vec<u64> = self.waiting.keys().copied().collect();
        let (id, reply) = self.crowd.first(&ids).await?;
        let leader = self.waiting.remove(&id).context("somebody who waits")?;
        Ok((leader, reply.at))
    }

    async fn resign(&mut self, (client, grant): &Leader) -> Result<()> {
        let id = self.crowd.ask(client, self.words[1], json!({ "grant": grant }))?;
        self.crowd.reply(id).await?;
        Ok(())
    }
}

fn measurement(series: Vec<Series>, options: &HerdOptions) -> Measurement {
    Measurement {
        name: "herd".into(),
        title: "What one change of leader costs".into(),
        subtitle: format!(
            "median of {} changes each, no faults, {} servers; all candidates are sessions of one process",
            options.changes, options.common.servers
        ),
        words: vec![
            "The leader resigns, the next one is elected. Counted is all that the candidates ask of ZooKeeper and hear from \
             their watches from the sending of the resignation until nothing goes on any more, before the old leader stands \
             again."
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
