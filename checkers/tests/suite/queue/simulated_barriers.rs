//! Random small histories: barriers that mostly do as they should, with unknown ends, deaths, and cheats.

use super::simulated_clients::{CLIENTS, QueueWorld};
use serde_json::{Value, json};
use zooquake_history::{EventType, Record};

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
