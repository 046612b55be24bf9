//! Random small histories of a lock: some of worlds that keep the rules, some of worlds that cheat, all with unknown
//! outcomes, killed clients, replies read late and confirms answered late. In some several clients may hold, or share.

mod client_steps;
mod disturbances;
mod run_end;

use crate::script::event;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use zooquake_history::operation::Mode;
use zooquake_history::{Event, EventType, Node, Record, Txn};

/// How often a world breaks a rule, in percent.
#[derive(Default)]
struct Cheats {
    grant: u32,
    confirm: u32,
    token: u32,
    release: u32,
    orphan: u32,
    foreign: u32,
    theft: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum LockClientActivity {
    Nothing,
    Acquiring,
    Holding,
    Reading,
    Writing,
    Releasing,
}

struct LockClient {
    process: u64,
    incarnation: u64,
    doing: LockClientActivity,
    /// Its present grant, as a position in `LockWorld::grants`.
    grant: usize,
    confirming: bool,
    /// What it is going to answer to that, if it has looked at its belief.
    looked: Option<(EventType, Value)>,
}

/// What really became of a grant.
struct ActualGrant {
    name: String,
    mode: Mode,
    path: String,
    session: String,
    /// When it was really granted.
    czxid: Option<i64>,
    /// Whether its znode is there.
    lives: bool,
}

struct LockWorld {
    random: fastrand::Rng,
    cheats: Cheats,
    events: Vec<Event>,
    txns: Vec<Txn>,
    now: u64,
    zxid: i64,
    clients: Vec<LockClient>,
    grants: Vec<ActualGrant>,
    /// Percent of grants whose client cannot report their age.
    ageless: u32,
    shared_path: bool,
    longest_step_ms: u64,
    capacity: NonZeroUsize,
    /// Percent of requests that are for shared grants.
    shared: u32,
    /// Whether those who hold shared read and do not write.
    readers: bool,
    /// How often a holder confirms instead of what it would do else, in percent.
    patience: u32,
}

/// The record of a random world in which one client may hold.
pub fn record(seed: u64) -> Record {
    let random = fastrand::Rng::with_seed(seed);
    with_settings(random, (NonZeroUsize::MIN, 0, 0, false), |random| random.usize(2..4))
}

/// The record of a random world in which up to three clients may hold, and some share.
pub fn moded(seed: u64) -> Record {
    several(seed, &[0, 30, 60])
}

/// The record of a random world in which up to three clients may hold, and nobody shares.
pub fn counted(seed: u64) -> Record {
    several(seed, &[0])
}

/// `shares`: of how many percent of the requests for shared grants one is drawn.
fn several(seed: u64, shares: &[u32]) -> Record {
    let mut random = fastrand::Rng::with_seed(seed);
    let capacity = NonZeroUsize::MIN.saturating_add(random.usize(0..3));
    let shared = shares[random.usize(..shares.len())];
    let patience = [50, 80][random.usize(..2)];
    with_settings(random, (capacity, shared, patience, false), |random| {
        capacity.get() + random.usize(1..3)
    })
}

/// The record of a random world of readers, who share, and writers.
pub fn rwlock(seed: u64) -> Record {
    let mut random = fastrand::Rng::with_seed(seed);
    let shared = [30, 60][random.usize(..2)];
    let patience = [0, 50, 80][random.usize(..3)];
    let mut record = with_settings(random, (NonZeroUsize::MIN, shared, patience, true), |random| {
        random.usize(2..4)
    });
    record.plan.workload.family = "rwlock".to_owned();
    record
}

fn with_settings(
    mut random: fastrand::Rng,
    (capacity, shared, patience, readers): (NonZeroUsize, u32, u32, bool),
    clients: impl Fn(&mut fastrand::Rng) -> usize,
) -> Record {
    let mut cheats = Cheats::default();
    if random.bool() {
        let mut some = |of: &[u32]| of[random.usize(..of.len())];
        cheats.grant = some(&[0, 50, 100, 100]);
        cheats.confirm = some(&[0, 50, 100]);
        cheats.token = some(&[0, 40]);
        cheats.release = some(&[0, 20]);
        cheats.orphan = some(&[0, 40]);
        cheats.foreign = some(&[0, 30]);
        cheats.theft = some(&[0, 0, 30]);
        // Most of those who are robbed go on.
        cheats.confirm = cheats.confirm.max(2 * cheats.theft);
    }
    let count = clients(&mut random);
    let client = |number: usize| LockClient {
        process: number as u64,
        incarnation: 1,
        doing: LockClientActivity::Nothing,
        grant: 0,
        confirming: false,
        looked: None,
    };
    let mut world = LockWorld {
        cheats,
        events: vec![],
        txns: vec![],
        now: 0,
        zxid: 100,
        clients: (0..count).map(client).collect(),
        grants: vec![],
        ageless: [0, 0, 40][random.usize(..3)],
        shared_path: random.bool(),
        longest_step_ms: 50,
        capacity,
        shared,
        readers,
        patience,
        random,
    };
    world.live();
    world.close(count)
}

impl LockWorld {
    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(..100) < percent
    }

    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += self.random.u64(1..=self.longest_step_ms) * 1_000_000;
        self.events
            .push(event(self.events.len(), self.now, who, number, kind, f, value));
    }

    /// An event of the client's present operation, about its grant.
    fn work(&mut self, who: usize, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        let process = Some(self.clients[who].process);
        self.push(&Node::client(who + 1).to_string(), process, kind, f, value);
        self.events.last_mut().expect("one").error = error.map(str::to_owned);
        if kind == EventType::Info {
            self.clients[who].process += 10;
        }
    }

    fn named(&mut self, who: usize, kind: EventType, f: &str, value: Value) {
        self.push(&Node::client(who + 1).to_string(), None, kind, f, value);
    }

    fn phase(&mut self, name: &str) -> usize {
        self.push("run", None, EventType::Info, "phase", json!(name));
        self.events.len() - 1
    }

    fn session(&self, who: usize) -> String {
        format!("0x{}{}", who + 1, self.clients[who].incarnation)
    }

    fn live(&mut self) {
        for who in 0..self.clients.len() {
            let session = self.session(who);
            self.named(who, EventType::Info, "hello", json!({ "session": session }));
        }
        for _ in 0..self.random.usize(12..48) * self.capacity.get().min(2) {
            self.step(true);
        }
        self.recovers();
        self.longest_step_ms = if self.random.bool() { 9000 } else { 500 };
        for _ in 0..self.random.usize(1..12) {
            self.step(false);
        }
    }

    fn step(&mut self, faults: bool) {
        let who = self.random.usize(..self.clients.len());
        if self.cheats.theft > 0 && self.chance(10) {
            self.steal(who);
        }
        match self.random.u32(..100) {
            0..5 if faults => return self.kill(who),
            5..12 if faults => return self.expire(),
            12..45 => return self.confirm(who),
            _ => {}
        }
        let grant = self.clients[who].grant;
        match self.clients[who].doing {
            LockClientActivity::Nothing => self.ask(who),
            LockClientActivity::Acquiring => self.acquire(who, grant),
            LockClientActivity::Holding => self.hold(who, grant),
            LockClientActivity::Reading | LockClientActivity::Writing => self.access(who, grant),
            LockClientActivity::Releasing => self.release(who, grant),
        }
    }
}
