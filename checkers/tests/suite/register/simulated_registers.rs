//! Random small histories: a register that mostly does as it should, with unknown ends, lags, losses and missing
//! events.

use crate::concurrent_histories::{self, Object, PendingOperation};
use crate::script::{holding, run};
use serde_json::{Value, json};
use zooquake_history::{EventType, Node, Record, evidence::Znode};

/// The most operations of a history.
const OPS: usize = 7;

type RegisterWorld = concurrent_histories::ObjectWorld<SimulatedRegister>;

struct SimulatedRegister {
    /// Every value that there was, with its transaction.
    past: Vec<(Option<i64>, i64)>,
    values: i64,
}

/// A history of at most [`OPS`] operations; `seed` decides all of it.
pub fn record(seed: u64) -> Record {
    history_of_at_most(seed, OPS)
}

/// A history of at most so many operations.
pub fn history_of_at_most(seed: u64, most: usize) -> Record {
    let register = SimulatedRegister {
        past: vec![(None, 100)],
        values: 0,
    };
    let variant = ["quorum-read", "read", "sync-read"][(seed % 3) as usize];
    let world = RegisterWorld::run(seed, [0, 0, 10, 30], most, register);
    world.told(run(variant, ""), 15, |world| {
        let now = world.object.past.len() - 1;
        let at = if world.wrong() {
            world.random.usize(0..=now)
        } else {
            now
        };
        let (value, mzxid) = world.object.past[at];
        let data = value.map_or(String::new(), |value| value.to_string());
        Znode {
            mzxid,
            ..holding("/register", &data)
        }
    })
}

impl Object for SimulatedRegister {
    /// What was found or written, and that transaction; `None` if the operation failed.
    type ObjectEffect = Option<(Option<i64>, i64)>;

    fn begin(world: &mut RegisterWorld, client: usize) {
        world.object.values += 1;
        let next = world.object.values;
        let (f, asked) = match world.random.u32(0..10) {
            0..4 => ("read", json!({})),
            4..7 => ("write", json!({ "value": next })),
            _ => {
                let last = world.object.past.len() - 1;
                let at = if world.chance(80) {
                    last
                } else {
                    world.random.usize(0..=last)
                };
                ("cas", json!({"from": world.object.past[at].0, "to": next}))
            }
        };
        world.ask(client, f, asked);
    }

    fn effect(world: &mut RegisterWorld, doing: &PendingOperation<Self::ObjectEffect>) -> Self::ObjectEffect {
        let wrong = world.wrong();
        let past = &mut world.object.past;
        let now = *past.last().expect("there is nil");
        let asked = |name: &str| doing.asked[name].as_i64();
        match doing.f {
            "read" if wrong => Some(past[world.random.usize(0..past.len())]),
            "read" => Some(now),
            "cas" if asked("from") != now.0 && !wrong => None,
            f => {
                let to = asked(if f == "cas" { "to" } else { "value" });
                let written = (to, 100 + past.len() as i64);
                match wrong && world.random.bool() {
                    // It comes too late, or is overtaken by what it should follow.
                    true => past.insert(past.len() - 1, written),
                    false => past.push(written),
                }
                Some(written)
            }
        }
    }

    fn end(world: &mut RegisterWorld, client: usize, mut doing: PendingOperation<Self::ObjectEffect>) {
        if world.chance(20) {
            let value = [Value::Null, doing.asked.clone()][usize::from(world.chance(50))].take();
            return world.lose(client, doing, value, true);
        }
        world.effect(&mut doing);
        let Some(Some((value, mzxid))) = doing.done else {
            return world.push(client, EventType::Fail, doing.f, Value::Null);
        };
        let session = format!("0x{}{}", client + 1, usize::from(world.chance(10)));
        let mut answer =
            json!({"mzxid": mzxid, "session": session, "server": Node::server(client % 2 + 1).to_string()});
        match doing.f {
            "cas" => {
                answer["from"] = doing.asked["from"].clone();
                answer["to"] = doing.asked["to"].clone();
            }
            _ => answer["value"] = json!(value),
        }
        world.push(client, EventType::Ok, doing.f, answer);
    }
}
