//! `register/*` under many faults at once, for many seeds: whatever is lost, what clients were told fits the server's order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use zooquake_workloads::protocol::{Outcome, Request};
use zooquake_workloads::recipes::variant;
use zooquake_workloads::service::Recipe;
use zooquake_workloads::zk::{CreateMode, Host, Shared};

use crate::torture::{Dice, victim};
use crate::world::World;
use crate::zk::Net;

const CLIENTS: u64 = 4;
const FAULTS: usize = 40;

/// An operation, when it was asked for and answered, and how.
#[derive(Debug)]
struct Done {
    f: &'static str,
    asked: Duration,
    answered: Duration,
    value: Value,
    outcome: Outcome,
    told: Value,
}

impl Done {
    fn mzxid(&self) -> Option<i64> {
        (self.outcome == Outcome::Ok).then(|| self.told["mzxid"].as_i64().unwrap())
    }

    /// What it wrote, if it did.
    fn wrote(&self) -> Option<i64> {
        match self.f {
            "write" => self.value["value"].as_i64(),
            "cas" => self.value["to"].as_i64(),
            _ => None,
        }
    }
}

#[derive(Clone)]
struct Load {
    world: World,
    next: Arc<Mutex<i64>>,
    /// What anybody was told last.
    heard: Arc<Mutex<Option<i64>>>,
    done: Arc<Mutex<Vec<Done>>>,
}

impl Load {
    fn draw(&self, dice: &mut Dice) -> (&'static str, Value) {
        let mut next = self.next.lock().unwrap();
        *next += 1;
        match (dice.below(4), *self.heard.lock().unwrap()) {
            (0, _) => ("write", json!({"value": *next})),
            (1, Some(from)) => ("cas", json!({"from": from, "to": *next})),
            _ => ("read", json!({})),
        }
    }

    async fn go(self, client: Recipe, stop: Shared<bool>, mut dice: Dice) {
        while !stop.with(|stop| *stop) {
            let (f, value) = self.draw(&mut dice);
            let deadline = (dice.below(3) == 0).then(|| self.world.now() + dice.millis(60));
            let request = Request {
                id: 1,
                f: f.to_string(),
                value: value.clone(),
                timeout_ms: None,
            };
            let asked = self.world.now();
            let (answer, _) = client.answer(request, deadline).await;
            if answer.outcome == Outcome::Ok {
                let at = if f == "cas" { "to" } else { "value" };
                *self.heard.lock().unwrap() = answer.value[at].as_i64();
            }
            self.done.lock().unwrap().push(Done {
                f,
                asked,
                answered: self.world.now(),
                value,
                outcome: answer.outcome,
                told: answer.value,
            });
            self.world.sleep(dice.millis(15)).await;
        }
    }
}

fn torture(seed: u64, name: &str) -> Vec<Done> {
    let world = World::default();
    let net = Net::new(&world);
    net.server()
        .create(0, "/register", b"", CreateMode::Persistent)
        .unwrap();
    let load = Load {
        world: world.clone(),
        next: Arc::default(),
        heard: Arc::default(),
        done: Arc::default(),
    };
    let stop = Shared::new(false);
    let running: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let client = (variant("register", name).unwrap().build)(&world.env(Arc::new(net.clone()))).unwrap();
            let dice = Dice(seed * 100 + number);
            world.start(load.clone().go(client, stop.clone(), dice))
        })
        .collect();
    let mut dice = Dice(seed);
    for _ in 0..FAULTS {
        world.pass(dice.millis(60));
        hurt(&net, &mut dice);
    }
    net.server().script.clear();
    stop.update(|stop| *stop = true);
    for client in running {
        world.run(async move { client.until(|ended| *ended).await });
    }
    let done = std::mem::take(&mut *load.done.lock().unwrap());
    let certain = done
        .iter()
        .filter(|done| done.wrote().is_some() && done.mzxid().is_some());
    let unknown = done.iter().filter(|done| done.outcome == Outcome::Info);
    let written = net.server().get("/register").unwrap().1.version as usize;
    let certain = certain.count();
    assert!(
        (certain..=certain + unknown.count()).contains(&written),
        "seed {seed} of {name}: {certain} writes were answered, {written} applied"
    );
    done
}

fn hurt(net: &Net, dice: &mut Dice) {
    let Some((session, fate)) = victim(net, dice, 4) else {
        return;
    };
    match dice.below(8) {
        0 | 1 => net.expire(session, Duration::from_millis(20) + dice.millis(100)),
        2 => net.lose(session, dice.millis(120)),
        3 => net.next("get", fate),
        4 => net.next("sync", fate),
        _ => net.next("set", fate),
    }
}

/// The order of the transactions is an order of all operations: each read has the value of the last write before it, each
/// compare-and-set found that of the one before it, and none goes back behind one that was answered before it was asked.
fn assert_ordered(done: &[Done], context: &str) {
    let mut writes: Vec<(i64, i64)> = done
        .iter()
        .filter_map(|done| Some((done.mzxid()?, done.wrote()?)))
        .collect();
    writes.sort_unstable();
    assert!(
        writes.is_sorted_by(|a, b| a.0 < b.0),
        "{context}: two writes in one transaction"
    );
    let failed: Vec<i64> = done
        .iter()
        .filter(|done| done.outcome == Outcome::Fail)
        .filter_map(Done::wrote)
        .collect();
    for op in done {
        let Some(mzxid) = op.mzxid() else { continue };
        let newest = done
            .iter()
            .filter(|other| other.answered < op.asked)
            .filter_map(Done::mzxid)
            .max();
        assert!(
            newest.is_none_or(|newest| newest <= mzxid),
            "{context}: {op:?} is behind {newest:?}"
        );
        let (seen, at) = match op.f {
            "read" => (op.told["value"].as_i64(), mzxid),
            "cas" => (op.value["from"].as_i64(), mzxid - 1),
            _ => continue,
        };
        assert!(
            seen.is_none_or(|seen| !failed.contains(&seen)),
            "{context}: {op:?} saw what failed"
        );
        let before = writes.iter().rev().find(|(zxid, _)| *zxid <= at);
        let known = before.is_some_and(|(_, value)| Some(*value) == seen);
        let unknown = || {
            done.iter()
                .any(|other| other.outcome == Outcome::Info && other.wrote() == seen)
        };
        assert!(
            known || seen.is_none() && before.is_none() || unknown(),
            "{context}: {op:?} after {before:?}"
        );
    }
}

#[test]
fn every_variant_keeps_the_order_of_the_transactions_under_every_fault() {
    for name in ["read", "sync-read", "quorum-read"] {
        let (mut swaps, mut unknown) = (0, 0);
        for seed in 0..100 {
            let done = torture(seed, name);
            assert_ordered(&done, &format!("seed {seed} of {name}"));
            swaps += done
                .iter()
                .filter(|done| done.f == "cas" && done.mzxid().is_some())
                .count();
            unknown += done
                .iter()
                .filter(|done| done.outcome == Outcome::Info && done.wrote().is_some())
                .count();
        }
        assert!(
            swaps > 1_000 && unknown > 300,
            "{name}: {swaps} swaps, {unknown} unknown writes"
        );
    }
}
