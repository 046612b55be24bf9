//! The engine's questions about the cluster, answered; among them whether the ensemble is steady: one leader, serving
//! without change, under which a silent session expires.

use super::cluster::RunCluster;
use anyhow::{Context, Result, bail};
use futures_util::future::{self, join_all};
use std::time::Duration;
use zooquake_backend::{Clock, Cluster};
use zooquake_engine::{Leader, Question, ShellAnswer};
use zooquake_history::Node;
use zooquake_history::evidence::Reading;
use zooquake_history::plan::Timing;

/// Longest wait for a steady leader, beside the time for which it must be steady.
const PATIENCE: Duration = Duration::from_secs(30);

/// Rest between two looks at the ensemble.
const BETWEEN: Duration = Duration::from_millis(50);

/// How long a server may leave the question for its state unanswered before it counts as not serving.
const ANSWERS: Duration = Duration::from_secs(3);

/// Waits until a silent session of `session_ms`, opened under a leader, has expired, and that leader has served without
/// change for `sync_ms` since the session was opened and serves in the same epoch now. Returns it.
///
/// Both are waited for at once: a leader that is deposed, or elected anew, is another one at the end or in another
/// epoch, and sessions begin anew with it; and one that has lost its quorum has ceased to serve after `sync_ms`. So the
/// wait takes as long as the longer of the two.
///
/// # Errors
/// Why it did not come to that.
pub async fn steady_and_silent(
    (cluster, clock): (&dyn Cluster, &dyn Clock),
    sync_ms: u64,
    session_ms: u64,
) -> Result<Leader> {
    let (begun, lasting) = (clock.now(), Duration::from_millis(sync_ms));
    loop {
        let attempt = async {
            let leader = whole_ensemble(cluster).await?;
            let silent = cluster.canary(&leader.server, session_ms);
            future::try_join(silent, keeps_leading((cluster, clock), &leader, lasting)).await?;
            anyhow::Ok(leader)
        };
        match attempt.await {
            Ok(leader) => {
                let after = whole_ensemble(cluster).await.context("after the canary session")?;
                same(&leader, after)?;
                return Ok(leader);
            }
            Err(error) if clock.now() - begun > PATIENCE + lasting => {
                return Err(error.context(format!(
                    "the ensemble was not steady for {sync_ms} ms within {} s",
                    PATIENCE.as_secs()
                )));
            }
            Err(_) => clock.sleep(BETWEEN).await,
        }
    }
}

/// Sees the same leader serve for so long, looking again and again.
async fn keeps_leading((cluster, clock): (&dyn Cluster, &dyn Clock), leader: &Leader, lasting: Duration) -> Result<()> {
    let begun = clock.now();
    while clock.now() - begun < lasting {
        clock.sleep(BETWEEN).await;
        same(leader, whole_ensemble(cluster).await?)?;
    }
    Ok(())
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
            before.server,
            before.epoch,
            now.server,
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
    for (server, state) in servers.into_iter().zip(states) {
        let state = state.with_context(|| format!("{server} does not serve"))?;
        let epoch = state.epoch();
        if state.leads() && leader.replace(Leader { server, epoch }).is_some() {
            bail!("two servers report that they lead");
        }
    }
    leader.context("no server leads")
}

/// Answers a question that was asked when the history had so many events.
pub async fn answer(question: Question, place: RunCluster, timing: Timing, index: usize) -> ShellAnswer {
    let RunCluster { cluster, clock } = place;
    match question {
        Question::Steady => {
            let steady = steady_and_silent((&*cluster, &*clock), timing.sync_ms(), timing.session_ms).await;
            ShellAnswer::Steady(steady.map_err(|error| format!("{error:#}")))
        }
        Question::Leader(leader) => {
            let leads = still_leads(&*cluster, &*clock, &leader).await;
            ShellAnswer::Leads(leads.map_err(|error| format!("{error:#}")))
        }
        Question::Runs(client) => {
            let seen = cluster.sees_running(&Node::client(client + 1)).await;
            ShellAnswer::Running(seen.map_err(|error| format!("{error:#}")))
        }
        Question::Tree => {
            let znodes = async {
                let leader = crate::faults::leader(&*cluster).await.context("no server leads")?;
                cluster.tree(&leader).await
            };
            // The end is known when the answer is taken.
            let reading = |znodes| Reading {
                index,
                end_index: index,
                znodes,
            };
            ShellAnswer::Tree(znodes.await.map(reading).map_err(|error| format!("{error:#}")))
        }
    }
}
