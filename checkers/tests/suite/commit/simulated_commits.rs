//! Random small histories of two-phase commits: some of worlds that keep the rules, some of worlds that cheat, all with
//! unknown outcomes, killed clients and replies read late.

use crate::script::{event, holding, readings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use zooquake_history::{Event, EventType, History, Node, Plan, Record};

type PendingCommitRequest = Option<(&'static str, usize, bool)>;

struct CommitWorld {
    random: fastrand::Rng,
    events: Vec<Event>,
    now: u64,
    cheat: u32,
    doing: [PendingCommitRequest; 3],
    processes: [u64; 3],
    begun: [bool; 2],
    decide_asked: [bool; 2],
    votes: BTreeMap<(usize, usize), bool>,
    decisions: [Option<bool>; 2],
    window: Option<u64>,
    windows: u64,
    longest: u64,
}

/// The record of a random world.
pub fn record(seed: u64) -> Record {
    let mut random = fastrand::Rng::with_seed(seed);
    let cheat = [0, 0, 15, 60][random.usize(..4)];
    let mut world = CommitWorld {
        events: vec![],
        now: 0,
        cheat,
        doing: [None; 3],
        processes: [1, 2, 3],
        begun: [false; 2],
        decide_asked: [false; 2],
        votes: BTreeMap::new(),
        decisions: [None; 2],
        window: None,
        windows: 0,
        longest: [100, 1500][random.usize(..2)],
        random,
    };
    world.live();
    world.close()
}

fn word(yes: bool) -> &'static str {
    ["abort", "commit"][usize::from(yes)]
}

impl CommitWorld {
    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(..100) < percent
    }

    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += self.random.u64(1..=self.longest) * 1_000_000;
        self.events
            .push(event(self.events.len(), self.now, who, number, kind, f, value));
    }

    fn named(&mut self, named: &str, f: &str, value: Value) {
        self.push(named, None, EventType::Info, f, value);
    }

    fn work(&mut self, who: usize, kind: EventType, f: &str, value: Value, error: Option<&str>) {
        self.push(
            &Node::client(who + 1).to_string(),
            Some(self.processes[who]),
            kind,
            f,
            value,
        );
        self.events.last_mut().expect("one").error = error.map(str::to_owned);
        if kind == EventType::Info {
            self.processes[who] += 10;
        }
    }

    fn live(&mut self) {
        for _ in 0..self.random.usize(8..40) {
            self.step(6);
        }
        if let Some(window) = self.window.take() {
            self.phase(window, "off");
        }
        if self.chance(80) {
            self.named("run", "phase", json!("recovered"));
        }
        if self.chance(10) {
            self.named("run", "stall", json!({"ms": self.now % 1900 / 2}));
        }
        self.longest = if self.random.bool() { 6000 } else { 300 };
        for _ in 0..self.random.usize(1..10) {
            self.step(1);
        }
        if self.chance(80) {
            self.named("run", "phase", json!("audit"));
            self.step(0);
        }
    }

    fn step(&mut self, faults: u32) {
        let who = self.random.usize(..3);
        if self.chance(faults) {
            return self.kill(who);
        }
        if self.chance(faults) {
            return self.fault();
        }
        match self.doing[who] {
            None => self.ask(who),
            Some((f, tx, wanted)) => self.answer(who, f, tx, wanted),
        }
    }

    fn fault(&mut self) {
        let over = if self.random.bool() { "off" } else { "skipped" };
        let phase = if self.window.is_some() { over } else { "begin" };
        let window = self.window.take().unwrap_or_else(|| {
            self.windows += 1;
            self.window = Some(self.windows);
            self.windows
        });
        self.phase(window, phase);
    }

    /// A phase of a window; healing is not always seen.
    fn phase(&mut self, window: u64, phase: &str) {
        let verified = phase == "off" && self.chance(85);
        let value = json!({"window": window, "phase": phase, "verified": verified});
        self.named("nemesis", "pause", value);
    }

    fn kill(&mut self, who: usize) {
        let name = Node::client(who + 1).to_string();
        let late = self.random.bool();
        if late {
            self.named(&name, "exit", json!({}));
        }
        if let Some((f, tx, _)) = self.doing[who].take() {
            let value = json!({"tx": format!("t{tx}")});
            self.work(who, EventType::Info, f, value, Some("the process died"));
        }
        if !late {
            self.named(&name, "exit", json!({}));
        }
        self.processes[who] += 10;
        if self.chance(85) {
            self.named(&name, "hello", json!({}));
        }
    }

    fn ask(&mut self, who: usize) {
        let tx = self.random.usize(..2);
        let name = format!("t{tx}");
        let begins = |event: &Event| event.f == "begin" && event.tx() == Some(&name);
        let begun = self.events.iter().any(begins);
        let yes = self.chance(80);
        let (f, value) = match who {
            0 if !begun => ("begin", json!({"tx": name, "sites": ["c2", "c3"]})),
            0 if !self.decide_asked[tx] => ("decide", json!({"tx": name, "sites": ["c2", "c3"]})),
            0 => return,
            _ if self.chance(50) => ("vote", json!({"tx": name, "vote": if yes { "yes" } else { "no" }})),
            _ => ("decided", json!({"tx": name})),
        };
        self.decide_asked[tx] |= f == "decide";
        self.work(who, EventType::Invoke, f, value, None);
        self.doing[who] = Some((f, tx, yes));
    }

    fn answer(&mut self, who: usize, f: &'static str, tx: usize, wanted: bool) {
        let name = format!("t{tx}");
        self.doing[who] = None;
        let end = self.random.u32(..100);
        let took_effect = end < 85 || self.random.bool();
        match f {
            "begin" => self.begun[tx] |= took_effect,
            "vote" if took_effect && end < 92 => {
                self.votes.entry((tx, who)).or_insert(wanted);
            }
            _ => {}
        }
        if end >= 92 && f != "decided" {
            let value = [json!({"tx": name}), Value::Null][self.random.usize(..2)].clone();
            return self.work(who, EventType::Fail, f, value, Some("no"));
        }
        if end >= 85 {
            let error = ["timed out", "connection loss"][self.random.usize(..2)];
            return self.work(who, EventType::Info, f, json!({"tx": name}), Some(error));
        }
        let value = match f {
            "begin" => json!({"tx": name}),
            "vote" => json!({"tx": name, "voted": if self.votes[&(tx, who)] { "yes" } else { "no" }}),
            _ => match self.decision(tx) {
                Some(decision) => json!({"tx": name, "decision": word(decision)}),
                // It waits on.
                None => {
                    self.doing[who] = Some((f, tx, wanted));
                    return;
                }
            },
        };
        self.work(who, EventType::Ok, f, value, None);
    }

    fn decision(&mut self, tx: usize) -> Option<bool> {
        if self.chance(self.cheat) {
            return Some(self.random.bool());
        }
        if self.decisions[tx].is_none() {
            let votes = [1, 2].map(|site| self.votes.get(&(tx, site)).copied());
            self.decisions[tx] = match votes {
                [Some(true), Some(true)] => Some(!self.chance(8)),
                _ if votes.contains(&Some(false)) || self.chance(10) => Some(false),
                _ => None,
            };
        }
        self.decisions[tx]
    }

    fn close(mut self) -> Record {
        let end = self.events.len();
        let mut reading = || {
            let mut znodes = vec![];
            for tx in 0..3 {
                let path = format!("/app/t{tx}");
                if tx < 2 && self.begun[tx] && self.chance(90) {
                    znodes.push(holding(&path, ""));
                }
                let decision = self.decisions.get(tx).copied().flatten();
                let made_up = self.chance(self.cheat / 2);
                let data = match decision {
                    _ if made_up => word(self.random.bool()),
                    Some(decision) if self.random.bool() => word(decision),
                    _ => continue,
                };
                znodes.push(holding(&format!("{path}/decision"), data));
            }
            znodes
        };
        let all = [reading(), reading()].map(|znodes| (end, znodes));
        let mut plan = Plan::default();
        plan.workload.family = "commit".to_owned();
        Record {
            plan,
            history: History { events: self.events },
            tree: self.random.u32(..5).gt(&0).then(|| readings(all)),
            ..Record::default()
        }
    }
}
