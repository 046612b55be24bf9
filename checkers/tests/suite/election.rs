//! Random histories of elections: those of locks under other words, with acknowledgements. And the words.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use zooquake_checkers::Results;
use zooquake_history::{EventType, Record};

use crate::brute_force::read;
use crate::expect::of_kind;
use crate::{script, semaphore, simulated_locks, stolen_znode};

/// What a family calls its anomalies.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// Whether it is an election, which may have acknowledgements.
    pub elects: bool,
    /// Whether holders write to a resource, with tokens.
    pub writes: bool,
    pub double: &'static str,
    pub stale_holder: &'static str,
    pub regression: &'static str,
    pub pending: &'static str,
}

pub const LOCK: Words = Words {
    elects: false,
    writes: true,
    double: "double-grant",
    stale_holder: "stale-holder",
    regression: "fencing-regression",
    pending: "lost-wakeup",
};

pub const ELECTION: Words = Words {
    elects: true,
    writes: true,
    double: "two-leaders",
    stale_holder: "stale-leader",
    regression: "epoch-regression",
    pending: "no-leader",
};

impl Words {
    /// A record of a lock, rewritten as one of the family that has these words.
    pub fn retold(self, lock: Record) -> Record {
        match self {
            Words { elects: true, .. } => retold(&lock),
            Words { writes: false, .. } => semaphore::retold(&lock),
            _ => lock,
        }
    }
}

/// A record of a lock, rewritten as one of an election.
pub fn retold(lock: &Record) -> Record {
    script::retold(lock, "election", &[("acquire", "elect"), ("release", "resign")])
}

/// A random history of a lock, with acknowledgements of which every other world's may be missing or too old. None is
/// later than what was named before it: an answer names no transaction of the future.
pub fn acknowledged(seed: u64) -> Record {
    let mut record = simulated_locks::record(seed);
    let mut random = fastrand::Rng::with_seed(!seed);
    let cheats = random.bool();
    let ages: Vec<Option<i64>> = record
        .history
        .events
        .iter()
        .map(|event| read(&record.history.events, event.grant()?))
        .map(|at| record.history.events[at?].czxid())
        .collect();
    let mut latest = 0;
    for (event, age) in record.history.events.iter_mut().zip(ages) {
        if event.kind == EventType::Ok {
            let value = serde_json::to_value(&event.value).expect("a value");
            latest = stolen_znode::every_execution::latest(&value)
                .max(Some(latest))
                .expect("at least that");
        }
        let granted = event.f == "acquire" && event.kind == EventType::Ok;
        if !(granted || event.f == "write" && event.kind != EventType::Invoke) {
            continue;
        }
        let ack = match random.u32(..6) {
            0..3 => continue,
            3 if granted || cheats => Value::Null,
            4 if cheats => json!({ "path": "/election-ack/a", "czxid": age.unwrap_or(100) - random.i64(1..9) }),
            _ => {
                let own = age.unwrap_or(100);
                let czxid = (own + random.i64(1..9)).min(latest.max(own));
                json!({ "path": "/election-ack/a", "czxid": czxid })
            }
        };
        event.value["ack"] = ack.into();
    }
    record
}

/// Names of the grants under which the resource took a write that their leader had not acknowledged before, by the
/// definition.
pub fn unacknowledged(record: &Record) -> BTreeSet<String> {
    let events = &record.history.events;
    let mut found = BTreeSet::new();
    for write in events
        .iter()
        .filter(|event| event.f == "write" && event.kind == EventType::Ok)
    {
        let name = write.grant().expect("a grant");
        let grant = read(events, name).map(|at| &events[at]);
        let granted = grant
            .and_then(|grant| grant.value.get("ack"))
            .filter(|ack| ack.is_object());
        let Some(ack) = write.value.get("ack").or(granted) else {
            continue;
        };
        let own = grant.and_then(|grant| grant.czxid());
        let czxid = ack.get("czxid").and_then(|czxid| czxid.as_i64());
        if czxid.is_none() || own.is_some() && czxid < own {
            found.insert(name.to_owned());
        }
    }
    found
}

/// The grants that the `unacknowledged-leader` anomalies of the results are about.
pub fn told(record: &Record, results: &Results) -> BTreeSet<String> {
    let found = of_kind(results, "unacknowledged-leader").into_iter();
    let write = |at: &usize| &record.history.events[*at];
    found
        .map(|found| {
            write(found.witness.last().expect("a write"))
                .grant()
                .expect("a grant")
                .to_owned()
        })
        .collect()
}
