//! Random runs with clients that end by themselves, against the definition of their anomaly.

use super::{crashes, minimal, open};
use crate::script::{event, txn};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zooquake_checkers::check;
use zooquake_history::{Event, EventType, Record, Txn};

/// Nanoseconds of a session timeout.
const SESSION: u64 = 2_000_000_000;

/// A random run of two clients that die and begin again, with windows, sessions that expire, and a third that confirms.
fn random(seed: u64) -> Record {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut world = CrashWorld::default();
    let mut sessions = [None::<u64>; 2];
    let mut alive = [false; 2];
    let mut window = None;
    for _ in 0..random.usize(4..24) {
        world.now += random.u64(1..1_500) * 1_000_000;
        let client = random.usize(0..2);
        match random.u8(0..10) {
            0 => {
                let phase = if window.take().is_some() { "off" } else { "begin" };
                window = (phase == "begin").then_some(());
                let number = world.windows + usize::from(phase == "begin");
                world.windows = number;
                let value =
                    json!({"window": number, "phase": phase, "verified": phase == "off" && random.u8(0..5) > 0});
                world.event("nemesis", EventType::Info, "pause", value);
            }
            1 | 2 => {
                world.event("c3", EventType::Invoke, "confirm", json!({}));
                world.log("0x99", "setData");
                let zxid = world.txns.last().map(|txn| txn.zxid);
                world.event("c3", EventType::Ok, "confirm", json!({"holds": false, "zxid": zxid}));
            }
            3 => world.log(
                &format!("0x{:x}", random.u64(1..=world.sessions.max(1))),
                "closeSession",
            ),
            4 | 5 if alive[client] => {
                let state = ["connected", "disconnected", "expired", "closed"][random.usize(0..4)];
                let new = state == "connected" && random.bool();
                world.sessions += u64::from(new);
                sessions[client] = if new { Some(world.sessions) } else { sessions[client] };
                let value = json!({"session": hex(sessions[client]), "state": state});
                world.event(["c1", "c2"][client], EventType::Info, "session", value);
            }
            _ if alive[client] => {
                alive[client] = false;
                let value = match random.u8(0..4) {
                    0 => json!({}),
                    _ => json!({"by_itself": true}),
                };
                world.event(["c1", "c2"][client], EventType::Info, "exit", value);
            }
            _ => {
                alive[client] = true;
                world.sessions += 1;
                sessions[client] = (random.u8(0..5) > 0).then_some(world.sessions);
                let value = json!({"session": hex(sessions[client])});
                world.event(["c1", "c2"][client], EventType::Info, "hello", value);
            }
        }
    }
    world.event("run", EventType::Info, "phase", json!("done"));
    let mut record = super::record("");
    record.history.events = world.events;
    record.txnlog = (random.u8(0..6) > 0).then_some(world.txns);
    record
}

fn hex(session: Option<u64>) -> Option<String> {
    session.map(|number| format!("0x{number:x}"))
}

#[derive(Default)]
struct CrashWorld {
    events: Vec<Event>,
    txns: Vec<Txn>,
    now: u64,
    sessions: u64,
    windows: usize,
}

impl CrashWorld {
    fn event(&mut self, who: &str, kind: EventType, f: &str, value: Value) {
        self.now += 1_000_000;
        self.events
            .push(event(self.events.len(), self.now, who, None, kind, f, value));
    }

    fn log(&mut self, session: &str, op: &str) {
        self.txns.push(txn(self.txns.len() as i64 + 1, session, op, "/"));
    }
}

/// The windows, each from its begin to its last healing if that was verified.
fn windows(events: &[Event]) -> Vec<(u64, u64)> {
    let of = |number: i64, phase: &str| {
        let is = move |event: &&Event| {
            event.is_of("nemesis") && event.window() == Some(number) && event.phase() == Some(phase)
        };
        events.iter().filter(is).collect::<Vec<_>>()
    };
    let each = (1..20).filter_map(|number| {
        let healed = of(number, "off")
            .last()
            .filter(|event| event.verified() == Some(true))
            .map(|event| event.time);
        let begun = of(number, "begin").first().map(|event| event.time)?;
        Some((begun, healed.unwrap_or(u64::MAX)))
    });
    each.collect()
}

/// The deaths that convict by themselves, and how many are left open, by the definition.
fn naive(record: &Record) -> (BTreeSet<usize>, usize) {
    let events = &record.history.events;
    let (mut crashed, mut unknown) = (BTreeSet::new(), 0);
    let all = events.iter().enumerate();
    for (at, exit) in all.filter(|(_, event)| event.by_itself() == Some(true)) {
        let same = |event: &&Event| event.process == exit.process;
        let before = events[..at].iter().filter(same).rfind(|event| event.f == "exit");
        let from = before.map_or(0, |event| event.index);
        let life = events[from..at].iter().filter(same);
        let life: Vec<&Event> = life.filter(|event| event.f != "exit").collect();
        let state = |event: &Event, wanted: &str| event.f == "session" && event.state() == Some(wanted);
        let expired = life.iter().rposition(|event| state(event, "expired"));
        let recently = expired.is_some_and(|place| {
            let again = life[place..].iter().any(|event| state(event, "connected"));
            !again || exit.time - life[place].time < 2 * SESSION
        });
        let fault =
            |&(begun, healed): &(u64, u64)| begun <= exit.time && exit.time < healed.saturating_add(2 * SESSION);
        if recently || windows(events).iter().any(fault) {
            continue;
        }
        let named = life.iter().enumerate();
        let named = named.filter_map(|(place, event)| Some((place, event.session()?)));
        let named: Vec<(usize, &str)> = named.collect();
        let over = |session: &str| {
            let last = named.iter().rfind(|(_, other)| *other == session);
            let last = last.map(|(place, _)| life[*place]);
            last.is_some_and(|event| state(event, "expired") || state(event, "closed"))
        };
        let later = |txn: &Txn| {
            events.iter().any(|event| {
                let before = event.zxid().is_some_and(|zxid| zxid < txn.zxid);
                before && events[event.index - 1].time >= exit.time
            })
        };
        let txns = record.txnlog.as_deref().unwrap_or_default();
        let closed = |session: &str| {
            let closes = |txn: &&Txn| txn.op == "closeSession" && txn.session == session;
            txns.iter().rfind(closes).is_some_and(|txn| !later(txn))
        };
        let begun = life.iter().any(|event| event.f == "hello");
        let open =
            txns.is_empty() || begun && named.is_empty() || named.iter().any(|(_, one)| !over(one) && closed(one));
        match open {
            true => unknown += 1,
            false => drop(crashed.insert(at)),
        }
    }
    (crashed, unknown)
}

/// The deaths of one client in one window, if they are more than it may be started again.
fn often(record: &Record) -> BTreeSet<Vec<usize>> {
    let events = &record.history.events;
    let in_one = windows(events).into_iter().flat_map(|(begun, healed)| {
        ["c1", "c2"].map(|client| {
            let dies = |event: &&Event| event.by_itself() == Some(true) && event.is_of(client);
            let each = events.iter().filter(dies);
            let within = each.filter(|event| begun <= event.time && event.time <= healed);
            let begins = |event: &&Event| event.is_of("nemesis") && event.time == begun;
            let all = events.iter().find(begins).into_iter().chain(within);
            all.map(|event| event.index).collect::<Vec<_>>()
        })
    });
    in_one
        .filter(|all| all.len() > 2)
        .map(|all| all[..3].to_vec())
        .collect()
}

#[test]
fn agrees_with_the_definition_on_random_runs() {
    let (mut some, mut many) = (0, 0);
    let all = crate::histories(10_000);
    for seed in 0..all {
        let record = random(seed);
        let found: BTreeSet<Vec<usize>> = crashes(&record).into_iter().collect();
        let (crashed, unknown) = naive(&record);
        let often = often(&record);
        let alone = crashed.iter().map(|&at| vec![at]);
        let wanted: BTreeSet<Vec<usize>> = alone.chain(often.iter().cloned()).collect();
        assert_eq!(found, wanted, "seed {seed}");
        assert_eq!(open(&record), unknown, "seed {seed}");
        for anomaly in check(&record).anomalies.iter().filter(|_| seed % 10 == 0) {
            minimal(&record, anomaly);
        }
        some += u64::from(!crashed.is_empty());
        many += u64::from(!often.is_empty());
    }
    assert!(all / 50 < some && all / 100 < many, "{some} and {many} of {all}");
}
