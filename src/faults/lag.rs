//! A follower that falls behind its leader and goes on serving.

use super::strike::{Strike, leader};
use super::{Fault, Topology, Victims, WindowDraft};
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::join_all;
use std::time::Duration;
use zooquake_backend::{Cluster, LeaderDelay};
use zooquake_history::Node;
use zooquake_history::fault::{self, Lag, Payload};
use zooquake_history::plan::{Plan, Target};

/// The least delay, in hundredths of syncLimit x tickTime.
const LEAST: u64 = 30;

/// The largest delay, in hundredths of syncLimit x tickTime.
const MOST: u64 = 70;

/// What a follower may miss beside the delay until its leader is lost to it, in hundredths of syncLimit x tickTime.
const MARGIN: u64 = 10;

/// How long after the end of its window a delay ends by itself.
const ENDS_AFTER: Duration = Duration::from_secs(60);

/// How long it lasts once it was seen, in milliseconds.
const LASTS: std::ops::Range<u64> = 1_000..3_000;

/// A server that falls behind must not be needed for a majority, or nothing is committed without it.
fn no_server_to_lag(Plan { cluster, .. }: &Plan) -> Option<String> {
    let none = cluster.servers < 3 && cluster.observers == 0;
    none.then(|| {
        format!(
            "no server can fall behind of {}: lag needs three that vote, or one that observes",
            cluster.servers
        )
    })
}

/// Lag.
pub const FAULT: Fault = Fault {
    kind: &fault::LAG,
    draw: |rng, topology, _| WindowDraft {
        target: Target::Follower,
        payload: Some(Payload::Lag(Lag {
            delay_percent: rng.u64(LEAST..=most(topology)),
        })),
        state: None,
        duration_ms: rng.u64(LASTS),
    },
    victims: Victims::Follower,
    payload: |payload| match payload {
        Some(Payload::Lag(Lag { delay_percent: 1..100 })) => Ok(payload),
        _ => Err("has a `lag` of 1 to 99 % of syncLimit x tickTime, such as { delay_percent = 50 }".into()),
    },
    longest_ms: |_| LASTS.end,
    shortfall: no_server_to_lag,
    strike: |strike, victim| Box::pin(async move { Ok(strike.cluster.lag(victim, behind(strike)?).await?.into()) }),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.catch_up(victim, behind(strike)?).await?.into()) }),
};

/// The most that a follower may be behind: leader and follower hear of each other twice a tick, and part when one of
/// them has heard nothing for syncLimit ticks.
fn most(topology: &Topology) -> u64 {
    let heartbeat = 50 / topology.timing.sync_limit.max(1);
    MOST.min(100 - MARGIN - heartbeat)
}

fn behind(strike: &Strike<'_>) -> Result<LeaderDelay> {
    let Some(Payload::Lag(Lag { delay_percent })) = strike.window.payload else {
        bail!("the plan does not state by how much the follower is behind");
    };
    ensure!(
        (1..100).contains(&delay_percent),
        "a delay of {delay_percent} % of syncLimit x tickTime: it is more than 0, and at 100 a leader lets go of its follower"
    );
    let at_most = Duration::from_millis(strike.window.duration_ms).saturating_add(ENDS_AFTER);
    Ok(LeaderDelay { delay_percent, at_most })
}

/// The server that a window makes fall behind: of those that follow or observe, and without which a majority commits,
/// the one that serves most clients; of several the first one.
///
/// # Errors
/// If no server leads, or none follows.
pub async fn follower(cluster: &dyn Cluster) -> Result<Node> {
    let leader = leader(cluster).await.context("no server led")?;
    let (servers, voters) = (cluster.servers(), cluster.voters());
    let serving = join_all(servers.iter().map(|server| cluster.server_state(server))).await;
    let serving = servers.into_iter().zip(serving).filter(|(_, state)| state.is_ok());
    // Two voters commit nothing that one of them has not taken.
    let dispensable = |server: &Node| voters.len() > 2 || !voters.contains(server);
    let mut followers: Vec<Node> = serving.map(|(server, _)| server).collect();
    followers.retain(|server| *server != leader && dispensable(server));
    let served = join_all(cluster.clients().iter().map(|client| cluster.server_of(client))).await;
    // A client whose process does not run is on none.
    let served: Vec<Node> = served.into_iter().flatten().flatten().collect();
    let count = |server: &Node| served.iter().filter(|other| *other == server).count();
    // Of equal ones this takes the last.
    let follower = followers.into_iter().rev().max_by_key(count);
    follower.context("no server followed that can fall behind")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::{ClusterPlan, Timing, Window, Workload};

    fn drawn(sync_limit: u64) -> Vec<u64> {
        let timing = Timing {
            sync_limit,
            ..Timing::default()
        };
        let cluster = ClusterPlan {
            clients: 5,
            timing,
            ..ClusterPlan::default()
        };
        let topology = Topology::new(&Workload::default(), &cluster);
        let mut rng = fastrand::Rng::with_seed(1);
        let percent = |round| match FAULT.draw(&mut rng, &topology, round, round + 1, 2_000) {
            Window {
                target: Target::Follower,
                payload: Some(Payload::Lag(lag)),
                ..
            } => lag.delay_percent,
            other => panic!("{other:?}"),
        };
        (0..60).map(percent).collect()
    }

    #[test]
    fn a_follower_is_behind_by_less_than_its_leader_lets_it_be() {
        for (sync_limit, most) in [(1, 40), (2, 65), (4, 70), (10, 70)] {
            let all = drawn(sync_limit).into_iter();
            let (least, highest) = all.fold((100, 0), |(low, high), at| (low.min(at), high.max(at)));
            assert!((LEAST..LEAST + 5).contains(&least), "{sync_limit}: {least}");
            assert!(highest <= most && highest > most - 5, "{sync_limit}: {highest}");
        }
    }
}
