//! Ends of random groups: in most a calm, the last operations, questions for views between two readings of the tree,
//! and the audit. A reading lists the group at one moment and reads each member at a later one.

use super::simulated_groups::{CLIENTS, GroupWorld};
use super::simulated_sessions::{Change, GroupState, SimulatedLog};
use serde_json::{Value, json};
use zooquake_history::{
    EventType, Record, TreeReadings, Txn,
    evidence::{Reading, Znode},
};

/// How a client behaves while its views are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewConduct {
    /// It shows what it has read.
    Correct,
    /// It shows nothing new.
    Still,
    /// The same, but for a moment.
    StillButOnce,
    /// It takes itself for a member by a znode of an earlier time.
    Believing,
}

/// Ends the history of a world, `wrong` if its clients may do as they should not.
pub fn end(mut world: GroupWorld, wrong: bool) -> Record {
    for client in 0..CLIENTS {
        world.finish(client, 10);
    }
    world.phase("recovered");
    let mut readings = Vec::new();
    // Who has not answered is asked nothing more.
    let mut silent = [false; CLIENTS];
    if world.chance(60) {
        readings.extend(views(&mut world, ("calm", "final"), (None, &mut silent), wrong));
    }
    let stuck = last_operations(&mut world, wrong);
    readings.extend(views(&mut world, ("views", "audit"), (stuck, &mut silent), wrong));
    audit(&mut world, wrong);
    readings.push(reading(&mut world, false));
    world.phase("done");
    record(world, readings, wrong)
}

/// All clients are asked for their views in a phase, up to the next one, but for one that is `stuck` at first; gives
/// the readings around it.
fn views(
    world: &mut GroupWorld,
    (phase, next): (&str, &str),
    (stuck, silent): (Option<usize>, &mut [bool; CLIENTS]),
    wrong: bool,
) -> [Reading; 2] {
    let conduct: Vec<ViewConduct> = (0..CLIENTS).map(|_| drawn(world, wrong)).collect();
    let believed: Vec<Option<i64>> = (0..CLIENTS).map(|client| past_znode(world, client)).collect();
    let busy = wrong && world.chance(20);
    for (client, conduct) in conduct.iter().enumerate() {
        if *conduct == ViewConduct::Correct && world.chance(80) {
            settle(world, client);
        }
    }
    world.phase(phase);
    let first = reading(world, busy);
    let rounds = world.random.usize(4..7);
    for round in 0..rounds {
        world.now += 2_600_000_000;
        for client in (0..CLIENTS).filter(|client| Some(*client) != stuck || round > 0) {
            if silent[client] {
                continue;
            }
            let conduct = conduct[client];
            let moved = conduct == ViewConduct::Correct || conduct == ViewConduct::StillButOnce && round == 2;
            // Rounds are 2.6 s apart: a correct watcher catches up within the bound.
            if moved && (world.chance(90) || round % 2 == 1) {
                settle(world, client);
            }
            silent[client] = !asked(
                world,
                client,
                believed[client].filter(|_| conduct == ViewConduct::Believing),
            );
        }
        if busy && world.chance(20) {
            let client = world.random.usize(0..CLIENTS);
            world.expire(client);
        }
    }
    world.phase(next);
    [first, reading(world, busy)]
}

fn drawn(world: &mut GroupWorld, wrong: bool) -> ViewConduct {
    match world.random.u32(0..10) {
        0 | 1 if wrong => ViewConduct::Still,
        2 if wrong => ViewConduct::StillButOnce,
        3 | 4 if wrong => ViewConduct::Believing,
        _ => ViewConduct::Correct,
    }
}

/// Every client registers or writes. One may never end that: its number.
fn last_operations(world: &mut GroupWorld, wrong: bool) -> Option<usize> {
    let mut stuck = None;
    for client in 0..CLIENTS {
        let f = if world.is_member(client) { "update" } else { "register" };
        world.ask(client, f);
        if wrong && world.chance(8) {
            stuck = Some(client);
        } else {
            world.finish(client, 0);
        }
        if world.random.bool() {
            settle(world, client);
        }
    }
    stuck
}

/// A client's server catches up, and it shows what it has read.
fn settle(world: &mut GroupWorld, client: usize) {
    world.clients[client].watcher.settle(&world.log);
    let view = world.clients[client].watcher.view();
    if world.clients[client].shown == view {
        return;
    }
    world.clients[client].shown = view;
    world.clients[client].n += 1;
    world.named(client, EventType::Info, "view", world.view_value(client));
}

/// The czxid of a znode that a client's member had at some time, perhaps of the one that it has.
fn past_znode(world: &mut GroupWorld, client: usize) -> Option<i64> {
    let member = client + 1;
    let all = world.log.changes.iter().enumerate();
    let made = all.filter(|(_, change)| matches!(change, Change::Create { member: of, .. } if *of == member));
    let made: Vec<i64> = made.map(|(at, _)| SimulatedLog::zxid(at + 1)).collect();
    world.random.choice(made)
}

/// A client is asked for its view, and mostly answers; gives whether it does.
fn asked(world: &mut GroupWorld, client: usize, believed: Option<i64>) -> bool {
    world.named(client, EventType::Invoke, "view", json!({}));
    let (member, path) = (format!("m{}", client + 1), format!("/members/m{}", client + 1));
    let own = world.log.last().get(&(client + 1)).copied();
    let own = own.filter(|_| world.is_member(client));
    let registered = match believed.or(own.map(|znode| znode.czxid)) {
        Some(czxid) => json!({"member": member, "path": path, "czxid": czxid}),
        None => Value::Null,
    };
    let zxid = SimulatedLog::zxid(world.log.len());
    match world.random.u32(0..40) {
        0 => world.named(client, EventType::Info, "view", json!({})),
        1 => return false,
        _ => {
            let view = world.view_value(client);
            let value = json!({"zxid": zxid, "view": view, "registered": registered});
            world.named(client, EventType::Ok, "view", value);
        }
    }
    true
}

/// Reads the tree; if the group is `busy` it may change between the list and the members.
fn reading(world: &mut GroupWorld, busy: bool) -> Reading {
    let index = world.events.len();
    let listed = world.log.last();
    let mut found = GroupState::new();
    for member in listed.keys() {
        if busy && world.chance(25) {
            let client = world.random.usize(0..CLIENTS);
            match world.is_member(client) {
                true => world.expire(client),
                false => drop(world.create(client)),
            }
        }
        if let Some(znode) = world.log.last().get(member) {
            found.insert(*member, *znode);
        }
    }
    let znode = |(member, znode): (usize, super::simulated_sessions::SimulatedZnode)| Znode {
        path: format!("/members/m{member}"),
        czxid: znode.czxid,
        mzxid: znode.mzxid,
        version: 0,
        owner: Some(format!("0x{}", znode.session)),
        data: znode.value.to_string(),
    };
    Reading {
        index,
        end_index: world.events.len(),
        znodes: found.into_iter().map(znode).collect(),
    }
}

/// Every client names its znodes; one that is `wrong` may forget one.
fn audit(world: &mut GroupWorld, wrong: bool) {
    for client in 0..CLIENTS {
        let own = world.log.last().get(&(client + 1)).copied();
        let forgets = wrong && world.chance(10);
        let own = own.filter(|_| world.is_member(client) && !forgets);
        let znodes: Vec<Value> = own
            .iter()
            .map(|znode| json!({"path": format!("/members/m{}", client + 1), "czxid": znode.czxid}))
            .collect();
        world.named(client, EventType::Invoke, "quiesce", json!({}));
        let value = json!({"sessions": [world.session(client)], "znodes": znodes});
        world.named(client, EventType::Ok, "quiesce", value);
    }
}

fn record(mut world: GroupWorld, readings: Vec<Reading>, wrong: bool) -> Record {
    let mut record = super::group("", "");
    let foreign = wrong && world.chance(10);
    record.history.events = std::mem::take(&mut world.events);
    record.tree = Some(TreeReadings { readings });
    if wrong || world.random.bool() {
        record.txnlog = Some(transactions(&world, foreign));
    }
    record
}

/// The transaction log, in which another session made each znode if it is `foreign`.
fn transactions(world: &GroupWorld, foreign: bool) -> Vec<Txn> {
    let txn = |(at, change): (usize, &Change)| {
        let before = world.log.state(at);
        let path = |member: usize| vec![format!("/members/m{member}")];
        let data = match *change {
            Change::Create { value, .. } | Change::Write { value, .. } => Some(value.to_string()),
            Change::Delete { .. } | Change::Close { .. } => None,
        };
        let (op, session, paths) = match *change {
            Change::Create { member, session, .. } => ("create", session + 90 * u64::from(foreign), path(member)),
            Change::Write { member, session, .. } => ("setData", session, path(member)),
            Change::Delete { member, session } => ("delete", session, path(member)),
            Change::Close { session } => {
                let own = before.iter().filter(|(_, znode)| znode.session == session);
                (
                    "closeSession",
                    session,
                    own.flat_map(|(&member, _)| path(member)).collect(),
                )
            }
        };
        Txn {
            zxid: SimulatedLog::zxid(at + 1),
            session: format!("0x{session}"),
            op: op.to_owned(),
            paths,
            data,
            ..Txn::default()
        }
    };
    world.log.changes.iter().enumerate().map(txn).collect()
}
