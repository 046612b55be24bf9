//! The steps of a scene on a real ensemble: each returns when its effect was seen, with a sentence that says what was.

use super::super::execute::Place;
use crate::backend::{Cluster, Directions, ServerState};
use anyhow::{Result, bail, ensure};
use futures_util::future::{join_all, try_join_all};
use std::collections::BTreeMap;
use std::time::Duration;
use zooquake_checkers::plan::{Act, Step};

/// How often servers are asked while something is waited for.
const POLL: Duration = Duration::from_millis(100);

/// Readings in a row that must agree before something counts as settled.
const SETTLED: usize = 4;

/// How long anything is waited for. Servers that were cut off try to connect less and less often.
const PATIENCE: Duration = Duration::from_secs(90);

const BOTH: Directions = Directions {
    inbound: true,
    outbound: true,
};

/// What was seen of a step.
#[derive(Debug)]
pub struct Seen {
    /// A sentence.
    pub detail: String,
    /// Each server's last zxid as it told it when the step was over; of those that serve.
    pub zxids: BTreeMap<String, String>,
    /// The server that leads; `None` unless the step was about that.
    pub leader: Option<String>,
}

/// Does a step, the `number`th of its scene.
///
/// # Errors
/// If its effect does not come about.
pub async fn take(place: &Place, number: usize, step: &Step) -> Result<Seen> {
    let cluster = &*place.cluster;
    let servers = step.servers.as_slice();
    let names = servers.join(", ");
    let mut leader = None;
    let detail = match step.act {
        Act::Start => {
            try_join_all(servers.iter().map(|server| cluster.start_server(server))).await?;
            format!("{names} started")
        }
        Act::Lead => {
            leader = Some(led(place, servers, servers.first()).await?);
            format!("all of {names} serve, and {} leads", servers[0])
        }
        Act::Elect => {
            let elected = led(place, servers, None).await?;
            let detail = format!("all of {names} serve, and {elected} leads");
            leader = Some(elected);
            detail
        }
        Act::Write => {
            let path = format!("/scene-{number}");
            let through = &servers[0];
            cluster.create(through, std::slice::from_ref(&path)).await?;
            format!("{path} was created through {through} and acknowledged")
        }
        Act::Level => {
            let zxid = level(place, servers).await?;
            format!("{names} have the same last zxid, {zxid:#x}")
        }
        Act::Kill => kill(cluster, servers).await?,
        Act::Cut => cut(cluster, servers).await?,
        Act::Heal => heal(cluster, servers).await?,
        Act::Lose => {
            lost(place, servers).await?;
            format!("none of {names} serves")
        }
    };
    let zxids = zxids(cluster).await;
    Ok(Seen { detail, zxids, leader })
}

fn sentences(said: Vec<String>, servers: &[String]) -> String {
    let each = servers
        .iter()
        .zip(said)
        .map(|(server, said)| format!("{server}: {said}"));
    each.collect::<Vec<_>>().join("; ")
}

async fn states(cluster: &dyn Cluster, servers: &[String]) -> Vec<Result<ServerState>> {
    join_all(servers.iter().map(|server| cluster.server_state(server))).await
}

async fn zxids(cluster: &dyn Cluster) -> BTreeMap<String, String> {
    let servers = cluster.servers();
    let states = states(cluster, &servers).await;
    let told = servers.into_iter().zip(states).filter_map(|(server, state)| {
        let zxid = state.ok()?.zxid;
        Some((server, format!("{zxid:#x}")))
    });
    told.collect()
}

/// Asks again and again until the answers give something `SETTLED` times in a row.
async fn settled<T: PartialEq>(
    place: &Place,
    servers: &[String],
    what: &str,
    see: impl Fn(&[Result<ServerState>]) -> Option<T>,
) -> Result<T> {
    let begun = place.clock.now();
    let mut before: Option<(T, usize)> = None;
    loop {
        let states = states(&*place.cluster, servers).await;
        before = match (see(&states), before) {
            (None, _) => None,
            (Some(now), Some((then, times))) if now == then => Some((now, times + 1)),
            (Some(now), _) => Some((now, 1)),
        };
        if let Some((seen, times)) = before.take() {
            if times >= SETTLED {
                return Ok(seen);
            }
            before = Some((seen, times));
        }
        if place.clock.now() - begun > PATIENCE {
            bail!(
                "{what} did not come about in {} s: {}",
                PATIENCE.as_secs(),
                told(servers, &states)
            );
        }
        place.clock.sleep(POLL).await;
    }
}

/// What each server said of itself, for messages.
fn told(servers: &[String], states: &[Result<ServerState>]) -> String {
    let each = servers.iter().zip(states).map(|(server, state)| match state {
        Ok(state) => format!("{server} is {}", state.mode),
        Err(error) => format!("{server}: {error:#}"),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Waits until all serve and one leads, which it names; another one than the one expected is an error.
async fn led(place: &Place, servers: &[String], expected: Option<&String>) -> Result<String> {
    let what = format!("a leader of {}", servers.join(", "));
    let leader = settled(place, servers, &what, |states| {
        let all = states.iter().all(Result::is_ok);
        let leads = |state: &Result<ServerState>| state.as_ref().is_ok_and(ServerState::leads);
        let mut leading = (0..servers.len()).filter(|n| leads(&states[*n]));
        let (first, second) = (leading.next(), leading.next());
        first.filter(|_| all && second.is_none())
    })
    .await?;
    let leader = servers[leader].clone();
    if let Some(expected) = expected {
        ensure!(leader == *expected, "{leader} leads instead of {expected}");
    }
    Ok(leader)
}

async fn level(place: &Place, servers: &[String]) -> Result<i64> {
    let what = format!("one last zxid of {}", servers.join(", "));
    settled(place, servers, &what, |states| {
        let zxids: Option<Vec<i64>> = states.iter().map(|state| Some(state.as_ref().ok()?.zxid)).collect();
        let zxids = zxids?;
        let first = *zxids.first()?;
        zxids.iter().all(|zxid| *zxid == first).then_some(first)
    })
    .await
}

async fn lost(place: &Place, servers: &[String]) -> Result<()> {
    let what = format!("the loss of the leader by {}", servers.join(", "));
    settled(place, servers, &what, |states| {
        states.iter().all(Result::is_err).then_some(())
    })
    .await
}

/// One after the other, so that the last one, if it leads, has not yet found that it lost its quorum when it dies: killed
/// the other way round, or all at once, a follower may live long enough to vote.
async fn kill(cluster: &dyn Cluster, servers: &[String]) -> Result<String> {
    let mut said = Vec::new();
    for server in servers {
        said.push(cluster.kill(server).await?);
    }
    Ok(sentences(said, servers))
}

fn others(cluster: &dyn Cluster, server: &str) -> Vec<String> {
    let mut others = cluster.servers();
    others.retain(|other| other != server);
    others
}

async fn cut(cluster: &dyn Cluster, servers: &[String]) -> Result<String> {
    let each = servers.iter().map(|server| async move {
        let peers = others(cluster, server);
        cluster.cut(server, &peers, BOTH).await
    });
    Ok(sentences(try_join_all(each).await?, servers))
}

async fn heal(cluster: &dyn Cluster, servers: &[String]) -> Result<String> {
    let each = servers.iter().map(|server| async move {
        let peers = others(cluster, server);
        cluster.heal(server, &peers).await
    });
    Ok(sentences(try_join_all(each).await?, servers))
}
