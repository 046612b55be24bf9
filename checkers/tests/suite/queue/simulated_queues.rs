//! Random small histories: queues and barriers that mostly do as they should, with unknown ends, deaths, and cheats.

use crate::script::{event, run};
use serde_json::{Value, json};
use std::collections::VecDeque;
use zooquake_checkers::{Event, EventType, Record};

const CLIENTS: usize = 4;

struct QueueWorld {
    random: fastrand::Rng,
    events: Vec<Event>,
    now: u64,
    /// What each client is at: an operation and the number that it is about.
    doing: [Option<(&'static str, i64)>; CLIENTS],
    renewed: [u64; CLIENTS],
}

impl QueueWorld {
    fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            events: Vec::new(),
            now: 0,
            doing: [None; CLIENTS],
            renewed: [0; CLIENTS],
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += 1_000_000;
        self.events
            .push(event(self.events.len(), self.now, who, number, kind, f, value));
    }

    fn op(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        let number = client as u64 + 100 * self.renewed[client];
        self.push(&format!("c{}", client + 1), Some(number), kind, f, value);
        if kind == EventType::Info {
            self.renewed[client] += 1;
        }
    }

    fn named(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        self.push(&format!("c{}", client + 1), None, kind, f, value);
    }

    fn phase(&mut self, name: &str) {
        self.push("run", None, EventType::Info, "phase", json!(name));
    }

    /// A death, after which the client goes on as another process; its operation may get its end or not.
    fn dies(&mut self, client: usize) {
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
    fn recovers(&mut self) {
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

    fn begin(&mut self, client: usize, f: &'static str, number: i64, value: Value) {
        self.doing[client] = Some((f, number));
        self.op(client, EventType::Invoke, f, value);
    }

    fn record(self, variant: &str) -> Record {
        let mut record = run(variant, "");
        record.history.events = self.events;
        record
    }
}

/// A queue of items.
pub fn items(seed: u64) -> Record {
    let mut world = QueueWorld::new(seed);
    let mut queue: VecDeque<i64> = VecDeque::new();
    let mut items = 0;
    for _ in 0..world.random.usize(4..22) {
        turn(&mut world, &mut queue, &mut items);
    }
    for client in 0..CLIENTS - 1 {
        if let Some((f, number)) = world.doing[client]
            && world.chance(90)
        {
            end_item(&mut world, &mut queue, client, f, number);
        }
    }
    drain(&mut world, &mut queue);
    world.record(if seed.is_multiple_of(2) { "fifo" } else { "claimed" })
}

/// A queue that recovers, after which not everything is answered for long, and which may be drained then. Where it is
/// so, a client cannot name what it takes.
pub fn pending(seed: u64, nameless: bool) -> Record {
    let mut world = QueueWorld::new(seed);
    let mut queue: VecDeque<i64> = VecDeque::new();
    let mut items = 0;
    if nameless {
        let hello = json!({"pid": 1, "cannot": ["taking"]});
        world.named(1, EventType::Info, "hello", hello);
    }
    let recovered = world.random.usize(2..20);
    for step in 0..recovered + world.random.usize(0..8) {
        if step == recovered {
            world.recovers();
        }
        turn(&mut world, &mut queue, &mut items);
        if world.chance(8) {
            world.now += world.random.u64(0..12) * 1_000_000_000;
        }
    }
    world.now += world.random.u64(0..25) * 1_000_000_000;
    if world.chance(50) {
        drain(&mut world, &mut queue);
        for client in 0..CLIENTS - 1 {
            if let Some((f, number)) = world.doing[client]
                && world.chance(50)
            {
                end_item(&mut world, &mut queue, client, f, number);
            }
        }
    }
    world.phase("audit");
    world.record(if seed.is_multiple_of(2) { "fifo" } else { "claimed" })
}

/// A client does something, or something of it ends.
fn turn(world: &mut QueueWorld, queue: &mut VecDeque<i64>, items: &mut i64) {
    let client = world.random.usize(0..CLIENTS - 1);
    if world.chance(4) {
        return world.dies(client);
    }
    if let Some((f, number)) = world.doing[client] {
        return end_item(world, queue, client, f, number);
    }
    match world.random.u32(0..10) {
        0..4 => {
            *items += i64::from(*items == 0 || world.random.u32(0..100) < 98);
            world.begin(client, "enqueue", *items, json!({"item": *items}));
            if world.chance(95) {
                queue.push_back(*items);
            }
        }
        4..8 => world.begin(client, "dequeue", 0, json!({})),
        _ => {
            let item = world.random.i64(1..=(*items).max(1));
            world.begin(client, "acknowledge", item, json!({"item": item}));
        }
    }
}

fn end_item(world: &mut QueueWorld, queue: &mut VecDeque<i64>, client: usize, f: &'static str, number: i64) {
    let mut value = json!({"item": number});
    if f == "dequeue" {
        let item = match world.random.u32(0..100) {
            0..6 => queue.pop_back(),
            6..12 => queue.front().copied(),
            12..14 => Some(world.random.i64(1..9)),
            _ => queue.pop_front(),
        };
        value = json!({"item": item});
        if let Some(item) = item
            && world.chance(90)
        {
            world.named(client, EventType::Info, "taking", json!({"item": item}));
        }
        if world.chance(8) {
            return;
        }
    }
    let kind = match world.random.u32(0..100) {
        0..5 => EventType::Fail,
        5..18 => EventType::Info,
        _ => EventType::Ok,
    };
    world.doing[client] = None;
    let value = if kind == EventType::Ok { value } else { Value::Null };
    world.op(client, kind, f, value);
}

fn drain(world: &mut QueueWorld, queue: &mut VecDeque<i64>) {
    let last = CLIENTS - 1;
    for _ in 0..2 {
        if world.chance(95) {
            world.named(last, EventType::Invoke, "confirm", json!({}));
            let kind = [EventType::Info, EventType::Ok][usize::from(world.chance(95))];
            world.named(last, kind, "confirm", json!({}));
        }
        while let Some(item) = queue.pop_front() {
            if world.chance(93) {
                world.op(last, EventType::Invoke, "dequeue", json!({}));
                world.op(last, EventType::Ok, "dequeue", json!({"item": item}));
            }
        }
        if world.chance(3) {
            world.dies(last);
        }
        world.op(last, EventType::Invoke, "dequeue", json!({}));
        world.op(last, EventType::Ok, "dequeue", json!({"item": null}));
    }
    if world.chance(95) {
        world.phase("drained");
    }
}

/// A barrier. `seed` decides which.
pub fn rounds(seed: u64) -> Record {
    let mut world = QueueWorld::new(seed);
    let tutorial = seed.is_multiple_of(3);
    let members = world.random.usize(2..4);
    let recovered = world.random.usize(4..30);
    let mut inside = [(1_i64, 0_i64); CLIENTS];
    let after = world.random.usize(0..8);
    for step in 0..recovered + after {
        if step == recovered {
            world.recovers();
        }
        let client = world.random.usize(0..members + usize::from(tutorial));
        let (round, czxid) = inside[client];
        if world.chance(3) {
            world.dies(client);
        } else if world.chance(4) {
            let state = if world.chance(50) { "expired" } else { "connected" };
            let session = json!({"state": state, "session": format!("0x{}", world.random.usize(1..4))});
            world.named(client, EventType::Info, "session", session);
        } else if let Some((f, _)) = world.doing[client] {
            if world.chance(60) {
                end_round(&mut world, &mut inside, client, f);
            }
        } else {
            let value = json!({"round": round, "members": members});
            match (tutorial, world.random.u32(0..10)) {
                (true, 0..6) if client > 0 => {
                    // Now and then one joins for another.
                    let member = if world.chance(80) {
                        client
                    } else {
                        world.random.usize(1..=members)
                    };
                    let value = json!({"round": round, "members": members, "member": member});
                    world.begin(client, "join", round, value);
                }
                (true, 0..8) => world.begin(client, "enter", round, value),
                (true, _) => world.begin(client, "close", round, json!({"round": round})),
                (false, _) if czxid > 0 => world.begin(client, "leave", round, json!({"round": round})),
                (false, _) => world.begin(client, "enter", round, value),
            }
        }
    }
    if after == 0 {
        world.phase("recover");
    }
    world.now += world.random.u64(0..25) * 1_000_000_000;
    world.phase("audit");
    world.record(if tutorial { "tutorial" } else { "double" })
}

fn end_round(world: &mut QueueWorld, inside: &mut [(i64, i64); CLIENTS], client: usize, f: &'static str) {
    let (round, czxid) = inside[client];
    let kind = match world.random.u32(0..100) {
        0..4 => EventType::Fail,
        4..8 => EventType::Info,
        _ => EventType::Ok,
    };
    let session = format!("0x{}", world.random.usize(1..4));
    let next = world.events.len() as i64 + 1;
    let mut value = json!({"round": round, "czxid": next, "session": session});
    match f {
        "leave" => {
            let told = world
                .chance(85)
                .then(|| json!({"path": "/barrier/1/x", "czxid": czxid}));
            value = json!({"round": round, "removed": told});
            let stays = world.chance(40);
            inside[client] = (if stays { round } else { (round + 1).min(2) }, 0);
        }
        "enter" if kind == EventType::Ok => inside[client].1 = next,
        _ => {}
    }
    world.doing[client] = None;
    let value = if kind == EventType::Ok { value } else { Value::Null };
    world.op(client, kind, f, value);
}
