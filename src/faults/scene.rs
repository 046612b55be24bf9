//! The steps of a scene: each is over when its effect was seen, and recorded with a sentence that states what was
//! observed.

use super::nemesis::Nemesis;
use anyhow::{Result, bail, ensure};
use futures_util::future::{join_all, try_join_all};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use zooquake_backend::{Cluster, Directions, ServerState};
use zooquake_history::operation::nemesis::{StepEvent, WindowPhase};
use zooquake_history::plan::{Act, Scene, Step};
use zooquake_history::{Node, node};

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

impl Nemesis {
    /// Plays a scene up to the first step whose effect does not come about, or until the run is over.
    pub(super) async fn scene(&self, scene: &Scene) {
        let mut over = self.over.clone();
        let play = async {
            for number in 1..=scene.steps.len() {
                if !self.step(scene, number).await {
                    return;
                }
            }
        };
        tokio::select! {
            biased;
            _ = over.wait_for(|over| *over) => {}
            () = play => {}
        }
    }

    /// Does the `number`th step; returns whether its effect was seen.
    async fn step(&self, scene: &Scene, number: usize) -> bool {
        let step = &scene.steps[number - 1];
        let mut event = StepEvent {
            scene: scene.name.clone(),
            step: number,
            servers: step.servers.clone(),
            phase: WindowPhase::Begin,
            verified: None,
            detail: None,
            zxids: None,
            leader: None,
        };
        // On disk before it happens, as a fault's begin is.
        self.record("scene", step.act.name(), json!(event)).await;
        let seen = self.take(step, &mut event).await;
        let verified = seen.is_ok();
        (event.phase, event.verified) = (WindowPhase::Done, Some(verified));
        event.detail = Some(seen.unwrap_or_else(|error| format!("{error:#}")));
        self.record("scene", step.act.name(), json!(event)).await;
        verified
    }

    /// Does a step and puts into its event what was seen of servers; a sentence, or an error if its effect does not
    /// come about.
    async fn take(&self, step: &Step, event: &mut StepEvent) -> Result<String> {
        let cluster = &*self.cluster;
        let servers = step.servers.as_slice();
        ensure!(!servers.is_empty(), "the plan names no servers for this step");
        let names = node::join(servers, ", ");
        let detail = match step.act {
            Act::Start => {
                try_join_all(servers.iter().map(|server| cluster.start_server(server))).await?;
                format!("{names} started")
            }
            Act::Lead | Act::Elect => {
                let expected = servers.first().filter(|_| step.act == Act::Lead);
                let leader = event.leader.insert(self.led(servers, expected).await?);
                format!("all of {names} serve, and {leader} leads")
            }
            Act::Write => {
                let path = format!("/scene-{}", event.step);
                let through = &servers[0];
                cluster.create(through, std::slice::from_ref(&path)).await?;
                format!("{path} was created through {through} and acknowledged")
            }
            Act::Level => {
                let zxid = self.level(servers).await?;
                format!("{names} have the same last zxid, {zxid:#x}")
            }
            Act::Kill => kill(cluster, servers).await?,
            Act::Cut => cut(cluster, servers, true).await?,
            Act::Heal => cut(cluster, servers, false).await?,
            Act::Lose => {
                self.lost(servers).await?;
                format!("none of {names} serves")
            }
        };
        event.zxids = Some(zxids(cluster).await);
        Ok(detail)
    }

    /// Asks again and again until the answers give something `SETTLED` times in a row.
    async fn settled<T: PartialEq>(
        &self,
        servers: &[Node],
        what: &str,
        see: impl Fn(&[Result<ServerState>]) -> Option<T>,
    ) -> Result<T> {
        let begun = self.clock.now();
        let (mut before, mut times) = (None, 0);
        loop {
            let states = states(&*self.cluster, servers).await;
            let now = see(&states);
            times = if now == before { times + 1 } else { 1 };
            before = now;
            if let Some(seen) = before.take_if(|_| times >= SETTLED) {
                return Ok(seen);
            }
            if self.clock.now() - begun > PATIENCE {
                bail!(
                    "{what} did not come about in {} s: {}",
                    PATIENCE.as_secs(),
                    told(servers, &states)
                );
            }
            self.clock.sleep(POLL).await;
        }
    }

    /// Waits until all serve and one leads, which it names; another one than the one expected is an error.
    async fn led(&self, servers: &[Node], expected: Option<&Node>) -> Result<Node> {
        let what = format!("a leader of {}", node::join(servers, ", "));
        let leader = self.settled(servers, &what, |states| {
            let all = states.iter().all(Result::is_ok);
            let leads = |state: &Result<ServerState>| state.as_ref().is_ok_and(ServerState::leads);
            let mut leading = (0..servers.len()).filter(|n| leads(&states[*n]));
            let (first, second) = (leading.next(), leading.next());
            first.filter(|_| all && second.is_none())
        });
        let leader = servers[leader.await?].clone();
        if let Some(expected) = expected {
            ensure!(leader == *expected, "{leader} leads instead of {expected}");
        }
        Ok(leader)
    }

    async fn level(&self, servers: &[Node]) -> Result<i64> {
        let what = format!("one last zxid of {}", node::join(servers, ", "));
        let level = self.settled(servers, &what, |states| {
            let zxids: Option<Vec<i64>> = states.iter().map(|state| Some(state.as_ref().ok()?.zxid)).collect();
            let zxids = zxids?;
            let first = *zxids.first()?;
            zxids.iter().all(|zxid| *zxid == first).then_some(first)
        });
        level.await
    }

    async fn lost(&self, servers: &[Node]) -> Result<()> {
        let what = format!("the loss of the leader by {}", node::join(servers, ", "));
        let none = |states: &[Result<ServerState>]| states.iter().all(Result::is_err).then_some(());
        self.settled(servers, &what, none).await
    }
}

fn sentences(said: Vec<String>, servers: &[Node]) -> String {
    let each = servers
        .iter()
        .zip(said)
        .map(|(server, said)| format!("{server}: {said}"));
    each.collect::<Vec<_>>().join("; ")
}

async fn states(cluster: &dyn Cluster, servers: &[Node]) -> Vec<Result<ServerState>> {
    join_all(servers.iter().map(|server| cluster.server_state(server))).await
}

async fn zxids(cluster: &dyn Cluster) -> BTreeMap<Node, String> {
    let servers = cluster.servers();
    let states = states(cluster, &servers).await;
    let told = servers.into_iter().zip(states).filter_map(|(server, state)| {
        let zxid = state.ok()?.zxid;
        Some((server, format!("{zxid:#x}")))
    });
    told.collect()
}

/// The state that each server reported, or its error, for messages.
fn told(servers: &[Node], states: &[Result<ServerState>]) -> String {
    let each = servers.iter().zip(states).map(|(server, state)| match state {
        Ok(state) => format!("{server} is {}", state.mode),
        Err(error) => format!("{server}: {error:#}"),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// One after the other, so that the last one, if it leads, has not yet found that it lost its quorum when it dies:
/// killed the other way round, or all at once, a follower may live long enough to vote.
async fn kill(cluster: &dyn Cluster, servers: &[Node]) -> Result<String> {
    let mut said = Vec::new();
    for server in servers {
        said.push(cluster.kill(server).await?);
    }
    Ok(sentences(said, servers))
}

/// Cuts each of these off from everyone, or lets it be heard and hear again.
async fn cut(cluster: &dyn Cluster, servers: &[Node], off: bool) -> Result<String> {
    let each = servers.iter().map(|server| async move {
        let mut others = cluster.servers();
        others.retain(|other| other != server);
        match off {
            true => cluster.partition(server, &others, BOTH).await,
            false => cluster.heal_partition(server, &others).await,
        }
    });
    Ok(sentences(try_join_all(each).await?, servers))
}
