//! `queue/fifo` and `queue/claimed` under many faults at once, for many seeds, judged by the checkers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use zooquake_checkers::history::{Event, EventType, History, Process};
use zooquake_checkers::plan::{Plan, Workload};
use zooquake_checkers::{Record, check};
use zooquake_workloads::recipes::queue::{Claimed, Fifo, Queue};
use zooquake_workloads::recipes::{Ended, Env, Notice};
use zooquake_workloads::zk::{Host, Shared};

use crate::bed::LONG;
use crate::torture::{Dice, victim};
use crate::world::World;
use crate::zk::Net;

const FAULTS: usize = 40;

/// What clients are asked and answer, as the orchestrator would write it down.
#[derive(Clone)]
struct Recorder {
    world: World,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Recorder {
    fn push(&self, process: Process, node: &str, kind: EventType, f: &str, value: Value) {
        let mut events = self.events.lock().unwrap();
        let (index, time) = (events.len(), self.world.now().as_nanos() as u64);
        events.push(Event {
            index,
            time,
            process,
            kind,
            f: f.to_string(),
            value,
            error: None,
            node: Some(node.to_string()),
        });
    }

    fn lane(&self, node: &str, kind: EventType, f: &str, value: Value) {
        self.push(Process::Name(node.to_string()), node, kind, f, value);
    }
}

/// A client, and the number of its process.
struct Client {
    name: &'static str,
    number: u64,
    recorder: Recorder,
    queue: Arc<dyn Queue>,
}

impl Client {
    fn new(recorder: &Recorder, net: &Net, name: &'static str, build: fn(&Env) -> Arc<dyn Queue>) -> Self {
        let told = recorder.clone();
        let mut env = recorder.world.env(Arc::new(net.clone()));
        env.notify = Arc::new(move |notice| {
            if let Notice::Taking { item } = notice {
                told.lane(name, EventType::Info, "taking", json!({"item": item}));
            }
        });
        Self {
            name,
            number: name[1..].parse().unwrap(),
            recorder: recorder.clone(),
            queue: build(&env),
        }
    }

    async fn op<T>(
        &mut self,
        f: &str,
        value: Value,
        work: impl Future<Output = Result<T, Ended>>,
        tell: impl Fn(&T) -> Value,
    ) -> Option<T> {
        let push = |number, kind, value| self.recorder.push(Process::Number(number), self.name, kind, f, value);
        push(self.number, EventType::Invoke, value);
        match work.await {
            Ok(done) => {
                push(self.number, EventType::Ok, tell(&done));
                Some(done)
            }
            Err(Ended::Fail(_)) => {
                push(self.number, EventType::Fail, Value::Null);
                None
            }
            Err(Ended::Info(_)) => {
                push(self.number, EventType::Info, Value::Null);
                self.number += 100;
                None
            }
        }
    }

    async fn produce(&mut self, item: i64, deadline: Option<Duration>) {
        let (value, work) = (json!({"item": item}), self.queue.enqueue(item, deadline));
        self.op("enqueue", value.clone(), work, |_| value.clone()).await;
    }

    /// Whether the queue was empty, if that is known.
    async fn consume(&mut self, deadline: Option<Duration>) -> Option<bool> {
        let work = self.queue.dequeue(deadline);
        let tell = |given: &Option<_>| json!({"item": given.as_ref().map(|given: &zooquake_workloads::recipes::queue::Given| given.item)});
        let given = self.op("dequeue", json!({}), work, tell).await?;
        let Some(given) = given else { return Some(true) };
        if let Some(work) = self.queue.acknowledge(given.item, deadline) {
            let value = json!({"item": given.item});
            self.op("acknowledge", value.clone(), work, |()| value.clone()).await;
        }
        Some(false)
    }

    async fn drain(&mut self) {
        let mut empty = 0;
        while empty < 3 {
            self.recorder.lane(self.name, EventType::Invoke, "confirm", json!({}));
            let seat = self.queue.session().await;
            seat.zk.set("/zooquake/scratch", b"", None).await.unwrap();
            self.recorder.lane(self.name, EventType::Ok, "confirm", json!({}));
            empty = if self.consume(None).await == Some(true) {
                empty + 1
            } else {
                0
            };
        }
        self.recorder.push(
            Process::Name("run".to_string()),
            "run",
            EventType::Info,
            "phase",
            json!("drained"),
        );
    }
}

fn torture(seed: u64, variant: &str, build: fn(&Env) -> Arc<dyn Queue>) -> usize {
    let world = World::default();
    let net = Net::new(&world);
    let recorder = Recorder {
        world: world.clone(),
        events: Arc::default(),
    };
    let stop = Shared::new(false);
    let running: Vec<_> = ["c1", "c2", "c3"]
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let mut client = Client::new(&recorder, &net, name, build);
            let (world, stop, mut dice) = (world.clone(), stop.clone(), Dice(seed * 100 + at as u64));
            let clock = world.clone();
            world.start(async move {
                let mut item = 0;
                while !stop.with(|stop| *stop) {
                    let deadline = (dice.below(3) == 0).then(|| clock.now() + dice.millis(60));
                    if at == 0 {
                        item += 1;
                        client.produce(item, deadline).await;
                    } else {
                        client.consume(deadline).await;
                    }
                    clock.sleep(dice.millis(15)).await;
                }
            })
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
    world.pass(LONG);
    let mut last = Client::new(&recorder, &net, "c4", build);
    world.run(async move { last.drain().await });
    let events = recorder.events.lock().unwrap().clone();
    let given = events
        .iter()
        .filter(|event| event.f == "dequeue" && event.item().is_some())
        .count();
    let record = Record {
        plan: Plan {
            workload: Workload {
                family: "queue".to_string(),
                variant: variant.to_string(),
                ..Workload::default()
            },
            ..Plan::default()
        },
        history: History { events },
        ..Record::default()
    };
    let results = check(&record);
    assert_eq!(results.anomalies, [], "seed {seed} of {variant}");
    let judged = results
        .reasons
        .iter()
        .all(|reason| !reason.contains("lost") && !reason.contains("enqueued"));
    assert!(judged, "seed {seed} of {variant}: {:?}", results.reasons);
    given
}

fn hurt(net: &Net, dice: &mut Dice) {
    let Some((session, fate)) = victim(net, dice, 3) else {
        return;
    };
    match dice.below(8) {
        0 | 1 => net.expire(session, Duration::from_millis(20) + dice.millis(100)),
        2 => net.lose(session, dice.millis(120)),
        3 => net.next("create", fate),
        4 => net.next("delete", fate),
        5 => net.next("get", fate),
        _ => net.next("multi", fate),
    }
}

#[test]
fn fifo_keeps_its_promise_under_every_fault() {
    let given: usize = (0..100)
        .map(|seed| torture(seed, "fifo", |env| Arc::new(Fifo::new(env))))
        .sum();
    assert!(given > 1000, "{given}");
}

#[test]
fn claimed_keeps_its_promise_under_every_fault() {
    let given: usize = (0..200)
        .map(|seed| torture(seed, "claimed", |env| Arc::new(Claimed::new(env))))
        .sum();
    assert!(given > 2000, "{given}");
}
