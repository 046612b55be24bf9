//! Random small histories of one object that clients use at once, with unknown ends, late effects and missing events.

use crate::anomaly_tally::{read_late, thinned};
use crate::script::event;
use fastrand::Rng;
use serde_json::Value;
use zooquake_history::{Event, EventType, Node, Record, evidence::Znode};

const CLIENTS: usize = 3;

/// The object that the clients of a random history use.
pub trait Object: Sized {
    /// What an operation did, once it has taken effect.
    type ObjectEffect;

    /// Begins an operation of a client.
    fn begin(world: &mut ObjectWorld<Self>, client: usize);

    /// What an operation does that takes effect now.
    fn effect(world: &mut ObjectWorld<Self>, doing: &PendingOperation<Self::ObjectEffect>) -> Self::ObjectEffect;

    /// Ends a client's operation.
    fn end(world: &mut ObjectWorld<Self>, client: usize, doing: PendingOperation<Self::ObjectEffect>);
}

/// An operation that was sent and has not ended.
#[derive(Debug, Clone)]
pub struct PendingOperation<D> {
    number: u64,
    pub f: &'static str,
    pub asked: Value,
    /// What it did, once it has taken effect.
    pub done: Option<D>,
}

/// The state of an object and of the clients that use it.
pub struct ObjectWorld<O: Object> {
    pub random: Rng,
    pub object: O,
    /// Percent of effects that go wrong.
    wrong: u32,
    events: Vec<Event>,
    doing: [Option<PendingOperation<O::ObjectEffect>>; CLIENTS],
    /// The operation that each event belongs to, and how many there are.
    ops: Vec<u64>,
    begun: u64,
    /// Operations with an unknown end that may take effect yet.
    late: Vec<PendingOperation<O::ObjectEffect>>,
    pub renewed: [u64; CLIENTS],
}

impl<O: Object> ObjectWorld<O> {
    /// A world in which at most so many operations were done; `seed` decides all of it, and which of `wrong` it has.
    pub fn run(seed: u64, wrong: [u32; 4], most: usize, object: O) -> Self {
        let mut random = Rng::with_seed(seed);
        let wrong = wrong[random.usize(0..4)];
        let mut world = Self {
            random,
            object,
            wrong,
            events: Vec::new(),
            doing: [const { None }; CLIENTS],
            ops: Vec::new(),
            begun: 0,
            late: Vec::new(),
            renewed: [0; CLIENTS],
        };
        let ops = world.random.usize(2..=most);
        let mut begun = 0;
        while begun < ops || (world.doing.iter().any(Option::is_some) && world.chance(95)) {
            let client = world.random.usize(0..CLIENTS);
            world.effects();
            if let Some(doing) = world.doing[client].take() {
                world.ops.push(doing.number);
                O::end(&mut world, client, doing);
            } else if begun < ops {
                begun += 1;
                O::begin(&mut world, client);
            }
        }
        world
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    /// Whether an effect goes wrong.
    pub fn wrong(&mut self) -> bool {
        self.chance(self.wrong)
    }

    fn event(&mut self, client: usize, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        let (index, who) = (self.events.len(), Node::client(client + 1).to_string());
        let time = index as u64 * 1_000_000;
        self.events.push(event(index, time, &who, number, kind, f, value));
    }

    /// An event of a client's numbered process.
    pub fn push(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        let number = client as u64 + 100 * self.renewed[client];
        self.event(client, Some(number), kind, f, value);
    }

    /// An event of a client's named process.
    pub fn named(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        self.ops.push(0);
        self.event(client, None, kind, f, value);
    }

    /// A client sends a request.
    pub fn ask(&mut self, client: usize, f: &'static str, asked: Value) {
        self.begun += 1;
        self.ops.push(self.begun);
        self.push(client, EventType::Invoke, f, asked.clone());
        self.doing[client] = Some(PendingOperation {
            number: self.begun,
            f,
            asked,
            done: None,
        });
    }

    /// An operation ends with an unknown outcome; it may take effect yet if it `may_be_late`.
    pub fn lose(&mut self, client: usize, doing: PendingOperation<O::ObjectEffect>, value: Value, may_be_late: bool) {
        self.push(client, EventType::Info, doing.f, value);
        self.renewed[client] += 1;
        self.late.extend(may_be_late.then_some(doing));
    }

    /// Some of what is on its way takes effect.
    pub fn effects(&mut self) {
        for client in 0..CLIENTS {
            if let Some(mut doing) = self.doing[client].take() {
                if self.chance(30) {
                    self.effect(&mut doing);
                }
                self.doing[client] = Some(doing);
            }
        }
        if !self.late.is_empty() && self.chance(20) {
            let mut doing = self.late.pop().expect("there is one");
            self.effect(&mut doing);
        }
    }

    /// An operation takes effect, unless it has.
    pub fn effect(&mut self, doing: &mut PendingOperation<O::ObjectEffect>) {
        if doing.done.is_none() {
            doing.done = Some(O::effect(self, doing));
        }
    }

    /// The record, with the tree as `znode` draws it, read in so many percent of the worlds.
    pub fn told(mut self, mut record: Record, percent: u32, znode: impl Fn(&mut Self) -> Znode) -> Record {
        let mut events = std::mem::take(&mut self.events);
        if self.chance(15) {
            thinned(&mut self.random, &mut events, &self.ops);
        }
        record.history.events = events;
        let znodes = [(); 2].map(|()| vec![znode(&mut self)]);
        if self.chance(percent) {
            read_late(&mut self.random, &mut record, znodes);
        }
        record
    }
}
