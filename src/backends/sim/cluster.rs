//! The hosts of a run in memory, and who is served by whom.

use super::process::{Process, ProcessState};
use anyhow::{Context, Result, bail};
use futures_util::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use zooquake_backend::{OnOutput, Stdin};
use zooquake_history::plan::Plan;
use zooquake_history::{Node, Text};
use zooquake_workloads::client::{DriverInput, Output as Lines, RecipeClient, message};
use zooquake_workloads::protocol::{Message, ProcessOutput, VERSION};
use zooquake_workloads::recipes::commit::Journal;
use zooquake_workloads::recipes::{Env, variant};
use zooquake_workloads::zk::counted::Counters;
use zooquake_workloads::zk::sim::{Config, Net, World};
use zooquake_workloads::zk::{Host as _, SharedValue};

type ProcessLine = Arc<Mutex<OnOutput>>;

/// A client's host.
pub(super) struct Machine {
    /// Where it is on the network.
    net: Net,
    process: Option<(Process, ProcessLine)>,
    /// What a site of a commit has on its disk.
    journal: Option<Journal>,
}

/// A cluster in memory. Clones share it.
#[derive(Clone)]
pub struct SimCluster {
    pub(super) world: World,
    /// The ensemble.
    pub(super) net: Net,
    pub(super) plan: Arc<Plan>,
    /// The servers, in the order of their numbers.
    pub(super) servers: Arc<Vec<Node>>,
    machines: Arc<Mutex<BTreeMap<Node, Machine>>>,
}

impl SimCluster {
    /// Hosts on which nothing runs.
    pub fn new(world: &World, plan: &Plan) -> Self {
        let timing = plan.cluster.timing;
        let config = Config {
            voters: plan.cluster.servers,
            observers: plan.cluster.observers,
            tick: Duration::from_millis(timing.tick_ms),
            init_limit: u32::try_from(timing.init_limit).unwrap_or(u32::MAX),
            sync_limit: u32::try_from(timing.sync_limit).unwrap_or(u32::MAX),
            scripted: false,
        };
        let servers = plan.cluster.ensemble();
        let net = Net::ensemble(world, config, Duration::from_millis(timing.session_ms));
        let machine = |number: usize| {
            let host = net.host();
            let machine = Machine {
                net: match plan.workload.pinned {
                    true => host.pinned((number - 1) % servers.len()),
                    false => host,
                },
                process: None,
                journal: None,
            };
            (Node::client(number), machine)
        };
        Self {
            world: world.clone(),
            machines: Arc::new(Mutex::new((1..=plan.cluster.clients).map(machine).collect())),
            net,
            plan: Arc::new(plan.clone()),
            servers: Arc::new(servers),
        }
    }

    pub(super) fn machines(&self) -> MutexGuard<'_, BTreeMap<Node, Machine>> {
        self.machines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a server.
    pub(super) fn server(&self, name: &Node) -> Result<usize> {
        let at = self.servers.iter().position(|server| server == name);
        at.with_context(|| format!("there is no server {name}"))
    }

    /// The place of a node on the network.
    pub(super) fn node(&self, name: &Node) -> Result<usize> {
        match self.machines().get(name) {
            Some(machine) => Ok(machine.net.number()),
            None => self.server(name),
        }
    }

    /// The process on a client's host.
    pub(super) fn process(&self, client: &Node) -> Result<Process> {
        let machines = self.machines();
        let process = machines.get(client).and_then(|machine| machine.process.as_ref());
        Ok(process.with_context(|| format!("nothing runs on {client}"))?.0.clone())
    }

    /// Freezes, thaws or kills the process on a client's host. One that is killed writes nothing more.
    pub(super) fn live(&self, client: &Node, to: ProcessState) -> Result<()> {
        self.process(client)?.live(to);
        if to == ProcessState::Dead {
            let said = self
                .machines()
                .get_mut(client)
                .and_then(|machine| machine.process.take());
            if let Some((_, said)) = said {
                say(&said, ProcessOutput::Ended);
            }
        }
        Ok(())
    }

    /// Starts the client program on its host.
    pub(super) fn start_process(&self, client: &Node, incarnation: u64, on_output: OnOutput) -> Result<Stdin> {
        let workload = &self.plan.workload;
        let variant = variant(&workload.family, &workload.variant).context("no such variant")?;
        let said: ProcessLine = Arc::new(Mutex::new(on_output));
        let mut machines = self.machines();
        let machine = machines
            .get_mut(client)
            .with_context(|| format!("there is no {client}"))?;
        if machine.process.is_some() {
            bail!("a process of {client} runs already");
        }
        let process = Process::new(&self.world, &machine.net);
        machine.process = Some((process.clone(), said.clone()));
        let journal = machine.journal.get_or_insert_with(Journal::in_memory).clone();
        let pinned = machine.net.only_server().map(|server| self.servers[server].clone());
        drop(machines);
        let lines = Lines::direct(move |message| say(&said, ProcessOutput::Message(message)));
        lines.send(Message::Hello {
            protocol: VERSION,
            pid: u32::try_from(incarnation).unwrap_or(u32::MAX),
            session: None,
            cannot: Vec::new(),
            kit: Vec::new(),
        });
        let notices = lines.clone();
        let name = Text::from(client);
        let env = Env {
            client: name.as_str().into(),
            connect: Arc::new(process.clone()),
            host: Arc::new(process.clone()),
            ensemble: None,
            server: pinned.map(|server| Text::from(&server).as_str().into()),
            journal: Some(journal),
            notify: Arc::new(move |notice| notices.send(message(notice))),
            sessions: SharedValue::new(BTreeSet::new()),
            bug: None,
            counters: Counters::default(),
        };
        let recipe = variant.recipe(&env)?;
        let (sender, requests) = mpsc::unbounded_channel::<DriverInput>();
        let (hosts, host) = (self.clone(), client.clone());
        // The end of its stdin ends it.
        let life = RecipeClient::new(&name, env, recipe, lines)
            .serve(requests)
            .map(move |()| hosts.live(&host, ProcessState::Dead).unwrap_or_default());
        process.spawn(life.boxed());
        Ok(Stdin::direct(sender))
    }
}

fn say(said: &ProcessLine, output: ProcessOutput) {
    said.lock().unwrap_or_else(PoisonError::into_inner)(output);
}
