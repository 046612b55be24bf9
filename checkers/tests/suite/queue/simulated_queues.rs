//! Random small histories: queues that mostly do as they should, with unknown ends, deaths, and cheats.

use super::simulated_clients::{CLIENTS, QueueWorld};
use serde_json::{Value, json};
use std::collections::VecDeque;
use zooquake_history::{EventType, Record};

/// A queue of items.
pub fn items(seed: u64) -> Record {
    let mut world = QueueWorld::new(seed);
    let mut queue: VecDeque<i64> = VecDeque::new();
    let mut items = 0;
    for _ in 0..world.random.usize(4..22) {
        turn(&mut world, &mut queue, &mut items);
    }
    end_some(&mut world, &mut queue, 90);
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
        end_some(&mut world, &mut queue, 50);
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

/// Ends so many percent of what clients are at.
fn end_some(world: &mut QueueWorld, queue: &mut VecDeque<i64>, percent: u32) {
    for client in 0..CLIENTS - 1 {
        if let Some((f, number)) = world.doing[client]
            && world.chance(percent)
        {
            end_item(world, queue, client, f, number);
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
