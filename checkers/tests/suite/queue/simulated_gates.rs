//! Random small histories: gates that mostly do as they should, with unknown ends, deaths, and cheats.

use super::simulated_clients::{CLIENTS, QueueWorld};
use serde_json::{Value, json};
use zooquake_history::{EventType, Record};

/// The client that mostly keeps the gate.
const KEEPER: usize = CLIENTS - 2;

/// A gate. `seed` decides which.
pub fn rounds(seed: u64) -> Record {
    let mut world = QueueWorld::new(seed);
    // By round, from 1.
    let mut stands = [false; 3];
    let mut round = 1;
    let recovered = world.random.usize(4..30);
    let after = world.random.usize(0..8);
    for step in 0..recovered + after {
        if step == recovered {
            world.recovers();
        }
        let client = world.random.usize(0..=KEEPER);
        if world.chance(3) {
            world.dies(client);
        } else if let Some((f, of)) = world.doing[client] {
            let waits = f == "wait" && stands[of as usize] && world.chance(85);
            if !waits && world.chance(60) {
                end(&mut world, &mut stands, client);
                round = if f == "lift" && world.chance(50) { 2 } else { round };
            }
        } else {
            let keeps = client == KEEPER || world.chance(5);
            let f = match (keeps, stands[round as usize], world.chance(85)) {
                (false, ..) => "wait",
                (true, true, true) | (true, false, false) => "lift",
                (true, ..) => "raise",
            };
            let of = if world.chance(90) { round } else { 3 - round };
            world.begin(client, f, of, json!({"round": of}));
        }
    }
    if after == 0 {
        world.phase("recover");
    }
    world.now += world.random.u64(0..25) * 1_000_000_000;
    world.phase("audit");
    world.record("gate")
}

fn end(world: &mut QueueWorld, stands: &mut [bool; 3], client: usize) {
    let (f, round) = world.doing[client].take().expect("an operation");
    let kind = match world.random.u32(0..100) {
        0..4 => EventType::Fail,
        4..8 => EventType::Info,
        _ => EventType::Ok,
    };
    if kind == EventType::Ok && f != "wait" {
        stands[round as usize] = f == "raise";
    }
    let named = kind == EventType::Ok && world.chance(85);
    let value = if named { json!({"round": round}) } else { Value::Null };
    world.op(client, kind, f, value);
}
