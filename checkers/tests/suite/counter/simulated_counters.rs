//! Random small histories: a counter that mostly does as it should, with unknown ends, losses, repetitions and missing
//! events.

use super::{counter, znode};
use crate::concurrent_histories::{self, Object, PendingOperation};
use serde_json::{Value, json};
use zooquake_history::{EventType, Record};

/// The most operations of a history.
const OPS: usize = 8;

type CounterWorld = concurrent_histories::ObjectWorld<SimulatedCounter>;

struct SimulatedCounter {
    /// Every value that there was.
    past: Vec<i64>,
}

/// A history of at most [`OPS`] operations; `seed` decides all of it.
pub fn record(seed: u64) -> Record {
    history_of_at_most(seed, OPS)
}

/// A history of at most so many operations.
pub fn history_of_at_most(seed: u64, most: usize) -> Record {
    let world = CounterWorld::run(seed, [0, 10, 25, 40], most, SimulatedCounter { past: vec![0] });
    let record = Record {
        tree: None,
        ..counter("")
    };
    world.told(record, 25, |world| {
        let last = world.object.past.len() - 1;
        let at = if world.wrong() {
            world.random.usize(0..=last)
        } else {
            last
        };
        let value = Some(world.object.past[at]).filter(|value| *value != 0);
        znode(&value.map_or(String::new(), |value| value.to_string()))
    })
}

/// A quorum write, after which its session may change or its process die.
fn confirm(world: &mut CounterWorld, client: usize) {
    world.named(client, EventType::Invoke, "confirm", json!({}));
    world.effects();
    let kind = [EventType::Info, EventType::Ok][usize::from(world.chance(95))];
    world.named(client, kind, "confirm", json!({}));
    match world.random.u32(0..20) {
        0 => {
            world.named(client, EventType::Info, "exit", json!({}));
            world.renewed[client] += 1;
        }
        1 => {
            let session = json!({"state": "connected", "session": "0x9"});
            world.named(client, EventType::Info, "session", session);
        }
        _ => {}
    }
}

impl Object for SimulatedCounter {
    /// What was made or read.
    type ObjectEffect = i64;

    fn begin(world: &mut CounterWorld, client: usize) {
        let f = if world.chance(65) { "increment" } else { "get" };
        if f == "get" && world.chance(60) {
            confirm(world, client);
        }
        world.ask(client, f, json!({}));
    }

    fn effect(world: &mut CounterWorld, doing: &PendingOperation<i64>) -> i64 {
        let wrong = world.wrong();
        let last = world.object.past.len() - 1;
        // It may start from what was there before.
        let at = match wrong && world.random.bool() {
            true => world.random.usize(0..=last),
            false => last,
        };
        let before = world.object.past[at];
        let value = match doing.f {
            "get" => before,
            // It is done twice, or not at all.
            _ if wrong && world.random.bool() => before + 2 * world.random.i64(0..2),
            _ => before + 1,
        };
        if doing.f == "increment" {
            world.object.past.push(value);
        }
        value.max(i64::from(doing.f == "increment"))
    }

    fn end(world: &mut CounterWorld, client: usize, mut doing: PendingOperation<i64>) {
        let failed = world.chance(8) && (doing.done.is_none() || world.wrong());
        if failed {
            return world.push(client, EventType::Fail, doing.f, Value::Null);
        }
        if world.chance(20) {
            let may_be_late = doing.f == "increment";
            return world.lose(client, doing, Value::Null, may_be_late);
        }
        world.effect(&mut doing);
        let name = if doing.f == "get" { "value" } else { "id" };
        world.push(client, EventType::Ok, doing.f, json!({ name: doing.done }));
    }
}
