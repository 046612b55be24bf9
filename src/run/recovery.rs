//! After the faults: healing, recovery with its canary, the last operations, the audit.

use super::interpreter::Interpreter;
use super::recorder::Entry;
use super::script::Mode;
use super::slot::Slot;
use crate::cluster::{Cluster, DockerCluster};
use anyhow::{Context, Result, bail};
use futures_util::future::join_all;
use serde_json::json;
use std::time::{Duration, Instant};
use zooquake_checkers::evidence::{Reading, Tree};

/// Least bound of liveness after recovery.
const LIVENESS: Duration = Duration::from_secs(10);

/// Longest wait for the answers to a `quiesce`.
const QUIESCE: Duration = Duration::from_secs(10);

/// How often recovery is begun again when the leader changes in it.
const ATTEMPTS: usize = 3;

impl Interpreter {
    /// Ends the faults and waits until all are healed and every killed process runs again.
    pub(super) async fn heal(&mut self) -> Result<()> {
        self.disarm();
        self.enter("heal", Mode::Drain)?;
        let deadline = Instant::now() + Duration::from_secs(60);
        let healed = self
            .until(deadline, |run| run.nemesis_done && run.slots.iter().all(Slot::runs))
            .await?;
        if !healed {
            let dead = self
                .slots
                .iter()
                .filter(|slot| !slot.greeted)
                .map(|slot| slot.name.as_str());
            let dead: Vec<&str> = dead.collect();
            self.not_recovered(&format!(
                "after 60 s the faults are not all healed; clients not running: {dead:?}"
            ))?;
        }
        Ok(())
    }

    fn not_recovered(&mut self, why: &str) -> Result<()> {
        let mut entry = Entry::lane("run", "phase", json!("not-recovered"));
        entry.error = Some(why.to_string());
        self.recorder.record(entry)?;
        Ok(())
    }

    /// Waits until the run counts as recovered; writes `recovered`, or `not-recovered` with the reason.
    pub(super) async fn recover(&mut self) -> Result<bool> {
        self.enter("recover", Mode::Drain)?;
        let (cluster, timing) = (self.cluster.clone(), self.plan.cluster.timing);
        let steady = async move {
            let mut why = String::new();
            for _ in 0..ATTEMPTS {
                match steady_and_silent(&cluster, timing.sync_ms(), timing.session_ms).await {
                    Ok(()) => return Ok(()),
                    Err(error) => why = format!("{error:#}"),
                }
            }
            Err(why)
        };
        if let Err(why) = self.during(steady).await? {
            self.not_recovered(&format!("no steady leader in {ATTEMPTS} attempts: {why}"))?;
            return Ok(false);
        }
        self.ask_quiesce()?;
        let settled = |run: &Self| run.slots.iter().all(|slot| slot.quiesced || slot.op.is_some());
        if !self.until(Instant::now() + QUIESCE, settled).await? {
            self.not_recovered("a client with nothing pending did not answer quiesce")?;
            return Ok(false);
        }
        self.restart_free_time();
        let bound = self.bound();
        self.script.recovered(bound);
        self.enter("recovered", Mode::Final)?;
        Ok(true)
    }

    /// The bound of liveness: ten times the median of the waits that were answered.
    fn bound(&mut self) -> Duration {
        self.waited.sort_unstable();
        LIVENESS.max(self.waited.get(self.waited.len() / 2).copied().unwrap_or_default() * 10)
    }

    /// Lets each client finish what it has pending and go through one more cycle, within the bound of liveness.
    pub(super) async fn last_operations(&mut self) -> Result<()> {
        // What was sent before recovery counts from recovery.
        self.slots
            .iter_mut()
            .filter_map(|slot| slot.op.as_mut())
            .for_each(|op| op.free_at = Duration::ZERO);
        let bound = self.bound() + Duration::from_millis(300);
        self.enter("final", Mode::Final)?;
        let stuck = move |run: &Self, n: usize| {
            run.slots[n]
                .op
                .as_ref()
                .is_some_and(|op| run.free_time().saturating_sub(op.free_at) >= bound)
        };
        let settled = move |run: &Self| (0..run.slots.len()).all(|n| run.script.finished(n) || stuck(run, n));
        self.until(Instant::now() + bound * 3, settled).await?;
        if self.script.drains() {
            self.drain().await?;
        }
        Ok(())
    }

    /// Reads the tree, asks every client once more which znodes are its own, and reads the tree again.
    ///
    /// # Errors
    /// If the history cannot be written; a tree that cannot be read gives a message instead.
    pub(super) async fn audit(&mut self) -> Result<Result<Tree, String>> {
        self.enter("audit", Mode::Quiet)?;
        let first = self.reading().await?;
        self.ask_quiesce()?;
        self.until(Instant::now() + QUIESCE, |run| {
            run.slots.iter().all(|slot| slot.quiesced)
        })
        .await?;
        let second = self.reading().await?;
        let readings = match (first, second) {
            (Ok(first), Ok(second)) => Ok(Tree {
                readings: vec![first, second],
            }),
            (Err(why), _) | (_, Err(why)) => Err(why),
        };
        self.enter("done", Mode::Quiet)?;
        Ok(readings)
    }

    async fn reading(&mut self) -> Result<Result<Reading, String>> {
        let index = self.recorder.len();
        let cluster = self.cluster.clone();
        let read = self
            .during(async move {
                let leader = crate::faults::leader(&*cluster).await.context("no server leads")?;
                cluster.tree(&leader).await
            })
            .await?;
        let end_index = self.recorder.len();
        Ok(read
            .map(|znodes| Reading {
                index,
                end_index,
                znodes,
            })
            .map_err(|error| format!("{error:#}")))
    }
}

/// One leader serving without change, then a silent session that expires under that same leader.
async fn steady_and_silent(cluster: &DockerCluster, sync_ms: u64, session_ms: u64) -> Result<()> {
    let (leader, epoch) = steady_leader(cluster, Duration::from_millis(sync_ms)).await?;
    cluster.canary(&leader, session_ms).await?;
    let after = whole_ensemble(cluster).await.context("after the canary session")?;
    if after != (leader.clone(), epoch) {
        bail!(
            "the leader changed from {leader} (epoch {epoch}) to {} (epoch {})",
            after.0,
            after.1
        );
    }
    Ok(())
}

/// The leader and its epoch, if all servers serve and exactly one leads.
async fn whole_ensemble(cluster: &DockerCluster) -> Result<(String, i64)> {
    let servers = cluster.servers();
    let states = join_all(servers.iter().map(|server| cluster.server_state(server))).await;
    let mut leader = None;
    for (server, state) in servers.into_iter().zip(states) {
        let state = state.with_context(|| format!("{server} does not serve"))?;
        if state.leads() && leader.replace((server, state.epoch())).is_some() {
            bail!("two servers say that they lead");
        }
    }
    leader.context("no server leads")
}

async fn steady_leader(cluster: &DockerCluster, lasting: Duration) -> Result<(String, i64)> {
    let begun = Instant::now();
    let mut steady: Option<((String, i64), Instant)> = None;
    loop {
        let now = whole_ensemble(cluster).await;
        match (&now, &steady) {
            (Ok(leader), Some((before, since))) if leader == before => {
                if since.elapsed() >= lasting {
                    return now;
                }
            }
            (Ok(leader), _) => steady = Some((leader.clone(), Instant::now())),
            (Err(_), _) => steady = None,
        }
        if begun.elapsed() > Duration::from_secs(30) + lasting {
            let state = now.map_or_else(|error| format!("{error:#}"), |(leader, _)| format!("{leader} leads"));
            bail!(
                "the ensemble was not steady for {} ms within 30 s: {state}",
                lasting.as_millis()
            );
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
