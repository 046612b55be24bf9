//! Clients of random small histories: what each is at, and how they die and recover.

use crate::script::{event, run};
use serde_json::{Value, json};
use zooquake_history::{Event, EventType, Node, Record};

pub const CLIENTS: usize = 4;

/// Clients of a queue or a barrier, what they are at, and what was recorded of them.
pub struct QueueWorld {
    pub random: fastrand::Rng,
    pub events: Vec<Event>,
    pub now: u64,
    /// What each client is at: an operation and the number that it is about.
    pub doing: [Option<(&'static str, i64)>; CLIENTS],
    renewed: [u64; CLIENTS],
}

impl QueueWorld {
    pub fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            events: Vec::new(),
            now: 0,
            doing: [None; CLIENTS],
            renewed: [0; CLIENTS],
        }
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += 1_000_000;
        self.events
            .push(event(self.events.len(), self.now, who, number, kind, f, value));
    }

    pub fn op(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        let number = client as u64 + 100 * self.renewed[client];
        self.push(&Node::client(client + 1).to_string(), Some(number), kind, f, value);
        if kind == EventType::Info {
            self.renewed[client] += 1;
        }
    }

    pub fn named(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        self.push(&Node::client(client + 1).to_string(), None, kind, f, value);
    }

    pub fn phase(&mut self, name: &str) {
        self.push("run", None, EventType::Info, "phase", json!(name));
    }

    /// A death, after which the client goes on as another process; its operation may get its end or not.
    pub fn dies(&mut self, client: usize) {
        if let Some((f, _)) = self.doing[client].take()
            && self.chance(70)
        {
            self.op(client, EventType::Info, f, Value::Null);
        } else {
            self.renewed[client] += 1;
        }
        self.named(client, EventType::Info, "exit", json!({}));
    }

    /// In some worlds a window before it was not seen healed, or the harness stalls after it.
    pub fn recovers(&mut self) {
        self.phase("recover");
        for (phase, verified) in crate::anomaly_tally::phases(&mut self.random) {
            let value = json!({"window": 1, "phase": phase, "verified": verified});
            self.push("nemesis", None, EventType::Info, "pause", value);
        }
        self.phase("recovered");
        if self.chance(5) {
            self.push("run", None, EventType::Info, "stall", json!({"ms": 1500}));
        }
    }

    pub fn begin(&mut self, client: usize, f: &'static str, number: i64, value: Value) {
        self.doing[client] = Some((f, number));
        self.op(client, EventType::Invoke, f, value);
    }

    pub fn record(self, variant: &str) -> Record {
        let mut record = run(variant, "");
        record.history.events = self.events;
        record
    }
}
