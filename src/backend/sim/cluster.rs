//! The hosts of a run in memory, and who is served by whom.

use super::process::{Life, Process};
use crate::backend::{OnOutput, Output, Stdin};
use anyhow::{Context, Result, bail};
use futures_util::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use zooquake_checkers::plan::Plan;
use zooquake_workloads::client::{Client, Output as Lines, message};
use zooquake_workloads::protocol::{Message, VERSION};
use zooquake_workloads::recipes::commit::Journal;
use zooquake_workloads::recipes::{Env, variant};
use zooquake_workloads::zk::counted::Counters;
use zooquake_workloads::zk::sim::{Net, World};
use zooquake_workloads::zk::{Host as _, Shared};

/// How long voters take to elect another leader.
const ELECTION: Duration = Duration::from_millis(300);

/// A server's host.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Server {
    pub(super) runs: bool,
    pub(super) frozen: bool,
    pub(super) cut: bool,
}

impl Server {
    fn serves(self) -> bool {
        self.runs && !self.frozen && !self.cut
    }
}

type Said = Arc<Mutex<OnOutput>>;

/// A client's host.
#[derive(Default)]
pub(super) struct Machine {
    process: Option<(Process, Said)>,
    pub(super) cut: bool,
    pub(super) refused: bool,
    /// What a site of a commit has on its disk.
    journal: Option<Journal>,
}

pub(super) struct State {
    pub(super) servers: BTreeMap<String, Server>,
    pub(super) machines: BTreeMap<String, Machine>,
    pub(super) leader: Option<String>,
    pub(super) epoch: i64,
    electing: bool,
}

/// A cluster in memory. Clones share it.
#[derive(Clone)]
pub struct SimCluster {
    pub(super) world: World,
    pub(super) net: Net,
    pub(super) plan: Arc<Plan>,
    state: Arc<Mutex<State>>,
}

impl SimCluster {
    /// Hosts on which nothing runs.
    pub fn new(world: &World, plan: &Plan) -> Self {
        let servers = plan.cluster.voters().into_iter().chain(plan.cluster.observers());
        let machines = (1..=plan.cluster.clients).map(|n| (format!("c{n}"), Machine::default()));
        let state = State {
            servers: servers.map(|name| (name, Server::default())).collect(),
            machines: machines.collect(),
            leader: None,
            epoch: 0,
            electing: false,
        };
        Self {
            world: world.clone(),
            net: Net::new(world),
            plan: Arc::new(plan.clone()),
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something of a server's host, and what follows from it.
    pub(super) fn on_server(&self, name: &str, change: impl FnOnce(&mut Server)) -> Result<()> {
        change(
            self.state()
                .servers
                .get_mut(name)
                .with_context(|| format!("there is no {name}"))?,
        );
        self.settle();
        Ok(())
    }

    /// Changes something of a client's host, and what follows from it.
    pub(super) fn on_machine(&self, name: &str, change: impl FnOnce(&mut Machine)) -> Result<()> {
        change(
            self.state()
                .machines
                .get_mut(name)
                .with_context(|| format!("there is no {name}"))?,
        );
        self.settle();
        Ok(())
    }

    /// The process on a client's host.
    pub(super) fn process(&self, client: &str) -> Result<Process> {
        let state = self.state();
        let process = state.machines.get(client).and_then(|machine| machine.process.as_ref());
        Ok(process.with_context(|| format!("nothing runs on {client}"))?.0.clone())
    }

    /// Freezes, thaws or kills the process on a client's host. One that is killed says nothing more.
    pub(super) fn live(&self, client: &str, to: Life) -> Result<()> {
        self.process(client)?.live(to);
        self.settle();
        if to == Life::Dead {
            let said = self
                .state()
                .machines
                .get_mut(client)
                .and_then(|machine| machine.process.take());
            if let Some((_, said)) = said {
                say(&said, Output::Ended);
            }
        }
        Ok(())
    }

    /// Leads to what follows from the hosts' states: who leads, and which server serves which client.
    pub(super) fn settle(&self) {
        let mut state = self.state();
        let voters: BTreeSet<String> = self.plan.cluster.voters().into_iter().collect();
        let serving: Vec<String> = state
            .servers
            .iter()
            .filter(|(_, server)| server.serves())
            .map(|(name, _)| name.clone())
            .collect();
        let quorum = serving.iter().filter(|name| voters.contains(*name)).count() * 2 > voters.len();
        if !quorum || state.leader.as_ref().is_some_and(|leader| !serving.contains(leader)) {
            state.leader = None;
        }
        if quorum && state.leader.is_none() && !state.electing {
            state.electing = true;
            self.elect();
        }
        let led = state.leader.is_some();
        for (number, machine) in state.machines.values().enumerate() {
            let Some((process, _)) = &machine.process else { continue };
            let reaches = led && process.life() == Life::Runs && !machine.cut && !machine.refused;
            let server = self.server_for(number, &serving).filter(|_| reaches);
            process.serve(server);
        }
    }

    /// The server that serves a client: the one that it was served by before, its own one, or the next.
    fn server_for(&self, client: usize, serving: &[String]) -> Option<String> {
        let all: Vec<String> = self.plan.cluster.voters();
        let own = all[client % all.len()].clone();
        if serving.contains(&own) {
            return Some(own);
        }
        serving
            .get(client % serving.len().max(1))
            .filter(|_| !self.plan.workload.pinned)
            .cloned()
    }

    fn elect(&self) {
        let cluster = self.clone();
        let election = async move {
            cluster.world.sleep(ELECTION).await;
            cluster.elected();
            cluster.settle();
        };
        self.world.spawn(election.boxed());
    }

    /// The voter with the highest name leads, if a majority serves.
    fn elected(&self) {
        let mut state = self.state();
        state.electing = false;
        let voters = self.plan.cluster.voters();
        let serves = |name: &&String| state.servers.get(*name).is_some_and(|server| server.serves());
        let serving: Vec<&String> = voters.iter().filter(serves).collect();
        if serving.len() * 2 <= voters.len() || state.leader.is_some() {
            return;
        }
        let leader = serving.last().map(|name| (*name).clone());
        state.epoch += 1;
        state.leader = leader;
        self.net.server().lead(state.epoch);
    }

    /// Starts the client program on its host.
    pub(super) fn start_process(&self, client: &str, incarnation: u64, on_output: OnOutput) -> Result<Stdin> {
        let workload = &self.plan.workload;
        let variant = variant(&workload.family, &workload.variant).context("no such variant")?;
        let timeout = Duration::from_millis(self.plan.cluster.timing.session_ms);
        let process = Process::new(&self.world, &self.net, timeout);
        let said: Said = Arc::new(Mutex::new(on_output));
        let mut state = self.state();
        let machine = state
            .machines
            .get_mut(client)
            .with_context(|| format!("there is no {client}"))?;
        if machine.process.is_some() {
            bail!("a process of {client} runs already");
        }
        machine.process = Some((process.clone(), said.clone()));
        let journal = machine.journal.get_or_insert_with(Journal::in_memory).clone();
        drop(state);
        self.settle();
        let lines = Lines::direct(move |line| say(&said, Output::Line(line)));
        lines.send(&Message::Hello {
            protocol: VERSION,
            pid: u32::try_from(incarnation).unwrap_or(u32::MAX),
            session: None,
            cannot: Vec::new(),
        });
        let notices = lines.clone();
        let env = Env {
            client: client.into(),
            connect: Arc::new(process.clone()),
            host: Arc::new(process.clone()),
            ensemble: None,
            server: workload.pinned.then(|| process.server().unwrap_or_default().into()),
            journal: Some(journal),
            notify: Arc::new(move |notice| notices.send(&message(notice))),
            sessions: Shared::new(BTreeSet::new()),
            counters: Counters::default(),
        };
        let recipe = (variant.build)(&env)?;
        let (sender, requests) = mpsc::unbounded_channel();
        let (hosts, name) = (self.clone(), client.to_string());
        // The end of its stdin ends it.
        let life = Client::new(client, env, recipe, lines)
            .serve(requests)
            .map(move |()| hosts.live(&name, Life::Dead).unwrap_or_default());
        process.spawn(life.boxed());
        Ok(Stdin::new(sender))
    }
}

fn say(said: &Said, output: Output) {
    said.lock().unwrap_or_else(PoisonError::into_inner)(output);
}
