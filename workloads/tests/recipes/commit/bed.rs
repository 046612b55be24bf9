//! Clients of a two-phase commit that can be killed, what they are asked, and the history that comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use serde_json::{Value, json};
use zooquake_checkers::{Event, EventType, Process};
use zooquake_workloads::recipes::commit::{
    Atomic, Broadcast, Coordinated, Ephemeral, Journal, Party, Transaction, Vote,
};
use zooquake_workloads::recipes::{Env, OpError};
use zooquake_workloads::zk::{Host, Shared};

use crate::world::World;
use zooquake_workloads::zk::sim::Net;

/// Which recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Broadcast,
    Coordinated,
    Ephemeral,
    Atomic,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Broadcast, Self::Coordinated, Self::Ephemeral, Self::Atomic];

    fn party(self, env: &Env, name: &str, journal: Journal) -> Arc<dyn Party> {
        match self {
            Self::Broadcast => Arc::new(Broadcast::new(env, name, journal)),
            Self::Coordinated => Arc::new(Coordinated::new(env, name, journal)),
            Self::Ephemeral => Arc::new(Ephemeral::new(env, name, journal)),
            Self::Atomic => Arc::new(Atomic::new(env, name, journal)),
        }
    }
}

/// One transaction: the votes of `c2`, `c3`, …, and whether the decision is asked for only when all have voted.
#[derive(Clone)]
pub struct Plan {
    pub votes: Vec<Vote>,
    pub late: bool,
    slow: Option<(&'static str, u64)>,
}

impl Plan {
    pub fn new(votes: &[Vote], late: bool) -> Self {
        Self {
            votes: votes.to_vec(),
            late,
            slow: None,
        }
    }

    /// This site works for this many milliseconds.
    pub fn slow(self, site: &'static str, milliseconds: u64) -> Self {
        Self {
            slow: Some((site, milliseconds)),
            ..self
        }
    }

    fn transaction(&self, number: usize) -> Transaction {
        Transaction {
            tx: format!("t{}", number + 1),
            sites: (2..self.votes.len() + 2).map(|site| format!("c{site}")).collect(),
            payload: json!({"of": number}),
        }
    }
}

#[derive(Clone)]
struct Program {
    party: Arc<dyn Party>,
    dead: Shared<bool>,
    sessions: Shared<BTreeSet<i64>>,
}

/// A host whose tasks end with the process.
struct Mortal(World, Shared<bool>);

impl Host for Mortal {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        let dead = self.1.clone();
        self.0.spawn(living(dead, task).map(|_| ()).boxed());
    }

    fn random(&self) -> u128 {
        self.0.random()
    }
}

/// Does something until the process dies.
async fn living<T>(dead: Shared<bool>, work: impl Future<Output = T> + Send) -> Option<T> {
    let death = std::pin::pin!(async move { dead.until(|dead| dead.then_some(())).await });
    match select(std::pin::pin!(work), death).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

/// The machines, the server, and what was written down.
#[derive(Clone)]
pub struct Bed {
    pub world: World,
    pub net: Net,
    kind: Kind,
    programs: Shared<BTreeMap<String, Program>>,
    journals: Arc<Mutex<BTreeMap<String, Journal>>>,
    events: Arc<Mutex<Vec<Event>>>,
    /// How many times each client has ended its part of a transaction.
    pub(super) done: Shared<BTreeMap<String, usize>>,
}

impl Bed {
    pub fn new(kind: Kind) -> Self {
        let world = World::default();
        Self {
            net: Net::new(&world),
            world,
            kind,
            programs: Shared::new(BTreeMap::new()),
            journals: Arc::default(),
            events: Arc::default(),
            done: Shared::new(BTreeMap::new()),
        }
    }

    pub fn pass(&self, milliseconds: u64) {
        self.world.pass(Duration::from_millis(milliseconds));
    }

    /// Starts a client's process, with the log that is on its disk.
    pub fn start(&self, name: &str) {
        let journal = {
            let mut journals = self.journals.lock().unwrap();
            journals
                .entry(name.to_string())
                .or_insert_with(Journal::in_memory)
                .clone()
        };
        let dead = Shared::new(false);
        let mut env = self.world.env(Arc::new(self.net.clone()));
        env.host = Arc::new(Mortal(self.world.clone(), dead.clone()));
        let sessions = env.sessions.clone();
        let party = self.kind.party(&env, name, journal);
        self.named(name, "hello", json!({}));
        let program = Program { party, dead, sessions };
        self.programs
            .update(|programs| programs.insert(name.to_string(), program));
    }

    /// Kills a client's process, and starts it again half a second later.
    pub fn kill(&self, name: &str) {
        let program = self.programs.with(|programs| programs[name].clone());
        if program.dead.with(|dead| *dead) {
            return;
        }
        program.dead.update(|dead| *dead = true);
        self.named(name, "exit", json!({}));
        for session in program.sessions.with(Clone::clone) {
            self.net.expire(session, Duration::from_secs(2));
        }
        let (bed, name) = (self.clone(), name.to_string());
        let again = async move {
            bed.world.sleep(Duration::from_millis(500)).await;
            bed.start(&name);
        };
        self.world.spawn(again.boxed());
    }

    /// Cuts a session off until it expires, after two seconds, which the history tells as it tells of any fault.
    pub fn expire(&self, session: i64) {
        let time = Duration::from_secs(2);
        let window = self.events.lock().unwrap().len();
        self.fault(json!({"window": window, "phase": "begin"}));
        self.net.expire(session, time);
        let bed = self.clone();
        let end = async move {
            bed.world.sleep(time).await;
            bed.fault(json!({"window": window, "phase": "off", "verified": true}));
        };
        self.world.spawn(end.boxed());
    }

    fn fault(&self, value: Value) {
        let process = Process::Name("nemesis".into());
        self.record(process, EventType::Info, "expire", value, None, "nemesis");
    }

    /// The sessions of the processes that live.
    pub fn sessions(&self) -> Vec<i64> {
        self.programs.with(|programs| {
            let of = |program: &Program| program.sessions.with(Clone::clone);
            programs.values().flat_map(of).collect()
        })
    }

    pub(super) fn record(
        &self,
        process: Process,
        kind: EventType,
        f: &str,
        value: Value,
        error: Option<String>,
        node: &str,
    ) {
        let mut events = self.events.lock().unwrap();
        let (index, time) = (events.len(), self.world.now().as_nanos() as u64);
        events.push(Event {
            index,
            time,
            process,
            kind,
            f: f.into(),
            value: value.into(),
            error,
            node: Some(node.into()),
        });
    }

    fn named(&self, name: &str, f: &str, value: Value) {
        self.record(Process::Name(name.into()), EventType::Info, f, value, None, name);
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    pub(super) fn phase(&self, name: &str) {
        self.record(
            Process::Name("run".into()),
            EventType::Info,
            "phase",
            json!(name),
            None,
            "run",
        );
    }

    /// Asks a client for an operation, once it lives. `None` if it died over it.
    pub(super) async fn ask<T: Clone, F: Future<Output = Result<T, OpError>> + Send>(
        &self,
        name: &str,
        f: &str,
        asked: Value,
        work: impl FnOnce(Arc<dyn Party>) -> F,
        answer: impl FnOnce(&T) -> Value,
    ) -> Option<Result<T, OpError>> {
        let alive = |programs: &BTreeMap<String, Program>| {
            let program = programs.get(name)?;
            program.dead.with(|dead| (!dead).then(|| program.clone()))
        };
        let program = self.programs.until(alive).await;
        // Each operation is a process of its own, which is not how runs are recorded and comes to the same.
        let process = Process::Number(self.events.lock().unwrap().len() as u64);
        let tx = asked["tx"].clone();
        self.record(process.clone(), EventType::Invoke, f, asked, None, name);
        let done = living(program.dead.clone(), work(program.party)).await;
        let (kind, value, error) = match &done {
            Some(Ok(done)) => (EventType::Ok, answer(done), None),
            Some(Err(OpError::Fail(why))) => (EventType::Fail, json!({"tx": tx}), Some(why.clone())),
            Some(Err(OpError::Info(why))) => (EventType::Info, json!({"tx": tx}), Some(why.clone())),
            None => (EventType::Info, json!({"tx": tx}), Some("the process died".to_string())),
        };
        self.record(process, kind, f, value, error, name);
        done
    }
}

impl Bed {
    pub(super) fn slow(plan: &Plan, site: &str) -> Duration {
        let slow = plan.slow.filter(|(slow, _)| *slow == site);
        Duration::from_millis(slow.map_or(2, |(_, milliseconds)| milliseconds))
    }

    pub(super) fn transaction(plan: &Plan, number: usize) -> Transaction {
        plan.transaction(number)
    }
}
