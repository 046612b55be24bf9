//! A follower that falls behind its leader and goes on serving; now and then a client loses a reply and comes to it meanwhile.

use super::drop_reply::unless_over;
use super::strike::{Seen, Strike, leader};
use super::{Fault, Topology, WindowDraft, any_client};
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::join_all;
use serde_json::json;
use std::time::Duration;
use zooquake_backend::sidecar::Brought;
use zooquake_backend::{Behind, Cluster};
use zooquake_history::fault::{self, Lag, Loss, Payload, Which, Wire, WireOp};
use zooquake_history::operation;
use zooquake_history::plan::{Target, Window};

/// The least delay, in hundredths of syncLimit x tickTime.
const LEAST: u64 = 30;

/// The most.
const MOST: u64 = 70;

/// What a follower may miss beside the delay until its leader is lost to it, in hundredths of syncLimit x tickTime.
const MARGIN: u64 = 10;

/// How long the proxy waits for a request whose reply is to be lost.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long after the end of its window a delay ends by itself.
const ENDS_AFTER: Duration = Duration::from_secs(60);

/// How long it lasts once it was seen, in milliseconds.
const LASTS: std::ops::Range<u64> = 600..2_000;

/// Lag.
pub const FAULT: Fault = Fault {
    kind: &fault::LAG,
    draw: |rng, topology, round| {
        let delay_percent = rng.u64(LEAST..=most(topology));
        // The first one brings a client there, the second one none.
        let brings = if round < 2 { round == 0 } else { rng.u32(0..3) > 0 };
        let lag = Lag {
            delay_percent,
            // A client that uses one server only goes nowhere else.
            loss: (brings && !topology.workload.pinned).then(|| loss(rng, topology)),
        };
        WindowDraft {
            target: Target::Follower,
            payload: Some(Payload::Lag(lag)),
            state: None,
            duration_ms: rng.u64(LASTS),
        }
    },
    longest_ms: |_| LASTS.end,
    strike: |strike, victim| Box::pin(fall_behind(strike, victim)),
    heal: |strike, victim| Box::pin(catch_up(strike, victim)),
};

/// The most that a follower may be behind: leader and follower hear of each other twice a tick, and part when one of them has heard
/// nothing for syncLimit ticks.
fn most(topology: &Topology) -> u64 {
    let heartbeat = 50 / topology.timing.sync_limit.max(1);
    MOST.min(100 - MARGIN - heartbeat)
}

fn loss(rng: &mut fastrand::Rng, topology: &Topology) -> Loss {
    let grants = operation::family(&topology.workload.family).is_some_and(|family| family.grants);
    let op = match (grants, rng.u32(0..4)) {
        (true, 0..2) => WireOp::Create,
        (true, 2) => WireOp::Removal,
        // What the other families write has no such common names.
        _ => WireOp::AnyWrite,
    };
    let Target::Node(client) = any_client(rng, topology) else {
        unreachable!("a client has a name");
    };
    Loss { client, op }
}

fn lag<'a>(strike: &'a Strike<'_>) -> Result<(&'a Lag, Behind)> {
    let Some(Payload::Lag(lag)) = &strike.window.payload else {
        bail!("the plan does not say by how much the follower is behind");
    };
    let delay_percent = lag.delay_percent;
    ensure!(
        (1..100).contains(&delay_percent),
        "a delay of {delay_percent} % of syncLimit x tickTime: it is more than 0, and at 100 a leader lets go of its follower"
    );
    let at_most = Duration::from_millis(strike.window.duration_ms).saturating_add(PATIENCE + ENDS_AFTER);
    Ok((lag, Behind { delay_percent, at_most }))
}

async fn fall_behind(strike: &Strike<'_>, victim: &str) -> Result<Seen> {
    let (lag, behind) = lag(strike)?;
    let mut seen = Seen::from(strike.cluster.lag(victim, behind).await?);
    if let Some(loss) = &lag.loss {
        match brought(strike, loss, victim).await {
            Ok(Some(brought)) => {
                seen.detail += &sentence(&brought, &loss.client, victim);
                seen.evidence = Some(json!(brought.dropped));
            }
            Ok(None) => seen.detail += &format!("; {} wrote nothing meanwhile whose reply could be lost", loss.client),
            // The follower is behind all the same.
            Err(error) => seen.detail += &format!("; {} was not brought there: {error:#}", loss.client),
        }
    }
    Ok(seen)
}

async fn brought(strike: &Strike<'_>, loss: &Loss, victim: &str) -> Result<Option<Brought>> {
    let wire = Wire::DropReply(Which { op: loss.op, nth: 1 });
    let bringing = strike.cluster.bring(&loss.client, victim, wire, PATIENCE);
    unless_over(strike, &loss.client, bringing).await
}

fn sentence(brought: &Brought, client: &str, server: &str) -> String {
    let lost = super::drop_reply::sentence(&brought.dropped);
    match brought.came_after_ms {
        Some(ms) => format!("; {lost}: {client} was back {ms} ms later, on {server}"),
        None => format!("; {lost}: {client} did not come to {server} in time"),
    }
}

async fn catch_up(strike: &Strike<'_>, victim: &str) -> Result<Seen> {
    let (lag, behind) = lag(strike)?;
    let mut seen = Seen::from(strike.cluster.catch_up(victim, behind).await?);
    if let Some(loss) = &lag.loss {
        seen.detail += &format!("; {}", strike.cluster.reconnect(&loss.client).await?);
    }
    Ok(seen)
}

/// The server that a window makes fall behind: of those that follow or observe, and without which a majority commits, the one that
/// serves most clients. A client that is to come to it is on another one.
///
/// # Errors
/// If no server leads, or none follows.
pub async fn follower(cluster: &dyn Cluster, window: &Window) -> Result<String> {
    let leader = leader(cluster).await.context("no server led")?;
    let (servers, voters) = (cluster.servers(), cluster.voters());
    let serving = join_all(servers.iter().map(|server| cluster.server_state(server))).await;
    let serving = servers.into_iter().zip(serving).filter(|(_, state)| state.is_ok());
    // Two voters commit nothing that one of them has not taken.
    let dispensable = |server: &String| voters.len() > 2 || !voters.contains(server);
    let mut followers: Vec<String> = serving.map(|(server, _)| server).collect();
    followers.retain(|server| *server != leader && dispensable(server));
    let comes = match &window.payload {
        Some(Payload::Lag(Lag { loss: Some(loss), .. })) => cluster.server_of(&loss.client).await?,
        _ => None,
    };
    if followers.len() > 1 {
        followers.retain(|server| Some(server) != comes.as_ref());
    }
    let clients = cluster.clients();
    let served = join_all(clients.iter().map(|client| cluster.server_of(client))).await;
    // A client whose process does not run is on none.
    let served: Vec<String> = served.into_iter().flatten().flatten().collect();
    let count = |server: &String| served.iter().filter(|other| *other == server).count();
    // The first of several.
    followers.reverse();
    let follower = followers.into_iter().max_by_key(count);
    follower.context("no server followed that can fall behind")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::{Cluster, Timing, Workload};
    use zooquake_workloads::recipes;

    fn drawn(workload: &Workload, sync_limit: u64) -> Vec<Lag> {
        let timing = Timing {
            sync_limit,
            ..Timing::default()
        };
        let cluster = Cluster {
            clients: 5,
            timing,
            ..Cluster::default()
        };
        let topology = Topology::new(workload, &cluster);
        let mut rng = fastrand::Rng::with_seed(1);
        let lag = |round| match FAULT.draw(&mut rng, &topology, round, round + 1, 2_000) {
            Window {
                target: Target::Follower,
                payload: Some(Payload::Lag(lag)),
                ..
            } => lag,
            other => panic!("{other:?}"),
        };
        (0..60).map(lag).collect()
    }

    #[test]
    fn a_follower_is_behind_by_less_than_its_leader_lets_it_be() {
        let lock = recipes::workload("lock", "fenced").expect("a variant");
        for (sync_limit, most) in [(1, 40), (2, 65), (4, 70), (10, 70)] {
            let all = drawn(&lock, sync_limit).into_iter().map(|lag| lag.delay_percent);
            let (least, highest) = all.fold((100, 0), |(low, high), at| (low.min(at), high.max(at)));
            assert!(least >= LEAST && least < LEAST + 5, "{sync_limit}: {least}");
            assert!(highest <= most && highest > most - 5, "{sync_limit}: {highest}");
        }
    }

    #[test]
    fn clients_come_to_it_in_the_first_window_and_in_most_and_none_where_each_has_its_server() {
        let lock = recipes::workload("lock", "fenced").expect("a variant");
        let brought: Vec<bool> = drawn(&lock, 4).iter().map(|lag| lag.loss.is_some()).collect();
        assert_eq!(brought[..2], [true, false]);
        assert!((25..55).contains(&brought.iter().filter(|brought| **brought).count()));
        let register = recipes::workload("register", "read").expect("a variant");
        assert!(drawn(&register, 4).iter().all(|lag| lag.loss.is_none()));
    }
}
