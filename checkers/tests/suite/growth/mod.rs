//! Histories made to be slow to judge: the time for four times as many events is not much more than four times as long.
//!
//! What is compared is the time that the processor spent, so that other work on the machine counts little. A checker
//! that looks at each pair would take sixteen times as long.

mod accesses;
mod counts;
mod ensemble;
mod grants;
mod groups;
mod items;
mod queues;
mod rounds;
mod transactions;

use crate::script::event;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use zooquake_checkers::{Results, check};
use zooquake_history::{Event, EventType, History, Node, Record};

/// About how many events the shorter history has.
const EVENTS: usize = 25_000;

/// How many times longer than the shorter one the longer history may take, which has four times as many events.
const RATIO: u64 = 9;

/// What a history may take besides, in nanoseconds.
const SLACK: u64 = 20_000_000;

/// The family of a run, its variant, and how many clients it has.
type Run = (&'static str, &'static str, usize);

/// An anomaly, and how often it is to be found in a history of a number of things.
type AnomalyGrowth = (&'static str, fn(usize) -> usize);

/// Builds a history event by event, one each microsecond.
#[derive(Default)]
struct Long {
    events: Vec<Event>,
    now: u64,
}

impl Long {
    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += 1000;
        self.events
            .push(event(self.events.len(), self.now, who, number, kind, f, value));
    }

    /// An event of a numbered process of the client `c{client}`.
    fn op(&mut self, process: usize, client: usize, kind: EventType, f: &str, value: Value) {
        self.push(&Node::client(client).to_string(), Some(process as u64), kind, f, value);
    }

    fn invoke(&mut self, process: usize, client: usize, f: &str, value: Value) {
        self.op(process, client, EventType::Invoke, f, value);
    }

    fn ok(&mut self, process: usize, client: usize, f: &str, value: Value) {
        self.op(process, client, EventType::Ok, f, value);
    }

    /// An operation and its answer, with these values.
    fn done(&mut self, process: usize, client: usize, f: &str, [asked, told]: [Value; 2]) {
        self.invoke(process, client, f, asked);
        self.ok(process, client, f, told);
    }

    /// An event of a client's named process.
    fn named(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        self.push(&Node::client(client).to_string(), None, kind, f, value);
    }

    /// A quorum write of a client, and its answer.
    fn confirmed(&mut self, client: usize, answer: Value) {
        self.named(client, EventType::Invoke, "confirm", json!({}));
        self.named(client, EventType::Ok, "confirm", answer);
    }

    fn note(&mut self, client: usize, f: &str, value: Value) {
        self.named(client, EventType::Info, f, value);
    }

    /// An event of the process `run`.
    fn run(&mut self, f: &str, value: Value) {
        self.push("run", None, EventType::Info, f, value);
    }

    fn phase(&mut self, name: &str) {
        self.run("phase", json!(name));
    }

    /// A step of a scene.
    fn scene(&mut self, value: Value) {
        self.push("scene", None, EventType::Info, "elect", value);
    }

    fn fault(&mut self, window: usize, phase: &str, target: &str) {
        let value = json!({"window": window, "phase": phase, "target": target, "verified": true});
        self.push("nemesis", None, EventType::Info, "pause", value);
    }

    /// Nothing happens for so many seconds.
    fn wait(&mut self, seconds: u64) {
        self.now += seconds * 1_000_000_000;
    }

    /// The audit begins when the bound of liveness is long over.
    fn late_audit(&mut self) {
        self.wait(20);
        self.phase("audit");
    }

    fn record(self, family: &str, variant: &str, clients: usize) -> Record {
        let history = History { events: self.events };
        crate::script::record(family, variant, &["/lock"], clients, history)
    }
}

/// How often each anomaly was found.
fn counts(results: &Results) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for anomaly in &results.anomalies {
        *counts.entry(anomaly.kind.as_str()).or_default() += 1;
    }
    counts
}

/// Nanoseconds that the processor has spent on this thread, where the system reports them; else those since `since` on
/// the clock.
fn spent(since: Instant) -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let own = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    own.unwrap_or_else(|| u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

/// Judges the histories that `make` builds, of about [`EVENTS`] and four times as many events when it is called with a
/// number of things of which each takes so many events (`each`).
#[track_caller]
fn records_grow(each: usize, wanted: &[AnomalyGrowth], make: impl Fn(Long, usize) -> Record) {
    judged_grow(each, wanted, make, check);
}

/// The same of histories that are judged by `judge`.
#[track_caller]
fn judged_grow(
    each: usize,
    wanted: &[AnomalyGrowth],
    make: impl Fn(Long, usize) -> Record,
    judge: impl Fn(&Record) -> Results,
) {
    let clock = Instant::now();
    let times = [1, 4].map(|times| {
        let count = times * EVENTS / each;
        let record = make(Long::default(), count);
        let begun = spent(clock);
        let results = judge(&record);
        let time = spent(clock) - begun;
        let events = record.history.events.len();
        println!("{events} events in {} ms", time / 1_000_000);
        let wanted = wanted.iter().map(|(kind, often)| (*kind, often(count)));
        assert_eq!(counts(&results), wanted.collect(), "{:?}", results.reasons.first());
        time
    });
    assert!(times[1] < RATIO * times[0] + SLACK, "{times:?} ns");
}

/// The same for histories of such a run, whose events `tell` adds.
#[track_caller]
fn grows(each: usize, (family, variant, clients): Run, wanted: &[AnomalyGrowth], tell: impl Fn(&mut Long, usize)) {
    records_grow(each, wanted, |mut long, count| {
        tell(&mut long, count);
        long.record(family, variant, clients)
    });
}
