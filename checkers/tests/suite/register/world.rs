//! Random small histories: a register that mostly does as it should, with unknown ends, lags, losses and missing events.

use crate::drawn::{read_late, thinned};
use crate::script::{event, holding, run};
use serde_json::{Value, json};
use zooquake_checkers::evidence::Znode;
use zooquake_checkers::{Event, EventType, Record};

const CLIENTS: usize = 3;

/// The most operations of a history.
const OPS: usize = 7;

/// One operation on its way.
#[derive(Debug, Clone)]
struct Doing {
    number: u64,
    f: &'static str,
    asked: Value,
    /// What it found or wrote, and that transaction, once it has taken effect; `None` if it failed.
    done: Option<Option<(Option<i64>, i64)>>,
}

struct World {
    random: fastrand::Rng,
    events: Vec<Event>,
    /// Percent of effects that go wrong.
    wrong: u32,
    /// Every value that there was, with its transaction.
    past: Vec<(Option<i64>, i64)>,
    values: i64,
    doing: [Option<Doing>; CLIENTS],
    /// The operation that each event belongs to, and how many there are.
    ops: Vec<u64>,
    begun: u64,
    /// Operations with an unknown end that may take effect yet.
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
    let wrong = [0, 0, 10, 30][random.usize(0..4)];
    let mut world = World {
        random,
        events: Vec::new(),
        wrong,
        past: vec![(None, 100)],
        values: 0,
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
    world.told(["quorum-read", "read", "sync-read"][(seed % 3) as usize])
}

impl World {
    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    fn push(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        let (index, number) = (self.events.len(), client as u64 + 100 * self.renewed[client]);
        let (time, who) = (index as u64 * 1_000_000, format!("c{}", client + 1));
        self.events.push(event(index, time, &who, Some(number), kind, f, value));
    }

    fn begin(&mut self, client: usize) {
        self.values += 1;
        let next = self.values;
        let (f, asked) = match self.random.u32(0..10) {
            0..4 => ("read", json!({})),
            4..7 => ("write", json!({ "value": next })),
            _ => {
                let from = match self.chance(80) {
                    true => self.past.last().expect("there is nil").0,
                    false => self.past[self.random.usize(0..self.past.len())].0,
                };
                ("cas", json!({"from": from, "to": next}))
            }
        };
        self.begun += 1;
        self.ops.push(self.begun);
        self.push(client, EventType::Invoke, f, asked.clone());
        self.doing[client] = Some(Doing {
            number: self.begun,
            f,
            asked,
            done: None,
        });
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
        let now = *self.past.last().expect("there is nil");
        let asked = |name: &str| doing.asked[name].as_i64();
        doing.done = Some(match doing.f {
            "read" if wrong => Some(self.past[self.random.usize(0..self.past.len())]),
            "read" => Some(now),
            "cas" if asked("from") != now.0 && !wrong => None,
            f => {
                let to = asked(if f == "cas" { "to" } else { "value" });
                let written = (to, 100 + self.past.len() as i64);
                match wrong && self.random.bool() {
                    // It comes too late, or is overtaken by what it should follow.
                    true => self.past.insert(self.past.len() - 1, written),
                    false => self.past.push(written),
                }
                Some(written)
            }
        });
    }

    fn end(&mut self, client: usize) {
        let Some(mut doing) = self.doing[client].take() else {
            return;
        };
        self.ops.push(doing.number);
        if self.chance(20) {
            let value = [Value::Null, doing.asked.clone()][usize::from(self.chance(50))].take();
            self.push(client, EventType::Info, doing.f, value);
            self.renewed[client] += 1;
            self.late.push(doing);
            return;
        }
        self.effect(&mut doing);
        let Some(Some((value, mzxid))) = doing.done else {
            return self.push(client, EventType::Fail, doing.f, Value::Null);
        };
        let session = format!("0x{}{}", client + 1, usize::from(self.chance(10)));
        let mut answer = json!({"mzxid": mzxid, "session": session, "server": format!("n{}", client % 2 + 1)});
        match doing.f {
            "cas" => {
                answer["from"] = doing.asked["from"].clone();
                answer["to"] = doing.asked["to"].clone();
            }
            _ => answer["value"] = json!(value),
        }
        self.push(client, EventType::Ok, doing.f, answer);
    }

    fn told(mut self, variant: &str) -> Record {
        let mut record = run(variant, "");
        let mut events = std::mem::take(&mut self.events);
        if self.chance(15) {
            thinned(&mut self.random, &mut events, &self.ops);
        }
        record.history.events = events;
        let mut znode = || {
            let now = self.past.len() - 1;
            let wrong = self.random.u32(0..100) < self.wrong;
            let (value, mzxid) = self.past[if wrong { self.random.usize(0..=now) } else { now }];
            let data = value.map_or(String::new(), |value| value.to_string());
            vec![Znode {
                mzxid,
                ..holding("/register", &data)
            }]
        };
        let znodes = [znode(), znode()];
        if self.random.u32(0..100) < 15 {
            read_late(&mut self.random, &mut record, znodes);
        }
        record
    }
}
