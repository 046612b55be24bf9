//! Random small histories: a counter that mostly does as it should, with unknown ends, losses, repetitions and missing events.

use super::counter;
use crate::drawn::{read_late, thinned};
use crate::script::event;
use serde_json::{Value, json};
use zooquake_checkers::{Event, EventType, Record};

const CLIENTS: usize = 3;

/// The most operations of a history.
const OPS: usize = 8;

/// One operation on its way.
#[derive(Debug, Clone)]
struct Doing {
    number: u64,
    f: &'static str,
    /// What it made or read, once it has taken effect.
    done: Option<i64>,
}

struct World {
    random: fastrand::Rng,
    events: Vec<Event>,
    /// Percent of effects that go wrong.
    wrong: u32,
    /// Every value that there was.
    past: Vec<i64>,
    doing: [Option<Doing>; CLIENTS],
    /// The operation that each event belongs to, and how many there are.
    ops: Vec<u64>,
    begun: u64,
    /// Increments with an unknown end that may take effect yet.
    late: Vec<Doing>,
    renewed: [u64; CLIENTS],
}

/// A history of at most [`OPS`] operations; `seed` decides all of it.
pub fn record(seed: u64) -> Record {
    of(seed, OPS)
}

/// A history of at most so many operations.
pub fn of(seed: u64, most: usize) -> Record {
    let mut random = fastrand::Rng::with_seed(seed);
    let wrong = [0, 10, 25, 40][random.usize(0..4)];
    let mut world = World {
        random,
        events: Vec::new(),
        wrong,
        past: vec![0],
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
        if world.doing[client].is_some() {
            world.end(client);
        } else if begun < ops {
            begun += 1;
            world.begin(client);
        }
    }
    world.told()
}

impl World {
    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    fn event(&mut self, client: usize, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        let (index, who) = (self.events.len(), format!("c{}", client + 1));
        let time = index as u64 * 1_000_000;
        self.events.push(event(index, time, &who, number, kind, f, value));
    }

    fn push(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        let number = client as u64 + 100 * self.renewed[client];
        self.event(client, Some(number), kind, f, value);
    }

    fn named(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        self.ops.push(0);
        self.event(client, None, kind, f, value);
    }

    fn begin(&mut self, client: usize) {
        let f = if self.chance(65) { "increment" } else { "get" };
        if f == "get" && self.chance(60) {
            self.confirm(client);
        }
        self.begun += 1;
        self.ops.push(self.begun);
        self.push(client, EventType::Invoke, f, json!({}));
        self.doing[client] = Some(Doing {
            number: self.begun,
            f,
            done: None,
        });
    }

    /// A quorum write, after which its session may change or its process die.
    fn confirm(&mut self, client: usize) {
        self.named(client, EventType::Invoke, "confirm", json!({}));
        self.effects();
        let kind = [EventType::Info, EventType::Ok][usize::from(self.chance(95))];
        self.named(client, kind, "confirm", json!({}));
        match self.random.u32(0..20) {
            0 => {
                self.named(client, EventType::Info, "exit", json!({}));
                self.renewed[client] += 1;
            }
            1 => {
                let session = json!({"state": "connected", "session": "0x9"});
                self.named(client, EventType::Info, "session", session);
            }
            _ => {}
        }
    }

    /// Some of what is on its way takes effect.
    fn effects(&mut self) {
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

    fn effect(&mut self, doing: &mut Doing) {
        if doing.done.is_some() {
            return;
        }
        let wrong = self.random.u32(0..100) < self.wrong;
        let last = self.past.len() - 1;
        let before = match wrong && self.random.bool() {
            // It starts from what was there before.
            true => self.past[self.random.usize(0..=last)],
            false => self.past[last],
        };
        let value = match doing.f {
            "get" => before,
            // It is done twice, or not at all.
            _ if wrong && self.random.bool() => before + 2 * self.random.i64(0..2),
            _ => before + 1,
        };
        if doing.f == "increment" {
            self.past.push(value);
        }
        doing.done = Some(value.max(i64::from(doing.f == "increment")));
    }

    fn end(&mut self, client: usize) {
        let Some(mut doing) = self.doing[client].take() else {
            return;
        };
        self.ops.push(doing.number);
        let failed = self.chance(8) && (doing.done.is_none() || self.random.u32(0..100) < self.wrong);
        if failed {
            return self.push(client, EventType::Fail, doing.f, Value::Null);
        }
        if self.chance(20) {
            self.push(client, EventType::Info, doing.f, Value::Null);
            self.renewed[client] += 1;
            if doing.f == "increment" {
                self.late.push(doing);
            }
            return;
        }
        self.effect(&mut doing);
        let name = if doing.f == "get" { "value" } else { "id" };
        self.push(client, EventType::Ok, doing.f, json!({ name: doing.done }));
    }

    fn told(mut self) -> Record {
        let mut record = counter("");
        let mut events = std::mem::take(&mut self.events);
        if self.chance(15) {
            thinned(&mut self.random, &mut events, &self.ops);
        }
        record.history.events = events;
        let mut znode = || {
            let last = self.past.len() - 1;
            let wrong = self.random.u32(0..100) < self.wrong;
            let value = self.past[if wrong { self.random.usize(0..=last) } else { last }];
            let data = Some(value).filter(|value| *value != 0);
            vec![super::znode(&data.map_or(String::new(), |value| value.to_string()))]
        };
        let znodes = [znode(), znode()];
        record.tree = None;
        if self.random.u32(0..100) < 25 {
            read_late(&mut self.random, &mut record, znodes);
        }
        record
    }
}
