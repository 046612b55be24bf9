//! Whether the ensemble is steady: one leader, serving without change, under which a silent session expires.

use anyhow::{Context, Result, bail};
use futures_util::future::join_all;
use std::time::Duration;
use zooquake_backend::{Clock, Cluster};
use zooquake_engine::Leader;

/// Longest wait for a steady leader, beside the time for which it must be steady.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a server may leave the question for its state unanswered before it counts as not serving.
const ANSWERS: Duration = Duration::from_secs(3);

/// Waits for one leader that serves without change for `sync_ms`, then for a silent session of `session_ms` to expire
/// under that same leader. Returns it.
///
/// # Errors
/// Why it did not come to that.
pub async fn steady_and_silent(
    (cluster, clock): (&dyn Cluster, &dyn Clock),
    sync_ms: u64,
    session_ms: u64,
) -> Result<Leader> {
    let leader = steady(cluster, clock, Duration::from_millis(sync_ms)).await?;
    cluster.canary(&leader.name, session_ms).await?;
    let after = whole_ensemble(cluster).await.context("after the canary session")?;
    same(&leader, after)?;
    Ok(leader)
}

/// Sees all servers serve and the same one lead as before.
///
/// # Errors
/// If another server leads, or the same one in another epoch, or a server does not serve.
pub async fn still_leads(cluster: &dyn Cluster, clock: &dyn Clock, leader: &Leader) -> Result<()> {
    let begun = clock.now();
    loop {
        match whole_ensemble(cluster).await {
            Ok(now) => return same(leader, now),
            Err(error) if clock.now() - begun >= ANSWERS => return Err(error),
            Err(_) => clock.sleep(Duration::from_millis(100)).await,
        }
    }
}

fn same(before: &Leader, now: Leader) -> Result<()> {
    if now != *before {
        bail!(
            "the leader changed from {} (epoch {}) to {} (epoch {})",
            before.name,
            before.epoch,
            now.name,
            now.epoch
        );
    }
    Ok(())
}

/// The leader, if all servers serve and exactly one leads.
async fn whole_ensemble(cluster: &dyn Cluster) -> Result<Leader> {
    let servers = cluster.servers();
    let states = join_all(servers.iter().map(|server| cluster.server_state(server))).await;
    let mut leader = None;
    for (name, state) in servers.into_iter().zip(states) {
        let state = state.with_context(|| format!("{name} does not serve"))?;
        let epoch = state.epoch();
        if state.leads() && leader.replace(Leader { name, epoch }).is_some() {
            bail!("two servers report that they lead");
        }
    }
    leader.context("no server leads")
}

async fn steady(cluster: &dyn Cluster, clock: &dyn Clock, lasting: Duration) -> Result<Leader> {
    let begun = clock.now();
    let mut steady: Option<(Leader, Duration)> = None;
    loop {
        let now = whole_ensemble(cluster).await;
        match (&now, &steady) {
            (Ok(leader), Some((before, since))) if leader == before => {
                if clock.now() - *since >= lasting {
                    return now;
                }
            }
            (Ok(leader), _) => steady = Some((leader.clone(), clock.now())),
            (Err(_), _) => steady = None,
        }
        if clock.now() - begun > PATIENCE + lasting {
            let state = now.map_or_else(|error| format!("{error:#}"), |leader| format!("{} leads", leader.name));
            bail!(
                "the ensemble was not steady for {} ms within {} s: {state}",
                lasting.as_millis(),
                PATIENCE.as_secs()
            );
        }
        clock.sleep(Duration::from_millis(50)).await;
    }
}
